"""The verdict against the definition in Fractions, typed in a second time, and against the script for auditors."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.audit.saved import BROKEN, HOLDS, Saved, promise, protocol_of
from tests.conftest import random_counts, random_matrix
from tests.oracles.exponential import convergents
from tests.oracles.levels import mutual_information, worst_ratio

import trechter as tr
from trechter.audit.certify import judge_weights
from trechter.errors import ProtocolError
from trechter.exact import at_most_exp, log_up
from trechter.model.dense import DenseProtocol
from trechter.model.spec import Spec
from trechter.privacy import NOTIONS, notion_from

SEEDS = st.integers(0, 10**9)
SHAPES = [(2, 3), (3, 4), (4, 2), (1, 3), (3, 1), (2, 2, 2), (3, 2, 3), (2, 2, 1, 3)]
ASKED = st.tuples(st.sampled_from(sorted(NOTIONS)), st.sampled_from(["x", "sx"]), st.sampled_from(["s", "x"]))


def random_case(seed, shape, reads):
    """Counts with many zeros, whole secrets among them, and weights with zeros and with rows that are constant."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(1, 50, shape) * (draw.random(shape) > draw.choice([0, 0.3, 0.6]))
    if draw.random() < 0.3:
        counts[draw.integers(shape[0])] = 0
    counts.flat[draw.integers(counts.size)] += 1
    n = math.prod(shape[1:]) * (shape[0] if reads == "sx" else 1)
    bits, b = int(draw.choice([3, 6, 40, 70])), int(draw.integers(1, 5))
    cuts = [sorted(int(2**bits * u) for u in draw.random(b - 1).round(1 + bits // 20)) for _ in range(n)]
    columns = [[hi - lo for lo, hi in zip([0, *cut], [*cut, 2**bits], strict=True)] for cut in cuts]
    if draw.random() < 0.15:
        columns = [columns[0]] * n
    if b > 1 and draw.random() < 0.3:
        columns = [[0, c[0] + c[1], *c[2:]] if draw.random() < 0.6 else c for c in columns]
    return counts, np.array(columns, object).T


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@settings(max_examples=30)
@given(seed=SEEDS, asked=ASKED)
def test_certify_is_the_definition(tmp_path_factory, shape, seed, asked):
    name, reads, protect = asked
    counts, weights = random_case(seed, shape, reads)
    worst = worst_ratio(name, weights, counts, reads, protect)
    joint = tr.Joint(counts)
    close = Fraction(0.5) if worst is None else max(Fraction(0), Fraction(math.log(worst)))
    for epsilon in (Fraction(0), close, close + Fraction(1, 10**6), None):
        expected = epsilon is None or (worst is not None and at_most_exp(worst.numerator, worst.denominator, epsilon))
        spec = promise(name, epsilon, protect)
        verdict = tr.certify(protocol_of(weights, joint, spec, reads), joint)
        assert verdict.level_exact == worst
        assert verdict.holds is expected
    assert tr.certify(protocol_of(weights, joint, reads=reads), joint, notion_from(spec)).level_exact == worst
    saved = Saved(tmp_path_factory.mktemp("case"), protocol_of(weights, joint, promise(name, close, protect), reads), joint)
    assert (
        saved.both() == (HOLDS, HOLDS)
        if worst is not None and at_most_exp(*worst.as_integer_ratio(), close)
        else (BROKEN,) * 2
    )


def test_random_cases_are_of_every_kind():
    """Power: perfect, finite and infinite levels all occur, for every notion."""
    for name, reads in product(NOTIONS, ["x", "sx"]):
        found = [worst_ratio(name, w, n, reads) for n, w in (random_case(seed, (3, 2, 3), reads) for seed in range(60))]
        assert min(found.count(None), found.count(1), sum(r not in (None, 1) for r in found)) > 2


@given(SEEDS, st.sampled_from(SHAPES), st.sampled_from(["x", "sx"]))
def test_utility_is_the_definition(seed, shape, reads):
    counts, weights = random_case(seed, shape, reads)
    joint = tr.Joint(counts)
    found = tr.mutual_information(joint, protocol_of(weights, joint, reads=reads))
    assert found == pytest.approx(mutual_information(weights, counts, reads), abs=1e-12)


SCALES = [
    np.array([[3, 0, 2], [1, 5, 4]], object) * scale
    for scale in (1, 10**30, Fraction(1, 7), Fraction(10**40, 10**41 + 1), 0.1, 5e-324, 1e300, 2**62)
]


@pytest.mark.parametrize("counts", SCALES, ids=lambda c: str(c[0, 0])[:12])
def test_counts_of_any_kind_are_exact(tmp_path, counts):
    """Huge, rational, and floats as the binary fractions that they are."""
    weights = [[1, 2, 5], [7, 6, 3]]
    exact = np.vectorize(Fraction, otypes=[object])(counts)
    joint = tr.Joint(counts)
    worst = worst_ratio("lip", weights, exact)
    assert tr.certify(protocol_of(weights, joint), joint, tr.LIP(1)).level_exact == worst
    for epsilon, answer in ((Fraction(math.log(worst)) * 2, HOLDS), (Fraction(math.log(worst)) / 2, BROKEN)):
        saved = Saved(tmp_path, protocol_of(weights, joint, promise("lip", epsilon)), joint)
        assert saved.both() == (answer, answer)


def test_a_condition_without_rows_is_void(tmp_path):
    """P(s) = 0 asks for nothing; nor does p(s, x^J) = 0, in that slice only; P(y|s) = 0 < P(y) is infinite."""
    joint = tr.Joint([[[4, 0], [2, 0]], [[0, 0], [0, 0]], [[1, 0], [0, 3]]])
    weights = [[1, 2, 3, 0], [3, 2, 1, 4]]
    for name in NOTIONS:
        assert tr.certify(protocol_of(weights, joint), joint, NOTIONS[name](5)).level_exact == {
            "lip": Fraction(16, 3),  # 4/3 · 1/4 under s = 0, 1/16 under s = 2, …
            "ldp": None,
            "srlip": None,
            "srldp": None,
        }.get(name) or worst_ratio(name, weights, joint.counts)
    never = tr.Joint([[1, 3, 0], [2, 1, 0]])
    assert tr.certify(protocol_of([[1, 1, 2], [1, 1, 0]], never), never, tr.LDP(0)).level_exact == 1
    zero = tr.Joint([[1, 0], [1, 3]])
    for name, (epsilon, answer) in product(NOTIONS, {10**9: BROKEN, None: HOLDS}.items()):
        protocol = protocol_of([[0, 1], [2, 1]], zero, promise(name, epsilon))
        assert tr.certify(protocol, zero).level == math.inf
        assert Saved(tmp_path, protocol, zero).both() == (answer, answer)


def on_the_boundary(name, ratio):
    """S = X with two values, and a protocol whose level is the logarithm of a given ratio > 1, exactly."""
    joint = tr.Joint([[1, 0], [0, 1]])
    p, q = ratio.numerator, ratio.denominator
    high, low = (p, q) if name.endswith("ldp") else (2 * p - q, q)  # LIP: P(y) / P(y|s₂) = (high + low) / 2 low
    whole = 1 << (high.bit_length() + 8)
    weights = [[high, low], [whole - high, whole - low]]
    assert worst_ratio(name, weights, joint.counts) == ratio
    return weights, joint


@pytest.mark.parametrize("name", ["lip", "ldp", "srlip", "srldp"])
@pytest.mark.parametrize("epsilon", ["1/2", "1", "3", "0.01"])
def test_a_hair_too_large_is_too_large(tmp_path, name, epsilon):
    """Levels that differ from ε by less than 10^-120, above and below in turn."""
    for k, ratio in enumerate(convergents(Fraction(epsilon), 60)[2:]):
        if ratio > 1:
            weights, joint = on_the_boundary(name, ratio)
            saved = Saved(tmp_path, protocol_of(weights, joint, promise(name, epsilon)), joint)
            assert saved.both() == ((HOLDS, HOLDS) if k % 2 == 0 else (BROKEN, BROKEN))


def test_a_promise_a_hair_below_the_level_is_broken(tmp_path):
    """ε just below and just above ln(3/2), in steps down to 10^-1000."""
    weights, joint = on_the_boundary("lip", Fraction(3, 2))
    for digits in (1, 5, 15, 16, 17, 40, 400, 1000):
        below = log_floor(Fraction(3, 2), digits)
        for epsilon, answer in ((below, BROKEN), (below + Fraction(1, 10**digits), HOLDS)):
            saved = Saved(tmp_path, protocol_of(weights, joint, promise("lip", epsilon)), joint)
            assert saved.both() == (answer, answer)


def log_floor(ratio, digits):
    """ln(ratio) cut after so many decimal digits."""
    import decimal

    with decimal.localcontext() as context:
        context.prec = digits + 20
        value = (decimal.Decimal(ratio.numerator) / ratio.denominator).ln()
        return Fraction(int(value.scaleb(digits)), 10**digits)


@given(SEEDS, st.sampled_from([(2, 4), (3, 5), (2, 2, 2)]), st.sampled_from(sorted(NOTIONS)))
def test_perfect_designs_have_level_zero_exactly(tmp_path_factory, seed, shape, name):
    joint = tr.Joint(np.random.default_rng(seed).integers(1, 30, shape))
    result = tr.design(joint, NOTIONS[name](0))
    assert result.certificate.level == 0
    assert worst_ratio(name, result.protocol.weights, joint.counts) == 1
    assert Saved(tmp_path_factory.mktemp("zero"), result.protocol, joint).both() == (HOLDS, HOLDS)


@pytest.mark.parametrize("name", sorted(NOTIONS))
@pytest.mark.parametrize("epsilon", ["0", "1e-6", "0.01", "1/3", "2", "40", "inf"])
def test_designs_hold_by_everyone(tmp_path, name, epsilon):
    for seed, (reads, shape) in enumerate(product(["x", "sx"], [(2, 4), (2, 2, 2)])):
        joint = tr.Joint(
            np.random.default_rng(seed).integers(0, 30, shape)
            + np.eye(*shape[:2], dtype=int).reshape(shape[:2] + (1,) * (len(shape) - 2))
        )
        protocol = tr.design(joint, NOTIONS[name](epsilon), reads=reads).protocol
        assert Saved(tmp_path, protocol, joint).both() == (HOLDS, HOLDS)
        worst = worst_ratio(name, protocol.weights, joint.counts, reads)
        assert protocol.promise.epsilon is None or at_most_exp(*worst.as_integer_ratio(), protocol.promise.epsilon)


def test_several_secrets_are_protected_together_and_each():
    counts = np.random.default_rng(0).integers(1, 30, (2, 3, 4))
    attributes = [("ill", ["no", "yes"]), ("debt", [0, 1, 2])]
    joint = tr.Joint(counts.reshape(6, 4), secret=dict(attributes))
    weights = np.random.default_rng(1).multinomial(2**20, np.ones(3) / 3, 4).T
    weights[:, 0] = [2**20 - 2**18, 2**18, 0]
    verdict = tr.certify(protocol_of(weights, joint), joint, tr.LDP(9))
    levels = verdict.facts["levels"]
    assert verdict.level_exact == worst_ratio("ldp", weights, counts.reshape(6, 4))
    for name, axis in (("ill", 1), ("debt", 0)):
        assert levels[name] == pytest.approx(math.log(worst_ratio("ldp", weights, counts.sum(axis=axis))), rel=1e-12)


def test_sums_that_wrap_around_are_no_distribution():
    """Five weights of 2^62 sum to 2^62 in 64-bit words; the judge adds up without end."""
    joint = tr.Joint([[1, 2], [3, 4]])
    wrapped = np.full((5, 2), 2**62)
    constant = np.vstack([wrapped[:1], 0 * wrapped[1:]])
    protocol = DenseProtocol(constant, 62, tuple("abcde"), joint.secret, joint.release, promise=promise("lip", 1))
    assert tr.certify(protocol, joint).holds
    object.__setattr__(protocol, "integers", wrapped)
    with pytest.raises(ProtocolError, match="23058430092136939520"):
        tr.certify(protocol, joint)


@pytest.mark.parametrize(
    "weights",
    [[[5, 3], [-1, 1]], [[3, 3], [1, 2]], [[1.5, 2], [2.5, 2]], [[0, 4], [0, 0]], [[Fraction(3, 2), 2], [Fraction(5, 2), 2]]],
    ids=["negative", "uneven", "float", "empty", "fraction"],
)
def test_the_judge_takes_distributions_only(weights):
    """Also before there is a protocol: negative weights would make small ratios of large ones."""
    joint = tr.Joint([[1, 2], [3, 4]])
    with pytest.raises(ProtocolError, match="column"):
        judge_weights(np.array(weights, object), "x", joint, promise("lip", 1))


def test_counts_of_other_columns_are_refused():
    """Names, values, their order and their types: True is not 1."""
    made = tr.Joint([[1, 2], [3, 4]], secret=("S", ["a", "b"]), release={"X": [0, 1]})
    protocol = protocol_of([[1, 3], [3, 1]], made, promise("lip", 1))
    assert tr.certify(protocol, made).holds
    for secret, release in (
        (("S", ["a", "b"]), {"X": [1, 0]}),
        (("S", ["a", "b"]), {"X": [False, True]}),
        (("S", ["a", "b"]), {"Z": [0, 1]}),
        (("S", ["b", "a"]), {"X": [0, 1]}),
        (("T", ["a", "b"]), {"X": [0, 1]}),
        (("S", ["a", "b", "c"]), {"X": [0, 1]}),
    ):
        other = tr.Joint(np.ones((len(secret[1]), 2), int), secret=secret, release=release)
        with pytest.raises(ProtocolError, match="the same columns with the same values in the same order"):
            tr.certify(protocol, other)
    about = tr.Joint([[1, 2], [3, 4], [5, 1]], secret=("T", ["u", "v", "w"]), release={"X": [0, 1]})
    verdict = tr.certify(protocol, about, tr.LIP(1))
    assert verdict.facts["secret"] == ["T"]
    with pytest.raises(ProtocolError):
        tr.certify(protocol_of([[1, 3, 1, 3], [3, 1, 3, 1]], made, reads="sx"), about, tr.LIP(1))


def test_without_a_promise_or_a_judge_there_is_no_verdict():
    joint = tr.Joint([[1, 2], [3, 4]])
    protocol = protocol_of([[1, 3], [3, 1]], joint)
    with pytest.raises(ProtocolError, match="promises nothing"):
        tr.certify(protocol, joint)
    object.__setattr__(protocol, "kind", "magic")
    with pytest.raises(ProtocolError, match="no judge for a protocol of kind 'magic'"):
        tr.certify(protocol, joint, tr.LIP(1))


@pytest.mark.parametrize("notion", ["lip", 0.5, 0, False, tr.LIP])
def test_what_is_no_notion(notion):
    joint = tr.Joint([[3, 1], [1, 3]])
    with pytest.raises(tr.TrechterError, match=r"is no notion to certify; give one, for example tr\.LIP"):
        tr.certify(tr.design(joint, tr.LIP(1)).protocol, joint, notion)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", ["lip", "ldp"])
def test_each_of_several_secrets_of_a_protocol_that_reads_them(seed, name):
    """About one secret, the others are data like any other; known side channels are slices of the table."""
    counts = random_counts(seed, 4, 3).reshape(2, 2, 3)
    joint = tr.Joint(counts.reshape(4, 3), secret={"S": [0, 1], "T": [0, 1]}, release={"X": [0, 1, 2]})
    protocol = DenseProtocol.from_matrix(random_matrix(seed, 3, 12), joint, reads="sx")
    weights = protocol.weights.reshape(3, 2, 2, 3)
    found = [tr.certify(protocol, joint, Spec(notion, None)).facts["levels"] for notion in (name, f"sr{name}")]
    for axis, secret in enumerate("ST"):
        turned, table = weights.swapaxes(1, 1 + axis), counts.swapaxes(0, axis)
        whole = worst_ratio(name, turned.reshape(3, -1), table, "sx")
        slices = [worst_ratio(name, turned[..., [x]].reshape(3, -1), table[..., [x]], "sx") for x in range(3)]
        assert found[0][secret] == log_up(whole)
        assert found[1][secret] == log_up(None if None in [whole, *slices] else max([whole, *slices]))
