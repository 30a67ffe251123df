"""Expected distortion: the literal sum, the literal linear program, exact perfect privacy, and requests that make no sense."""

import datetime as dt
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.conftest import random_joint, random_matrix

import trechter as tr
from trechter.alphabet import Attribute
from trechter.measures.distortion import absolute, hamming, squared
from trechter.model.dense import DenseProtocol

SEEDS = st.integers(0, 10**6)


def literal(joint, protocol, d):
    """Σ_x Σ_y p(x) Q(y|x) d(x, y) in fractions, for outputs that are the values in order."""
    p = [Fraction(int(n)) for n in joint.exact.sum(axis=0)]
    total, whole = sum(p), 1 << protocol.bits
    sums = (p[x] * int(w) * Fraction(d[x][y]) for (y, x), w in np.ndenumerate(protocol.weights))
    return float(sum(sums) / total / whole)


def least_by_definition(joint, name, epsilon, d):
    """The papers' conditions on P(y|s), one by one, as an LP over Q[y, x]; no cones."""
    p, (c, a), b, E = joint.p, joint.p.shape, d.shape[1], np.exp(epsilon)
    given_s = p / joint.p_s[:, None]
    pairs = [(given_s[s], given_s[t]) for s in range(c) for t in range(c) if s != t]
    if name == "lip":
        pairs = [pair for s in range(c) for pair in ((given_s[s], joint.p_x), (joint.p_x, given_s[s]))]
    rows = [np.kron(np.eye(b)[y], high - E * low) for y in range(b) for high, low in pairs]
    sums = np.kron(np.ones(b), np.eye(a))
    costs = (joint.p_x[:, None] * d).T.ravel()
    return linprog(costs, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(a), method="highs").fun


@settings(max_examples=40)
@given(
    SEEDS, st.sampled_from([(2, 3), (3, 4), (4, 3), (2, 6)]), st.sampled_from(["lip", "ldp"]), st.sampled_from([0.1, 0.5, 2.0])
)
def test_the_optimum_is_that_of_the_definition(seed, shape, name, epsilon):
    joint = random_joint(seed, *shape)
    d = np.random.default_rng(seed).integers(0, 10, (shape[1], shape[1])).astype(float)
    result = tr.design(joint, {"lip": tr.LIP, "ldp": tr.LDP}[name](epsilon), measure=tr.Distortion(d))
    least = least_by_definition(joint, name, epsilon, d)
    assert result.certificate.holds
    assert result.bound <= result.utility
    assert result.bound - 1e-8 <= least <= result.utility + 1e-8
    assert result.status == "optimal"


@given(SEEDS)
def test_what_is_delivered_costs_what_it_says(seed):
    joint = random_joint(seed, 2, 4)
    d = np.random.default_rng(seed).integers(-3, 10, (4, 4))
    protocol = DenseProtocol.from_matrix(random_matrix(seed, 4, 4), joint)
    assert tr.Distortion(d).utility(joint, protocol) == pytest.approx(literal(joint, protocol, d.tolist()), abs=1e-12)


@settings(max_examples=20)
@given(SEEDS)
def test_outputs_are_readings_and_cost_what_they_are_read_as(seed):
    joint = random_joint(seed, 3, 5, zeros=0)
    d = 1.0 - np.eye(5)
    protocol = tr.design(joint, tr.LIP("0.3"), measure=tr.Distortion(d)).protocol
    assert set(protocol.outputs) <= set(joint.release[0].values)
    assert protocol.released == ("X",)
    full = np.zeros((5, 5))
    full[[joint.release[0].values.index(o) for o in protocol.outputs]] = protocol.matrix
    cost = float((full.T * d * joint.p_x[:, None]).sum())
    assert tr.Distortion(d).utility(joint, protocol) == pytest.approx(cost, abs=1e-12)


@settings(max_examples=20)
@given(SEEDS, st.sampled_from(["srlip", "srldp", "lip"]), st.sampled_from(["x", "sx"]))
def test_every_notion_and_the_solver_by_rays_agree(seed, name, reads):
    shape = (2, 2, 2) if reads == "x" else (2, 3)
    joint, notion = random_joint(seed, *shape), {"srlip": tr.SRLIP, "srldp": tr.SRLDP, "lip": tr.LIP}[name]("0.4")
    linear, rays = (
        tr.design(joint, notion, reads=reads, measure=tr.Distortion(hamming), solver=solver) for solver in ("auto", "vertices")
    )
    assert linear.solver == "linear"
    assert linear.utility == pytest.approx(rays.utility, abs=1e-8)
    assert rays.bound - 1e-8 <= linear.utility


