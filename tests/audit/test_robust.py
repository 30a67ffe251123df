"""The judge of robust promises against worlds that an adversary finds, and against levels known by other means."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.audit.saved import CANNOT_SAY, HOLDS, Saved, protocol_of
from tests.conftest import random_counts, random_matrix
from tests.oracles.levels import worst_ratio

import trechter as tr
from trechter.audit import certify_together, keeps
from trechter.audit.apart import APART, Counted
from trechter.audit.certify import judge_entries, judge_weights
from trechter.audit.events import Amounts
from trechter.audit.worlds import WORLDS, Cells, Exact
from trechter.errors import NotionError, ProtocolError, RequestError, TooLargeError
from trechter.exact import log_up
from trechter.model.dense import nearest
from trechter.model.over import Over
from trechter.model.sparse_weights import SparseWeights
from trechter.model.spec import Spec
from trechter.privacy import Robust
from trechter.sets import set_from

SETS = {
    "chi-square": Over.of("chi-square", radius="0.05"),
    "kullback-leibler": Over.of("kullback-leibler", radius="0.03"),
    "total-variation": Over.of("total-variation", radius="0.1"),
    "boxes": Over.of("boxes", alpha="0.05"),
}
ASKED = [(name, notion, reads) for name in SETS for notion in ("ldp", "lip") for reads in ("x", "sx")]


def case(seed, reads, c=3, a=3, b=3, zeros=0.2):
    """Counts with empty cells, and a protocol with 20 bits."""
    joint = tr.Joint(random_counts(seed, c, a, zeros=zeros))
    return joint, nearest(random_matrix(seed, b, a if reads == "x" else c * a), 20)


def level(weights, reads, joint, name, over):
    """The certified level of a robust notion."""
    return log_up(judge_weights(weights, reads, joint, Spec(name, None, over=over)))


def literal(weights, reads, p, name):
    """The level for one distribution, by the definition."""
    w = weights / weights.sum(axis=0)
    posterior = np.array(
        [(w if reads == "x" else w[:, s * p.shape[1] : (s + 1) * p.shape[1]]) @ row / row.sum() for s, row in enumerate(p)]
    )
    logs = np.log(posterior)
    if name == "ldp":
        return (logs.max(axis=0) - logs.min(axis=0)).max()
    return np.abs(logs - np.log(p.sum(axis=1) @ posterior)).max()


@cache
def region_of(joint, over):
    return over.around(joint)


def distance(p, joint, over):
    """How far p is beyond the set: at most 0 inside."""
    hat, region = joint.p, region_of(joint, over)
    seen = hat > 0
    if over.name == "boxes":
        low, high = (np.array([float(v) for v in side]).reshape(p.shape) for side in (region.low, region.high))
        return max((p - high).max(), (low - p).max())
    kept, p_seen = hat[seen], np.clip(p[seen], 1e-300, None)
    far = {
        "chi-square": (kept**2 / p_seen).sum() - 1,
        "kullback-leibler": (kept * np.log(kept / p_seen)).sum(),
        "total-variation": np.abs(hat - p).sum(),
    }
    return far[over.name] - float(region.radius)


def worlds(seed, joint, over, many):
    """Random members of the set, as far out as it reaches."""
    draw = np.random.default_rng(seed)
    for _ in range(many):
        target = draw.dirichlet(np.full(joint.p.size, draw.choice([0.05, 0.3, 1]))).reshape(joint.p.shape)
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            inside = distance((1 - middle) * joint.p + middle * target, joint, over) <= 0
            low, high = (middle, high) if inside else (low, middle)
        yield (1 - low) * joint.p + low * target


def attack(seed, weights, reads, joint, name, over, starts=8):
    """The worst level that an optimiser finds, for every output and condition by itself, from several starts."""
    w = weights / weights.sum(axis=0)
    rows = np.tile(w, joint.p.shape[0]) if reads == "x" else w
    c, a = joint.p.shape
    region = region_of(joint, over)
    events = [np.repeat(np.arange(c) == s, a).astype(float) for s in range(c)]
    every = np.ones(c * a)
    pairs = [(f, g) for f in events for g in events if f is not g] if name == "ldp" else []
    pairs += [] if name == "ldp" else [pair for f in events for pair in ((f, every), (every, f))]
    limits = {"type": "ineq", "fun": lambda p: -distance(p.reshape(c, a), joint, over)}
    bounds = [(1e-12, 1)] * (c * a)
    if over.name == "boxes":
        limits, bounds = None, [(max(float(lo), 1e-12), float(hi)) for lo, hi in zip(region.low, region.high, strict=True)]
    total = {"type": "eq", "fun": lambda p: p.sum() - 1}
    best = 0.0
    for row in rows:
        for f, g in pairs:

            def loss(p, f=f, g=g, row=row):
                return -(np.log(f * row @ p) - np.log(f @ p) - np.log(g * row @ p) + np.log(g @ p))

            for start in worlds(seed, joint, over, starts):
                found = minimize(
                    loss, start.ravel(), bounds=bounds, constraints=[total, *([limits] if limits else [])], method="SLSQP"
                )
                p = np.clip(found.x, 0, None).reshape(c, a) / found.x.sum()
                low = 0.0
                while distance(low * joint.p + (1 - low) * p, joint, over) > 0 and low < 1:
                    low = low * 1.5 + 1e-9
                p = min(low, 1) * joint.p + (1 - min(low, 1)) * p
                best = max(best, literal(weights, reads, p, name))
    return best


@pytest.mark.parametrize(("name", "notion", "reads"), ASKED)
def test_no_world_in_the_set_is_worse(name, notion, reads):
    for seed in range(2):
        joint, weights = case(seed, reads)
        certified = level(weights, reads, joint, notion, SETS[name])
        tried = [literal(weights, reads, p, notion) for p in worlds(seed, joint, SETS[name], 150)]
        assert max(tried) <= certified
        assert certified > literal(weights, reads, joint.p, notion) + 1e-3


@pytest.mark.parametrize(("name", "notion", "reads"), [asked for asked in ASKED if asked[1:] in (("ldp", "x"), ("lip", "sx"))])
def test_an_optimiser_comes_as_near_as_it_can(name, notion, reads):
    joint, weights = case(5, reads, c=2, a=3, b=2, zeros=0.25)
    certified = level(weights, reads, joint, notion, SETS[name])
    found = attack(5, weights, reads, joint, notion, SETS[name])
    assert found <= certified
    assert certified - found < 1e-5


def test_a_set_of_no_radius_is_the_distribution_counted():
    for reads in ("x", "sx"):
        joint, weights = case(3, reads)
        for notion in ("ldp", "lip"):
            plain = judge_weights(weights, reads, joint, Spec(notion, None))
            assert judge_weights(weights, reads, joint, Spec(notion, None, over=Over.of("chi-square", radius=0))) == plain


def test_the_standalone_script_cannot_say(tmp_path, capsys):
    joint, weights = case(1, "x")
    saved = Saved(tmp_path, protocol_of(weights, joint, Spec("ldp", Fraction(9), over=SETS["chi-square"])), joint)
    assert saved.both() == (HOLDS, CANNOT_SAY)
    assert "trechter verify" in capsys.readouterr().out


OTHERS = [
    (name, notion, reads, protect)
    for name in SETS
    for notion, reads, protect in (
        ("srldp", "x", "s"),
        ("srlip", "sx", "s"),
        ("srlip", "x", "s"),
        ("lip", "x", "x"),
        ("ldp", "sx", "x"),
        ("srldp", "sx", "x"),
    )
]


@pytest.mark.parametrize(("name", "notion", "reads", "protect"), OTHERS)
def test_every_notion_is_its_definition_in_every_world(name, notion, reads, protect):
    joint = tr.Joint(np.random.default_rng(8).integers(1, 40, (2, 2, 2)))
    weights = nearest(random_matrix(8, 3, 4 if reads == "x" else 8), 20)
    certified = judge_weights(weights, reads, joint, Spec(notion, None, protect, SETS[name]))
    tried = [
        worst_ratio(notion, weights, np.rint(1e7 * (p * 0.999 + joint.p * 0.001)).astype(int).reshape(2, 2, 2), reads, protect)
        for p in worlds(8, joint, SETS[name], 25)
    ]
    assert max(tried) <= certified
    if not (protect == "x" and notion == "ldp" and reads == "x"):
        assert certified > judge_weights(weights, reads, joint, Spec(notion, None, protect))


SEEDS = st.integers(0, 10**6)
RADII = {"chi-square": ("0.01", "0.02"), "kullback-leibler": ("0.01", "0.02"), "total-variation": ("0.05", "0.07")}


@settings(max_examples=10)
@given(SEEDS, st.sampled_from(sorted(RADII)), st.sampled_from(["ldp", "lip"]), st.sampled_from(["x", "sx"]))
def test_a_larger_set_has_a_larger_level(seed, name, notion, reads):
    joint, weights = case(seed, reads)
    small, large = (level(weights, reads, joint, notion, Over.of(name, radius=r)) for r in RADII[name])
    assert level(weights, reads, joint, notion, None) < small < large


@pytest.mark.parametrize(("name", "notion", "reads"), ASKED)
def test_a_promise_is_kept_down_to_its_level(name, notion, reads):
    joint, weights = case(2, reads)
    found = level(weights, reads, joint, notion, SETS[name])
    for epsilon, answer in ((found + 1e-8, True), (found - 1e-6, False)):
        spec = Spec(notion, Fraction(epsilon), over=SETS[name])
        assert keeps(weights, reads, joint, spec) == answer
        assert tr.certify(protocol_of(weights, joint, reads=reads), joint, spec).holds == answer


def test_what_is_kept_is_certified_where_steps_go_past_the_worst_ratio():
    """An output that is hardly said but of a cell never seen: its worst ratio is below e^ε, and hard to come near."""
    seldom = [7466033, 7466033, 7466033, 178323378256409, 7466033]
    often = [102645502096694, 102071030602502, 116699962289020, 199511774597652, 200153532761030]
    often += [104441726300175, 186204852713441, 112827136019098, 186158105851855, 186207986975809]
    second = np.array(seldom + often, object)
    joint = tr.Joint([[1, 2, 1, 52, 0], [7, 0, 4, 1, 1], [2, 0, 3, 1, 0]])
    spec = Spec("ldp", Fraction(1, 2), over=Over.of("chi-square", alpha="0.05"))
    weights = np.array([2**48 - second, second])
    assert keeps(weights, "sx", joint, spec)
    assert tr.certify(protocol_of(weights, joint, reads="sx"), joint, spec).holds


@settings(max_examples=60)
@given(SEEDS, st.sampled_from(sorted(SETS)))
def test_no_number_proves_what_is_false(seed, name):
    """Values whose sum is above 0 for some P in F, by ever so little, and any μ."""
    draw = np.random.default_rng(seed)
    joint = tr.Joint(random_counts(seed, 2, 3))
    region = region_of(joint, SETS[name])
    amounts, world = Amounts(region), WORLDS[name](region.radius)
    low, high = (
        ([int(v) for v in row] for row in (amounts.columns[2], amounts.columns[3])) if region.low else ([0] * 6, [0] * 6)
    )
    cells = Cells(joint.p.reshape(1, 6), np.array([low]) / amounts.whole, np.array([high]) / amounts.whole)
    values = draw.normal(size=(1, 6))
    p, mu = world.worst(values, cells)
    most = (p * values).sum()
    for excess, provable in ((1e-9, False), (-1e-9, True)):
        whole = [round((v - most + excess) * 2**60) for v in values[0]]
        exact = Exact([int(n) for n in joint.exact.ravel()], low, high, amounts.whole)
        near = round((mu[0] - most + excess) * 2**60)
        tried = [near + k for k in (2**12, 2**20, -(2**20))] + [round(v * 2**60) for v in draw.normal(size=10) * 3]
        assert any(world.proves(whole, exact, m) for m in tried) == provable
    top = exact.counts.index(0) if 0 in exact.counts else None
    if top is not None and name in RADII:  # mass may lie where none was counted
        assert not world.proves([1 if i == top else -1000 for i in range(6)], exact, 0)


@settings(max_examples=25)
@given(SEEDS, st.sampled_from(sorted(APART)))
def test_no_pair_of_numbers_proves_what_is_false(seed, name):
    draw = np.random.default_rng(seed)
    joint, _ = case(seed, "x", c=2)
    w = draw.integers(1, 1000, 3)
    region = region_of(joint, SETS[name])
    ratio = judge_weights(np.array([w, 1000 - w]), "x", joint, Spec("ldp", None, over=SETS[name]))
    sides = [[[(n, int(k) << 30) for n, k in zip(row, v, strict=True)] for row in joint.exact.tolist()] for v in (w, 1000 - w)]
    pairs = [pair for a, b in sides for pair in ((a, b), (b, a))]
    apart, whole = APART[name](region.radius), int(joint.exact.sum())

    def proved(bound):
        """Which of the conditions any of many pairs of numbers proves."""
        for a, b in pairs:
            beyond = (2.0**30 * 10 ** draw.uniform(-1, 5, (100, 2))).tolist()
            tried = [(max(w for _, w in a) + int(m), int(n) - min(w for _, w in b)) for m, n in beyond]
            yield any(apart.proves(Counted(a, b, whole), m, n, bound) for m, n in tried)

    assert not all(proved(ratio * Fraction(999, 1000)))
    assert all(proved(ratio * 2))


def test_perfect_privacy_is_for_constant_rows_only():
    joint = tr.Joint(random_counts(0, 3, 3))
    constant, nearly = np.array([[3] * 3, [5] * 3]), np.array([[3, 3, 4], [5, 5, 4]])
    for over in SETS.values():
        for notion in ("ldp", "lip"):
            spec = Spec(notion, Fraction(0), over=over)
            assert judge_weights(constant, "x", joint, spec) == 1
            assert keeps(constant, "x", joint, spec)
            assert not keeps(nearly, "x", joint, spec)


def test_what_can_vanish_has_no_level():
    joint = tr.Joint([[50, 50], [2, 98]])
    weights = np.array([[8, 0], [0, 8]])
    over = Over.of("total-variation", radius="0.1")  # enough to empty the cell of 2
    assert judge_weights(weights, "x", joint, Spec("ldp", None)) == 25
    assert tr.worst_case_level(protocol_of(weights, joint), joint, tr.LDP(1), over=over) == math.inf
    assert not keeps(weights, "x", joint, Spec("ldp", Fraction(20), over=over))
    assert math.isfinite(tr.worst_case_level(protocol_of(weights, joint), joint, tr.LDP(1), over=SETS["chi-square"]))


def test_the_certificate_says_for_which_distributions_and_no_counts():
    joint, weights = case(4, "x")
    over = Over.of("chi-square", alpha="0.05")
    certificate = tr.certify(protocol_of(weights, joint), joint, Spec("lip", Fraction(5), over=over))
    public = certificate.to_json()
    assert public["over"] == {"set": "chi-square", "alpha": "1/20"}
    assert public["set"]["cells"] == 9
    assert Fraction(public["set"]["radius"]) == over.around(joint).radius
    assert public["set"]["formula"].startswith("for every P with Σ(P̂−P)²/P ≤ 0.")
    assert "level" not in public
    assert certificate.level == tr.worst_case_level(protocol_of(weights, joint), joint, tr.LIP(5), over=over)


def test_each_of_several_secrets_has_a_level():
    counts = random_counts(3, 4, 3)
    joint = tr.Joint(counts, secret=[tr.Attribute.of("a", range(2)), tr.Attribute.of("b", range(2))], release=("X", range(3)))
    for reads in ("x", "sx"):
        weights = nearest(random_matrix(3, 2, 3 if reads == "x" else 12), 20)
        certificate = tr.certify(protocol_of(weights, joint, reads=reads), joint, Spec("ldp", None, over=SETS["chi-square"]))
        plain = tr.certify(protocol_of(weights, joint, reads=reads), joint, Spec("ldp", None)).facts["levels"]
        found = certificate.facts["levels"]
        assert all(plain[name] < found[name] <= certificate.level + 1e-6 for name in ("a", "b"))


@pytest.mark.parametrize("name", SETS)
def test_the_level_of_each_secret_is_for_the_set_that_the_certificate_names(name):
    secrets = [tr.Attribute.of("a", range(2)), tr.Attribute.of("b", range(2))]
    joint = tr.Joint(random_counts(3, 4, 3), secret=secrets, release=("X", range(3)))
    over, weights = Over.of(name, alpha="0.05"), nearest(random_matrix(3, 2, 3), 20)
    protocol = protocol_of(weights, joint)
    levels = tr.certify(protocol, joint, Spec("ldp", None, over=over)).facts["levels"]
    for p in (world.reshape(2, 2, 3) for world in worlds(5, joint, over, 200)):
        for axis, secret in ((1, "a"), (0, "b")):
            assert literal(weights, "x", p.sum(axis=axis), "ldp") <= levels[secret] + 1e-9
    alone = tr.worst_case_level(protocol, joint.about("a"), tr.LDP(1), over=over)
    assert levels["a"] > alone  # in a set of fewer cells


def test_a_secret_of_one_value_is_no_secret():
    joint, protocol = tr.Joint([[3, 0, 5]]), protocol_of(nearest(random_matrix(3, 2, 3), 20), tr.Joint([[3, 0, 5]]))
    for over in SETS.values():
        for notion in (tr.LDP("0.1"), tr.SRLDP("0.1")):
            assert tr.worst_case_level(protocol, joint, notion, over=over) == 0
            assert Robust(notion, over=set_from(over)).level(protocol, joint) == 0
            result = tr.design(joint, Robust(notion, over=set_from(over)))
            assert result.utility == pytest.approx(tr.design(joint, notion).utility)


def test_what_cannot_be_decided_is_refused():
    joint = tr.Joint([[3, 4, 5], [0, 0, 0]], secret=("illness", ["none", "gout"]))
    _, weights = case(1, "x")
    protocol = protocol_of(weights, joint)
    with pytest.raises(RequestError, match="illness = 'gout' never occurred"):
        tr.worst_case_level(protocol, joint, tr.LDP(1), over=SETS["chi-square"])
    joint = tr.Joint(random_counts(1, 2, 30))
    with pytest.raises(ProtocolError, match="30 values has too many outputs"):
        tr.worst_case_level(tr.oue(joint, tr.LDP(1)).protocol, joint, tr.LDP(1), over=SETS["chi-square"])
    joint, weights = case(1, "x")
    protocol = protocol_of(weights, joint)
    with pytest.raises(NotionError, match=r"'chi-square' is no set of distributions; give one, for example tr.ChiSquare"):
        tr.worst_case_level(protocol, joint, tr.LDP(1), over="chi-square")
    with pytest.raises(ProtocolError, match="several releases together"):
        certify_together([protocol, protocol], joint, Spec("ldp", None, over=SETS["chi-square"]))


def test_a_small_unary_encoding_is_judged_as_its_matrix():
    joint = tr.Joint(random_counts(1, 2, 3))
    made = tr.oue(joint, tr.LIP(1)).protocol
    for notion in (tr.LDP(1), tr.LIP(1)):
        found = tr.worst_case_level(made, joint, notion, over=SETS["chi-square"])
        assert (
            found == tr.worst_case_level(made.explicit(), joint, notion, over=SETS["chi-square"]) > notion.level(made, joint)
        )


@settings(max_examples=10)
@given(SEEDS, st.sampled_from(sorted(SETS)), st.sampled_from(["ldp", "lip", "srldp"]), st.booleans())
def test_sparse_weights_are_judged_as_their_matrix(seed, name, notion, all_named):
    draw = np.random.default_rng(seed)
    joint = tr.Joint(random_counts(seed, 2, 3, 2))
    letters = np.repeat(np.arange(6 if all_named else 4), 2)
    outputs = np.array([np.sort(draw.choice(4, 2, replace=False)) for _ in letters[::2]]).ravel()
    sparse = SparseWeights(np.array([2, 4, 1, 1]), outputs, letters, np.tile([8, 16], len(letters) // 2), 6, 5)
    spec = Spec(notion, None, over=SETS[name])
    assert judge_entries(sparse, "x", joint, spec) == judge_weights(sparse.dense(), "x", joint, spec)


def test_more_conditions_than_can_be_proved_are_refused():
    joint = tr.Joint(np.full((30, 2), 4))
    weights = np.full((64, 2), 1)
    with pytest.raises(TooLargeError, match="55,680 conditions"):
        judge_weights(weights, "x", joint, Spec("ldp", None, over=SETS["chi-square"]))


@pytest.mark.parametrize(("name", "notion", "reads"), ASKED)
def test_the_notion_finds_what_the_judge_proves(name, notion, reads):
    joint, weights = case(7, reads)
    protocol, over = protocol_of(weights, joint, reads=reads), set_from(SETS[name])
    plain = {"ldp": tr.LDP(1), "lip": tr.LIP(1)}[notion]
    proved = tr.worst_case_level(protocol, joint, plain, over=over)
    assert 0 < proved - Robust(plain, over=over).level(protocol, joint) < 1e-8


@pytest.mark.parametrize("name", SETS)
def test_many_rows_at_once_are_as_one_at_a_time(name):
    draw = np.random.default_rng(0)
    shares = draw.dirichlet(np.ones(4), 500)
    values = draw.normal(size=(500, 4)) * 10.0 ** draw.integers(-9, 3, (500, 1))
    values[:, 1] = np.where(draw.random(500) < 0.3, values[:, 0], values[:, 1])
    cells, world = Cells(shares, shares * 0.8, shares * 1.5), WORLDS[name](Fraction(1, 100))
    p, _ = world.worst(values, cells)
    alone = np.vstack([world.worst(values[k : k + 1], cells.take([k]))[0] for k in range(500)])
    assert np.abs(p - alone).max() < 1e-9
    assert np.abs(p.sum(axis=1) - 1).max() < 1e-9
    if name == "chi-square":
        assert np.abs((shares**2 / p).sum(axis=1) - 1.01).max() < 1e-9
    if name == "kullback-leibler":
        assert np.abs((shares * np.log(shares / p)).sum(axis=1) - 0.01).max() < 1e-9
