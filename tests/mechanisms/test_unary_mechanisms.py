"""Unary encodings and k-subset as mechanisms: parameters, calibration, the limits, many values, bad input."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_joint
from tests.oracles import levels
from tests.oracles.exponential import exp

import trechter as tr
from trechter.mechanisms.unary import encoding, reach
from trechter.model.outputs import ValueSet
from trechter.model.unary import UnaryProtocol
from trechter.privacy import NOTIONS

SEEDS = st.integers(0, 10**6)
SHAPES = st.sampled_from([(2, 3), (3, 5), (4, 2), (2, 2, 2)])
EPSILONS = st.sampled_from(["0", "1e-6", "0.2", "1", "4", "50"])


@settings(max_examples=60)
@given(SEEDS, SHAPES, st.sampled_from(["0.01", "0.5", "2"]))
def test_parameters_are_those_of_the_definition(seed, shape, eps):
    joint = random_joint(seed, *shape)
    for result, wanted in (
        (tr.oue(joint, tr.LIP(eps)), lambda E: (0.5, 1 / (E + 1))),
        (tr.sue(joint, tr.LIP(eps)), lambda E: (math.sqrt(E) / (math.sqrt(E) + 1), 1 / (math.sqrt(E) + 1))),
    ):
        alpha = result.stats["alpha"]
        if alpha < 30:
            assert result.protocol.shares[:2] == pytest.approx(wanted(math.exp(alpha)), rel=1e-12)
        elif math.isinf(alpha):
            assert result.protocol.q == 0


@settings(max_examples=200)
@given(SEEDS, SHAPES, st.sampled_from(sorted(NOTIONS)), EPSILONS, st.sampled_from(["s", "x"]), st.floats(0.01, 0.99))
def test_one_given_the_other_calibrated(seed, shape, name, eps, protect, share):
    joint, notion = random_joint(seed, *shape), NOTIONS[name](eps, protect=protect)
    for given_ in ("p", "q"):
        result = tr.unary(joint, notion, **{given_: share})
        assert result.certificate.holds
        kept = result.protocol.shares[0 if given_ == "p" else 1]
        assert kept == pytest.approx(share, rel=1e-15)
        if not math.isinf(result.stats["alpha"]):
            assert result.certificate.level >= float(eps) - 1e-9
        else:
            assert 0 in (result.protocol.q, (1 << result.protocol.places) - result.protocol.p)


@settings(max_examples=100)
@given(SEEDS, SHAPES, st.sampled_from(sorted(NOTIONS)), st.sampled_from(["0.2", "1", "4"]))
def test_a_little_more_would_not_be_private(seed, shape, name, eps):
    """The interval ends where it is said to: with k a millionth larger the level is passed."""
    joint, notion = random_joint(seed, *shape), NOTIONS[name](eps)
    k = reach(joint, notion)
    if math.isinf(k):
        limit = encoding(joint, Fraction(1, 2), Fraction(0))
        assert tr.certify(limit, joint, notion).holds
    else:
        more = encoding(joint, Fraction(1, 2), 1 / (2 + Fraction(k * (1 + 1e-6))))
        assert not tr.certify(more, joint, notion).holds


@settings(max_examples=100)
@given(SEEDS, SHAPES, st.integers(0, 16), st.integers(0, 16))
def test_both_given_are_taken_as_they_are(seed, shape, p, q):
    joint = random_joint(seed, *shape)
    result = tr.unary(joint, tr.LIP("0.3"), p=f"{p}/16", q=Fraction(q, 16))
    assert result.protocol.shares[:2] == (p / 16, q / 16)
    exact = levels.worst_ratio("lip", result.protocol.weights, joint.counts)
    assert result.certificate.level_exact == exact
    assert result.certificate.holds == (exact is not None and exact <= exp(Fraction(3, 10), 40))


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ({}, "give p, q or both"),
        ({"p": 1.5}, "p = 1.5 is no probability"),
        ({"q": "x"}, "q = 'x'"),
        ({"p": float("nan")}, "nan"),
        ({"p": -0.1, "q": 0.1}, "-0.1"),
        ({"p": 1}, "nothing to calibrate"),
        ({"q": 0}, "nothing to calibrate"),
    ],
)
def test_shares_that_make_no_sense(shares, said):
    with pytest.raises(tr.TrechterError, match=said):
        tr.unary(random_joint(1, 2, 3), tr.LIP(1), **shares)


def test_the_limit_is_x_or_nothing():
    joint = tr.Joint([[30, 20, 9], [30, 21, 9]])
    result = tr.oue(joint, tr.LIP(1))
    assert result.stats["alpha"] == math.inf
    assert result.protocol.shares == (0.5, 0, 0.5, 1)
    assert result.utility == pytest.approx(tr.sue(joint, tr.LIP(1)).utility / 2)


def test_levels_against_the_classic_local_model():
    """With respect to X: α = ε for LDP, whatever the counts, and for 10,000 values as well."""
    for a in (4, 10_000):
        joint = tr.Joint(np.random.default_rng(a).integers(1, 99, (2, a)))
        result = tr.oue(joint, tr.LDP("0.7", protect="x"))
        assert result.stats["alpha"] == pytest.approx(0.7, abs=1e-12)
        assert result.certificate.holds
        assert result.certificate.level >= 0.7 - 1e-9
    lonely = tr.Joint([[3, 0], [4, 0]])
    assert tr.oue(lonely, tr.LDP(1, protect="x")).stats["alpha"] == math.inf


@pytest.mark.parametrize("make", [tr.oue, tr.sue])
@pytest.mark.parametrize("notion", [tr.LIP("0.5"), tr.LDP("0.5"), tr.LDP(50), tr.LIP("1e-6")])
def test_ten_thousand_values(make, notion):
    joint = tr.Joint(np.random.default_rng(1).integers(0, 1000, (2, 10_000)))
    start = time.perf_counter()
    result = make(joint, notion)
    assert time.perf_counter() - start < 30
    assert result.certificate.holds
    assert result.certificate.level >= float(notion.epsilon) - 1e-9
    assert result.utility > 0


def test_sixteen_values_of_adult(adult):
    """S = occupation, X = education: the level of all 65,536 outputs, and below the optimum."""
    joint = adult("occupation", "education")
    result = tr.oue(joint, tr.LIP("0.5"))
    assert result.certificate.holds
    assert result.certificate.level >= 0.5 - 1e-9
    p, q, no_p, no_q = result.protocol.shares
    sets = np.array(list(itertools.product([0, 1], repeat=16)))
    k, given_s = p * no_q / (q * no_p) - 1, joint.p / joint.p_s[:, None]
    ratios = (1 + k * sets @ given_s.T) / (1 + k * sets @ joint.p_x)[:, None]
    assert np.abs(np.log(ratios)).max() == pytest.approx(0.5, abs=1e-9)
    drawn = np.prod(np.where(sets, q, no_q), axis=1)
    matrix = drawn[:, None] * np.where(sets, p / q, no_p / no_q)
    told = matrix / (matrix @ joint.p_x)[:, None]
    assert result.utility == pytest.approx(float((matrix * np.log(told) @ joint.p_x).sum()), abs=1e-9)
    assert result.utility < 1.4966348565


@settings(max_examples=30)
@given(SEEDS, st.sampled_from([(2, 4), (3, 5)]), st.sampled_from(["0.1", "1"]), st.integers(1, 3))
def test_subset_is_the_definition(seed, shape, eps, size):
    joint, a = random_joint(seed, *shape), shape[1]
    result = tr.subset(joint, tr.LIP(eps), size=size)
    E = math.exp(min(result.stats["alpha"], 690))
    rows = [[E if x in y else 1 for x in range(a)] for y in itertools.combinations(range(a), size)]
    expected = np.array(rows) / (E * math.comb(a - 1, size - 1) + math.comb(a - 1, size))
    assert result.protocol.matrix == pytest.approx(expected, abs=1e-9)
    assert result.certificate.level_exact == levels.worst_ratio("lip", result.protocol.weights, joint.counts)
    if size > 1:
        assert result.protocol.outputs[0] == ValueSet(tuple(range(size)))


def test_subset_of_one_is_randomised_response_and_of_all_says_nothing():
    joint = random_joint(2, 2, 5)
    assert tr.subset(joint, tr.LIP("0.3"), size=1).utility == pytest.approx(tr.grr(joint, tr.LIP("0.3")).utility, abs=1e-9)
    assert tr.subset(joint, tr.LIP("0.3"), size=5).utility == 0


def test_subset_chooses_the_size_that_is_worth_most():
    joint = tr.Joint(np.full((1, 8), 5))
    notion = tr.LDP("0.5", protect="x")
    chosen = tr.subset(joint, notion)
    every = [tr.subset(joint, notion, size=k).utility for k in range(1, 8)]
    assert chosen.utility == max(every)
    assert chosen.stats["size"] == 1 + int(np.argmax(every)) == 3  # a / (1 + e^ε), as is known for uniform X


@pytest.mark.parametrize("size", [0, 6, 1.5, True, "2"])
def test_sizes_that_make_no_sense(size):
    with pytest.raises(tr.TrechterError, match="a set has from 1 to 5"):
        tr.subset(random_joint(1, 2, 5), tr.LIP(1), size=size)


def test_too_many_sets_are_refused():
    joint = random_joint(1, 2, 1000)
    for size in (None, 2, 500):
        with pytest.raises(tr.TrechterError, match=r"too many to list; use tr\.oue"):
            tr.subset(joint, tr.LIP(1), size=size)


def test_a_unary_encoding_is_what_comes_back():
    assert isinstance(tr.oue(random_joint(1, 2, 3), tr.LIP(1)).protocol, UnaryProtocol)
