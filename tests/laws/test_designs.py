"""Laws that every design obeys: certified, within its bound, unbeaten by random private protocols, monotone in ε."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_joint, random_matrix

import trechter as tr
from trechter.model.dense import DenseProtocol
from trechter.privacy import NOTIONS

SEEDS = st.integers(0, 10**6)
SHAPES = st.sampled_from([(2, 2), (2, 5), (3, 4), (4, 3), (2, 2, 2), (2, 3, 2)])
LEVELS = st.sampled_from(["1e-6", "0.01", "0.3", "1", "2", "5", "50"])
NAMES = sorted(NOTIONS)


@settings(max_examples=60)
@given(SEEDS, SHAPES, st.sampled_from(NAMES), LEVELS, st.sampled_from(["x", "sx"]))
def test_certified_optimal_and_unbeaten(seed, shape, name, eps, reads):
    if reads == "sx" and name.startswith("sr"):
        shape = shape[:2]
    joint = random_joint(seed, *shape)
    notion = NOTIONS[name](eps)
    result = tr.design(joint, notion, reads=reads)
    assert result.certificate.holds
    assert tr.certify(result.protocol, joint, notion).holds
    assert result.certificate.level <= float(notion.epsilon)
    assert result.status == "optimal"
    assert 0 <= result.utility <= result.bound
    assert result.gap <= 1e-6
    assert result.utility == pytest.approx(tr.mutual_information(joint, result.protocol), abs=1e-12)
    for rival in private_rivals(joint, notion, reads, seed):
        assert tr.mutual_information(joint, rival) <= result.bound


def private_rivals(joint, notion, reads, seed):
    """Random protocols mixed with constant ones until they are private."""
    n = joint.exact.shape[1] * (joint.exact.shape[0] if reads == "sx" else 1)
    for k in range(6):
        sharp = np.eye(max(2, n))[:, :n] if k % 2 else random_matrix(seed + k, 4, n)
        q = np.random.default_rng(seed + k).dirichlet(np.ones(len(sharp)))
        low, high = 0.0, 1.0
        for _ in range(25):
            t = (low + high) / 2
            rival = DenseProtocol.from_matrix((1 - t) * sharp + t * q[:, None], joint, reads)
            low, high = (low, t) if notion.level(rival, joint) <= float(notion.epsilon) else (t, high)
        rival = DenseProtocol.from_matrix((1 - high) * sharp + high * q[:, None], joint, reads)
        if tr.certify(rival, joint, notion).holds:
            yield rival


@settings(max_examples=25)
@given(SEEDS, SHAPES, st.sampled_from(NAMES))
def test_more_leakage_never_costs_utility(seed, shape, name):
    joint = random_joint(seed, *shape)
    found = [tr.design(joint, NOTIONS[name](eps)).utility for eps in ("0", "0.1", "0.5", "2", "inf")]
    assert all(a <= b + 1e-8 for a, b in itertools.pairwise(found))
    assert found[-1] == pytest.approx(tr.mutual_information(joint, tr.design(joint, tr.LIP("inf")).protocol))


@settings(max_examples=25)
@given(SEEDS, SHAPES)
def test_stricter_notions_are_worth_less(seed, shape):
    """LDP ≤ LIP, SRLIP ≤ LIP, SRLDP ≤ LDP at the same ε; who may see the secret does at least as well."""
    joint = random_joint(seed, *shape)
    utility = {name: tr.design(joint, NOTIONS[name]("0.7")).utility for name in NAMES}
    assert utility["ldp"] <= utility["lip"] + 1e-8
    assert utility["srlip"] <= utility["lip"] + 1e-8
    assert utility["srldp"] <= min(utility["ldp"], utility["srlip"]) + 1e-8
    assert utility["lip"] <= tr.design(joint, tr.LIP("0.7"), reads="sx").utility + 1e-8


@settings(max_examples=40)
@given(SEEDS, st.sampled_from([(2, 3), (2, 5), (3, 4), (2, 2, 2)]), st.sampled_from(NAMES), st.sampled_from(["x", "sx"]))
def test_perfect_privacy_comes_out_exactly(seed, shape, name, reads):
    if reads == "sx":
        shape = shape[:2]
    joint = random_joint(seed, *shape, zeros=0.4)
    result = tr.design(joint, NOTIONS[name](0), reads=reads)
    assert result.certificate.level_exact == 1
    assert result.certificate.level == 0
    assert result.status == "optimal"


def test_perfect_privacy_can_be_worth_something():
    """Power: with more values than secrets, independence from S still says something about X."""
    result = tr.design(random_joint(3, 2, 5, zeros=0), tr.LIP(0))
    assert result.utility > 0.1
    assert result.certificate.level_exact == 1


@given(SEEDS, SHAPES)
def test_same_counts_same_protocol(seed, shape):
    first, second = (tr.design(random_joint(seed, *shape), tr.LIP("0.4")).protocol for _ in range(2))
    assert first.digest == second.digest


def test_values_that_never_occur_get_the_output_distribution():
    counts = np.array([[10, 0, 5, 7], [3, 0, 9, 1]])
    joint = tr.Joint(counts)
    for eps in ("0.5", "0"):
        protocol = tr.design(joint, tr.LIP(eps)).protocol
        assert protocol.matrix[:, 1] == pytest.approx(protocol.matrix @ joint.p_x, abs=1e-9)
        assert list(protocol.weights.sum(axis=0)) == [2**protocol.bits] * 4


@pytest.mark.parametrize("counts", [[[3, 4, 5]], [[1], [2]], [[2, 4], [1, 2]], [[5, 5], [5, 5]]])
def test_nothing_to_hide(counts):
    """One secret, one value, or independence: publish as it is."""
    for name in NAMES:
        result = tr.design(tr.Joint(counts), NOTIONS[name](0))
        assert result.solver == "identity"
        assert result.gap == 0


def test_tiny_secrets_and_tiny_cells():
    joint = tr.Joint([[9, 0, 1], [10**9, 3 * 10**9, 10**8], [1, 10**9, 5]])
    for name in ("lip", "ldp"):
        result = tr.design(joint, NOTIONS[name]("0.5"))
        assert result.certificate.holds
        assert result.gap <= 1e-6


def test_protecting_the_data_itself_is_randomised_response():
    """LDP with respect to X: the optimum at large ε is GRR, whose weights are known."""
    joint = tr.Joint(np.ones((1, 4), int))
    protocol = tr.design(joint, tr.LDP(3, protect="x")).protocol
    E = np.exp(3)
    grr = (np.eye(4) * (E - 1) + 1) / (E + 3)
    assert tr.mutual_information(joint, protocol) == pytest.approx(
        tr.mutual_information(joint, DenseProtocol.from_matrix(grr, joint)), abs=1e-9
    )


def test_unknown_solver_and_reads():
    joint = random_joint(1, 2, 3)
    with pytest.raises(tr.TrechterError, match="vertices"):
        tr.design(joint, tr.LIP(1), solver="magic")
    with pytest.raises(tr.TrechterError, match="sx"):
        tr.design(joint, tr.LIP("0.1"), reads="s")


@pytest.mark.parametrize(
    "arguments",
    [
        ([[1, 2], [3, 4]], tr.LIP(1)),
        (tr.Joint([[1, 2], [3, 4]]), "lip"),
        (tr.Joint([[1, 2], [3, 4]]), tr.LIP),
    ],
)
def test_what_is_no_joint_and_no_notion(arguments):
    with pytest.raises(tr.TrechterError, match="make one with tr"):
        tr.design(*arguments)


@pytest.mark.parametrize("options", [{"gap": -1}, {"gap": float("nan")}, {"time_limit": -1}, {"time_limit": "1"}])
def test_budgets_that_make_no_sense(options):
    with pytest.raises(tr.TrechterError, match=next(iter(options))):
        tr.design(tr.Joint([[1, 2], [3, 4]]), tr.LIP("0.01"), **options)


def test_a_time_limit_is_kept_and_what_is_delivered_is_private():
    joint = random_joint(1, 3, 60, zeros=0)
    result = tr.design(joint, tr.LIP("0.3"), solver="vertices", time_limit=1e-9)
    assert result.status == "gap"
    assert result.certificate.holds
    assert result.utility == pytest.approx(0, abs=1e-9)
    assert result.bound == pytest.approx(tr.design(joint, tr.LIP("inf")).utility)


@pytest.mark.parametrize("eps", ["1e-9", "1e-17", "1e-400", 5e-324])
@pytest.mark.parametrize("name", NAMES)
def test_the_tiniest_levels(name, eps):
    """Never worth less than perfect privacy, and bounded by what a little more would give."""
    joint = random_joint(3, 3, 5)
    perfect, tiny = tr.design(joint, NOTIONS[name](0)), tr.design(joint, NOTIONS[name](eps))
    assert tiny.utility >= perfect.utility
    assert tiny.gap < 1e-4
    assert tiny.certificate.holds


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("eps", ["1e-7", "2e-6", "1e-5"])
def test_levels_so_small_that_float_noise_matters(seed, eps):
    """What floats leave is repaired at hardly any cost: the optimum is met as at any level."""
    joint = random_joint(seed, 4, 7)
    for name in ("lip", "ldp"):
        assert tr.design(joint, NOTIONS[name](eps)).gap <= 3e-6


def test_values_without_weight_and_with_many_weights():
    """Outputs are added up if they say the same of every value, weighted or not, and have the same mass for it."""
    joint = random_joint(7, 4, 12)
    weights = np.append(np.zeros(5), np.linspace(0.1, 3, 7))
    for reads in ("x", "sx"):
        result = tr.design(joint, tr.SRLIP("0.5"), measure=tr.MutualInformation(weights=weights), reads=reads, gap=1e-5)
        assert result.status == "optimal"
        assert result.certificate.holds