@settings(max_examples=20)
@given(SEEDS)
def test_perfect_privacy_is_exact(seed):
    joint = random_joint(seed, 2, 5, zeros=0.3)
    result = tr.design(joint, tr.LIP(0), measure=tr.Distortion(hamming))
    assert result.certificate.level_exact == 1
    assert result.gap <= 1e-9
    assert result.utility <= 1 - joint.p_x.max() + 1e-9


def test_more_leakage_costs_less_and_all_of_it_nothing():
    joint = random_joint(5, 3, 5, zeros=0)
    costs = [tr.design(joint, tr.LDP(e), measure=tr.Distortion(hamming)).utility for e in (0, "1e-9", "0.2", 1, 3, "inf")]
    assert all(a >= b - 1e-6 for a, b in itertools.pairwise(costs))
    assert costs[0] > 0.1
    assert costs[-1] == pytest.approx(0, abs=1e-12)


def test_readings_that_are_no_values():
    joint = tr.Joint([[4, 3, 2, 1], [1, 2, 3, 4]], release={"age": [20, 30, 40, 50]})
    measure = tr.Distortion([[0, 1], [0, 1], [1, 0], [1, 0]], readings=["young", "old"])
    result = tr.design(joint, tr.LIP("0.3"), measure=measure)
    assert set(result.protocol.outputs) <= {"young", "old"}
    assert result.gap <= 1e-9


def test_a_mixture_is_read_as_well_as_it_can_be():
    joint = random_joint(2, 2, 4, zeros=0)
    informative = tr.design(joint, tr.LIP("0.2")).protocol
    costs = informative.matrix @ (joint.p_x[:, None] * (1 - np.eye(4)))
    assert tr.Distortion(hamming).utility(joint, informative) == pytest.approx(costs.min(axis=1).sum(), abs=1e-12)
    assert (
        tr.Distortion(hamming).utility(joint, informative)
        >= tr.design(joint, tr.LIP("0.2"), measure=tr.Distortion(hamming)).bound
    )


def test_distances():
    week = Attribute.binned("n", [0, 10, 20])
    assert hamming(("a", 1), ("a", 2)) == 1
    assert absolute(3, 5) == 2
    assert squared((1, 2), (4, 6)) == 25
    assert absolute(dt.date(2024, 3, 1), dt.date(2024, 2, 28)) == 2
    assert absolute(*week.values) == 10
    with pytest.raises(tr.TrechterError, match="count errors instead"):
        absolute("a", 1)


@pytest.mark.parametrize(
    ("d", "said"),
    [
        ([[0, 1]], r"shape \(1, 2\)"),
        ([[0, "x"], [1, 0]], "table of numbers"),
        ([[0, float("nan")], [1, 0]], "must be finite"),
        ("hamming", "table of numbers"),
    ],
)
def test_distortions_that_make_no_sense(d, said):
    with pytest.raises(tr.TrechterError, match=said):
        tr.design(tr.Joint([[1, 2], [2, 1]]), tr.LIP("0.1"), measure=tr.Distortion(d))


def test_solvers_are_told_apart():
    joint = random_joint(1, 2, 4, zeros=0)
    for solver in ("pairs", "columns"):
        with pytest.raises(tr.TrechterError, match="linear"):
            tr.design(joint, tr.LIP("0.1"), measure=tr.Distortion(hamming), solver=solver)
    with pytest.raises(tr.TrechterError, match="distortion"):
        tr.design(joint, tr.LIP("0.1"), solver="linear")


def test_out_of_time_is_a_constant_with_a_true_bound():
    joint = random_joint(4, 4, 40, zeros=0)
    measure = tr.Distortion(hamming)
    early, late = (tr.design(joint, tr.LDP("0.3"), measure=measure, time_limit=limit) for limit in (0, None))
    assert early.bound <= late.utility <= early.utility
    assert early.certificate.holds


def test_readings_that_are_no_combinations_have_a_column_of_their_own():
    """Two attributes are read as one of three labels, which has no cell for each of them."""
    joint = random_joint(4, 3, 3, 2)
    measure = tr.Distortion(np.random.default_rng(0).random((6, 3)), readings=["low", "middle", "high"])
    for notion in (tr.SRLIP("0.4"), tr.LIP(0)):
        protocol = tr.design(joint, notion, measure=measure).protocol
        assert protocol.released == ("Y",)
        assert set(protocol.outputs) <= {"low", "middle", "high"}
        assert len(protocol.columns()) == 1


@pytest.mark.parametrize("seed", range(3))
def test_readings_for_values_that_hardly_occur_cost_the_others_nothing(seed):
    """Masses down to 1e-15: an output that only noise leads to is not repaired at the cost of all the others."""
    rng = np.random.default_rng(seed)
    joint = tr.Joint(rng.random((4, 20)) * 10.0 ** -(15 * rng.random(20)))
    result = tr.design(joint, tr.LDP(1), measure=tr.Distortion(1 - np.eye(20)))
    assert result.certificate.holds
    assert result.status == "optimal"
