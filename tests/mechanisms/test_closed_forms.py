"""Mechanisms against their definitions: entries typed in once more, levels by formulas of their own."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_joint, random_matrix
from tests.oracles import levels

import trechter as tr
from trechter.model.outputs import ValueSet

SEEDS = st.integers(0, 10**6)


@settings(max_examples=100)
@given(SEEDS, st.sampled_from([(2, 4), (3, 5), (5, 3)]), st.sampled_from(["0.01", "0.5", "2"]))
def test_grr(seed, shape, eps):
    joint = random_joint(seed, *shape)
    result, p, a = tr.grr(joint, tr.LIP(eps)), joint.p_x, shape[1]
    E = math.exp(result.stats["alpha"]) if result.stats["alpha"] < math.inf else 1e300
    assert result.protocol.matrix == pytest.approx((np.eye(a) * (E - 1) + 1) / (E + a - 1), abs=1e-9)
    given_s = joint.p / joint.p_s[:, None]
    level = np.abs(np.log((1 + (E - 1) * given_s) / (1 + (E - 1) * p))).max()
    assert min(level, 700) == pytest.approx(min(result.certificate.level, 700), abs=1e-7)


@settings(max_examples=100)
@given(SEEDS, st.sampled_from([(2, 4), (3, 5), (5, 3)]), st.sampled_from(["0", "0.01", "0.5", "2"]))
def test_conditional_reporting(seed, shape, eps):
    joint = random_joint(seed, *shape)
    result, (c, a) = tr.conditional_reporting(joint, tr.LIP(eps)), shape
    E = math.exp(result.stats["alpha"]) if result.stats["alpha"] < math.inf else 1e300
    given_s = joint.p / joint.p_s[:, None]
    expected = np.zeros((a, c, a))
    for y in range(a):
        for s in range(c):
            for x in range(a):
                lies = sum(given_s[other, y] for other in range(c) if other != s)
                expected[y, s, x] = (E * (x == y) + lies) / (E + c - 1)
    assert result.protocol.matrix == pytest.approx(expected.reshape(a, c * a), abs=1e-9)
    assert result.protocol.reads == "sx"


def test_conditional_reporting_is_perfectly_private_and_useful_at_zero():
    result = tr.conditional_reporting(random_joint(3, 3, 5), tr.LIP(0))
    assert result.certificate.level_exact == 1
    assert result.utility > 0.01


def test_conditional_reporting_says_what_it_can_reach():
    """For SRLIP the level at α = 0 is not 0; levels below the least are refused, those above are reached."""
    joint = random_joint(1, 2, 2, 2)
    with pytest.raises(tr.TrechterError, match="cannot reach") as refused:
        tr.conditional_reporting(joint, tr.SRLIP("0.001"))
    least = float(str(refused.value).split("between ")[1].split(" and")[0])
    assert least > 0.001
    result = tr.conditional_reporting(joint, tr.SRLIP(str(round(least + 1e-3, 6))))
    assert result.certificate.holds
    with pytest.raises(tr.TrechterError, match="cannot reach"):
        tr.conditional_reporting(joint, tr.SRLIP(str(round(least - 1e-3, 6))))


@pytest.mark.parametrize("notion", [tr.SRLIP, tr.SRLDP])
@pytest.mark.parametrize("seed", range(4))
def test_what_conditional_reporting_can_reach_by_search(notion, seed):
    """The interval of α against a scan: nothing outside it keeps the promise, everything inside does."""
    from trechter.mechanisms.conditional_reporting import lying

    joint, ks = random_joint(seed, 2, 2, 3), np.expm1(np.geomspace(1e-3, 12, 60))
    found = np.array([notion(1).level(lying(joint, k), joint) for k in ks])
    epsilon = float(found.min()) + 0.1
    result = tr.conditional_reporting(joint, notion(epsilon))
    low, high = (math.expm1(result.stats.get(name, 0.0)) for name in ("least_alpha", "alpha"))
    inside = (low <= ks) & (ks <= high)
    assert inside.any()
    assert np.all(found[inside] <= epsilon + 1e-9)
    assert np.all(found[~inside] > epsilon - 1e-9)


def test_the_optimum_that_reads_both_is_above_conditional_reporting_which_can_pass_the_one_that_reads_x():
    """math: CR is not ordered against the x-only optimum; here it passes it."""
    joint = tr.Joint(np.random.default_rng(0).dirichlet(np.full(10, 0.5)).reshape(5, 2))
    notion = tr.LIP("0.02")
    lying = tr.conditional_reporting(joint, notion).utility
    assert tr.design(joint, notion).utility < lying <= tr.design(joint, notion, reads="sx").bound


@settings(max_examples=60)
@given(SEEDS, st.sampled_from(["lip", "ldp"]), st.sampled_from(["0", "0.1", "1"]))
def test_pram_is_the_matrix_or_scaled_to_the_level(seed, name, eps):
    joint, Q = random_joint(seed, 3, 4), random_matrix(seed, 3, 4)
    notion = {"lip": tr.LIP, "ldp": tr.LDP}[name](eps)
    result = tr.pram(Q, joint, notion)
    share, q = result.stats["kept"], Q @ joint.p_x
    assert share == pytest.approx(1 - math.exp(-result.stats["alpha"]))
    assert result.protocol.matrix == pytest.approx(share * Q + (1 - share) * q[:, None], abs=1e-9)
    assert result.certificate.holds
    own = levels.worst_ratio(name, [[Fraction(v) for v in row] for row in Q], joint.counts)
    if math.log(own) <= float(eps):
        assert share == 1
    else:
        assert result.certificate.level == pytest.approx(float(eps), abs=1e-9)


def test_pram_may_read_the_secret():
    joint = random_joint(5, 2, 3)
    result = tr.pram(random_matrix(5, 3, 6), joint, tr.LIP("0.2"))
    assert result.protocol.reads == "sx"
    assert result.certificate.holds


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ([[0.5, 0.5], [0.4, 0.5]], "column 0 sums to 0.9"),
        ([[0.9, 0.1], [0.3, 0.7]], "transposed"),
        ([[1.5, 0.5], [-0.5, 0.5]], "-0.5"),
        ([[float("nan"), 0.5], [0.5, 0.5]], "nan"),
        ([[1.0, 1.0, 1.0]], "3 columns"),
        ([0.5, 0.5], "shape"),
        ([["a", "b"]], "table of numbers"),
        ([[1.0], [0.0, 1.0]], "table of numbers"),
    ],
)
def test_what_is_no_matrix(matrix, said):
    with pytest.raises(tr.TrechterError, match=said):
        tr.pram(matrix, random_joint(1, 4, 2), tr.LIP("0.5"))


def labelled():
    counts = np.array([[9, 4, 2, 1], [3, 5, 7, 0]])
    return tr.Joint(counts, secret=("S", ["no", "yes"]), release={"X": ["a", "b", "c", "d"]})


def test_generalisation_releases_sets_and_says_its_true_level():
    result = tr.generalise([["b", "c", "d"]], labelled(), tr.LIP("1"))
    assert result.protocol.outputs == ("a", ValueSet(("b", "c", "d")))
    exact = levels.worst_ratio("lip", result.protocol.weights, labelled().counts)
    assert result.certificate.level_exact == exact


def test_what_is_left_alone_can_give_everything_away():
    result = tr.suppress(["a"], labelled(), tr.LIP("1"))
    assert result.certificate.level == math.inf
    assert not result.certificate.holds


@pytest.mark.parametrize(
    ("groups", "said"), [([["e"]], "'e' is no value"), ([["a"], ["b", "a"]], "named twice"), (["ab"], "no group")]
)
def test_groups_that_make_no_sense(groups, said):
    with pytest.raises(tr.TrechterError, match=said):
        tr.generalise(groups, labelled(), tr.LIP("1"))


def test_sparse_and_dense_randomised_response_are_one():
    from trechter.mechanisms.grr import randomised_response

    joint = random_joint(2, 2, 300)
    for k in (0.0, 0.5, 30.0, math.inf):
        protocol = randomised_response(joint, k)
        expected = np.eye(300) if math.isinf(k) else (k * np.eye(300) + 1) / (k + 300)
        assert protocol.kind == "sparse"
        assert protocol.matrix == pytest.approx(expected, abs=1e-12)


def test_ten_thousand_values():
    joint = tr.Joint(np.random.default_rng(1).integers(1, 1000, (2, 10_000)))
    for notion in (tr.LIP("0.5"), tr.LDP("1e-6"), tr.LIP(0)):
        result = tr.grr(joint, notion)
        assert result.certificate.holds
        assert result.certificate.level == pytest.approx(float(notion.epsilon), abs=1e-9)
