"""The certified product: what its conditions are, what it reaches, and that it never breaks its promise."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_counts, random_joint, random_matrix
from tests.oracles import levels

import trechter as tr
from trechter.mechanisms import factors as module
from trechter.mechanisms.factors import Factors
from trechter.mechanisms.product import Search, neighbours, splits
from trechter.privacy import NOTIONS

SEEDS = st.integers(0, 10**6)
SHAPES = st.sampled_from([(2, 2, 2), (2, 3, 3), (3, 3, 2), (3, 2, 2, 2), (2, 3, 1, 2)])
NAMES = st.sampled_from(sorted(NOTIONS))
ZEROS = st.sampled_from([0.0, 0.15, 0.4])


def uniform(seed, *shape):
    return tr.Joint(np.random.default_rng(seed).random(shape))


def together(rows):
    """ΠQʲ as a matrix, by loops."""
    heights, widths = ([Q.shape[k] for Q in rows] for k in (0, 1))
    cells = [
        [math.prod(Q[i, x] for Q, i, x in zip(rows, y, xs, strict=True)) for xs in product(*map(range, widths))]
        for y in product(*map(range, heights))
    ]
    return np.array(cells)


def sparse_counts(seed, *shape):
    """Counts with a value of each attribute, and a secret, that never occur."""
    counts = np.zeros(np.add(shape, 1), int)
    counts[tuple(slice(size) for size in shape)] = random_counts(seed, *shape)
    return counts


@settings(max_examples=40)
@given(SEEDS, SHAPES, NAMES, st.sampled_from(["0", "1e-7", "1e-6", "0.01", "0.3", "1", "2.5", "50", "inf"]), ZEROS)
def test_it_keeps_its_promise(seed, shape, name, eps, zeros):
    joint, notion = random_joint(seed, *shape, zeros=zeros), NOTIONS[name](eps)
    result = tr.product(joint, notion)
    exact = levels.worst_ratio(name, result.protocol.weights, joint.counts)
    assert result.certificate.holds
    assert result.certificate.level_exact == exact
    assert result.utility == pytest.approx(levels.mutual_information(result.protocol.weights, joint.counts), abs=1e-9)
    assert result.protocol.released == tuple(a.name for a in joint.release)
    assert sorted(result.stats["order"]) == sorted(a.name for a in joint.release)


@settings(max_examples=15)
@given(SEEDS, SHAPES, NAMES, st.sampled_from(["0", "0.3", "2", "inf"]))
def test_values_and_secrets_that_never_occur_change_nothing(seed, shape, name, eps):
    notion, padded = NOTIONS[name](eps), tr.Joint(sparse_counts(seed, *shape))
    result = tr.product(padded, notion)
    assert result.certificate.level_exact == levels.worst_ratio(name, result.protocol.weights, padded.counts)
    assert result.certificate.holds
    plain = tr.product(random_joint(seed, *shape), notion)
    assert result.utility == pytest.approx(plain.utility, abs=1e-6)


@settings(max_examples=15)
@given(SEEDS, SHAPES, NAMES, st.sampled_from(["0.1", "0.5", "2"]))
def test_never_above_the_joint_optimum(seed, shape, name, eps):
    joint, notion = random_joint(seed, *shape), NOTIONS[name](eps)
    assert tr.product(joint, notion).utility <= tr.design(joint, notion, time_limit=20).bound


@settings(max_examples=30)
@given(SEEDS, SHAPES, NAMES, st.sampled_from(["1/4", "1", "3"]), ZEROS)
def test_the_chain_rule(seed, shape, name, eps, zeros):
    """Plain sequential products keep the sum of their budgets, in every order and for unequal budgets."""
    joint, m = random_joint(seed, *shape, zeros=zeros), len(shape) - 1
    search, draw = Search(Factors(joint, NOTIONS[name](eps))), np.random.default_rng(seed)
    parts = [Fraction(int(k)) for k in draw.integers(1, 9, m)]
    split = [Fraction(eps) * part / sum(parts) for part in parts]
    order = draw.permutation(m).tolist()
    rows = search.sequential(tuple((j, split[j]) for j in order))
    level = NOTIONS[name]("inf").level(_dense(rows, joint), joint)
    assert level <= float(Fraction(eps)) + 1e-8


def _dense(rows, joint):
    """The product of float rows; all values occur."""
    from trechter.model.dense import DenseProtocol

    return DenseProtocol.from_matrix(together([rows[j] for j in range(len(rows))]), joint, bits=60)


@settings(max_examples=30)
@given(SEEDS, SHAPES, NAMES)
def test_the_conditions_of_a_factor_are_those_of_the_product(seed, shape, name):
    """A row of Qʲ keeps F w ≤ e^ε G w given all others iff the product that it makes does: by the definition, in a loop."""
    joint, m = random_joint(seed, *shape), len(shape) - 1
    factors, draw = Factors(joint, NOTIONS[name](1)), np.random.default_rng(seed)
    rows = {j: random_matrix(seed + j, 2, joint.shape[1 + j]) for j in range(m)}
    j = int(draw.integers(m))
    others = {i: Q for i, Q in rows.items() if i != j}
    F, G = (module._seen(T, j, others) for T in factors.conditions)
    over, under = F @ rows[j].T, G @ rows[j].T
    level = np.log(np.max(np.divide(over, under, out=np.ones_like(over), where=under > 0)))
    exact = levels.worst_ratio(name, together([rows[i] for i in range(m)]), joint.counts)
    assert (math.inf if exact is None else math.log(exact)) == pytest.approx(level, abs=1e-9)


@settings(max_examples=20)
@given(SEEDS, SHAPES, NAMES)
def test_utility_of_factors(seed, shape, name):
    joint = random_joint(seed, *shape)
    rows = {j: random_matrix(seed + j, 3, size) for j, size in enumerate(joint.shape[1:])}
    utility = Factors(joint, NOTIONS[name](1)).utility(rows)
    assert utility == pytest.approx(tr.mutual_information(joint, _dense(rows, joint)), abs=1e-9)


@pytest.mark.parametrize("name", sorted(NOTIONS))
def test_the_level_is_used_up(name):
    """Far above a plain sequential product, and at ε unless x itself is published."""
    for seed in range(4):
        joint, notion = uniform(seed, 2, 3, 3), NOTIONS[name]("0.5")
        result = tr.product(joint, notion)
        assert result.certificate.level == pytest.approx(0.5, abs=1e-9)
        assert result.utility > 1.02 * result.stats["sequential"]


@pytest.mark.parametrize("seed", range(3))
def test_no_single_factor_can_be_better(seed):
    """Every factor is the best given the others: no row-cone problem of one attribute gains more than it was stopped at."""
    joint, notion = uniform(seed, 2, 3, 3), tr.SRLIP(1)
    result, factors = tr.product(joint, notion), Factors(joint, notion)
    rows = dict(enumerate(_split(result.protocol, joint)))
    for j in rows:
        turned = {**rows, j: factors.given_others(j, {i: Q for i, Q in rows.items() if i != j})}
        assert factors.utility(turned) <= result.utility + 1e-5


def _split(protocol, joint):
    """The factors of a product of two: its marginals."""
    table = protocol.matrix.reshape(-1, *joint.shape[1:])
    outputs = [[output[j] for output in protocol.outputs] for j in range(2)]
    names = [list(dict.fromkeys(column)) for column in outputs]
    first = np.array([table[[o == name for o in outputs[0]]].sum(axis=0)[:, 0] for name in names[0]])
    second = np.array([table[[o == name for o in outputs[1]]].sum(axis=0)[0] for name in names[1]])
    return first, second


def test_against_the_best_of_a_grid():
    """Binary attributes: no product of a fine grid of 2 × 2 protocols that is private says more."""
    joint, epsilon = tr.Joint(np.array([[[2, 9], [5, 4]], [[1, 2], [10, 3]]])), 0.3
    ends = np.linspace(0, 1, 13)
    binary = [np.array([[a, b], [1 - a, 1 - b]]) for a in ends for b in ends if a >= b]
    factors, best = Factors(joint, tr.SRLIP("0.3")), 0.0
    F, G = factors.conditions
    for first in binary:
        for second in binary:
            over, under = (module._drawn(T, {0: first, 1: second}) for T in (F, G))
            if np.all(over <= math.exp(epsilon) * under + 1e-12):
                best = max(best, factors.utility({0: first, 1: second}))
    assert 0.01 < best <= tr.product(joint, tr.SRLIP("0.3")).utility


def test_perfect_privacy_in_exact_numbers():
    """LIP at ε = 0 leaves something to say in each attribute, and the order matters to how much."""
    result = tr.product(uniform(0, 2, 3, 3, 4), tr.LIP(0))
    assert result.certificate.level_exact == 1
    assert result.utility > 0.9


def test_one_attribute_is_its_optimum():
    joint, notion = random_joint(3, 3, 5), tr.LIP("0.4")
    assert tr.product(joint, notion).protocol == tr.design(joint, notion).protocol


def test_infinite_level_publishes_everything():
    joint = random_joint(2, 2, 3, 2)
    result = tr.product(joint, tr.SRLIP("inf"))
    assert result.utility == pytest.approx(tr.identity(joint, tr.LIP(1)).utility)


def test_attributes_that_tell_nothing_of_the_secret_are_published_whole():
    """X² is independent of (S, X¹), and given as it is."""
    counts = random_counts(4, 2, 4)
    joint = tr.Joint(counts[:, :, None] * np.array([3, 4, 5]))
    alone = tr.design(tr.Joint(counts), tr.LIP("0.3"))
    said = -sum(p * math.log(p) for p in (3 / 12, 4 / 12, 5 / 12))
    assert tr.product(joint, tr.LIP("0.3")).utility == pytest.approx(alone.utility + said, abs=1e-6)


def test_many_attributes_and_a_time_limit():
    joint = random_joint(7, 2, 2, 2, 2, 2)
    result = tr.product(joint, tr.SRLIP("0.5"))
    assert result.certificate.holds
    assert result.stats["tried"] > 4
    first = tr.product(joint, tr.SRLIP("0.5"), time_limit=0)
    assert first.stats["tried"] == 1
    assert first.stats["stopped"] == "time limit"
    assert 0 < first.utility <= result.utility


def test_what_is_tried():
    assert set(neighbours((0, 1, 2))) == set(permutations(range(3))) - {(0, 1, 2)}
    assert list(neighbours((0, 1, 2, 3))) == [(1, 0, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2)]
    for m in (2, 3, 5):
        every = list(splits(Fraction(1, 2), m))
        assert all(sum(split) == Fraction(1, 2) and min(split) >= 0 for split in every)
        assert len(set(every)) >= m + 1


def test_another_measure_is_reported():
    joint = random_joint(1, 2, 3, 2)
    result = tr.product(joint, tr.LIP(1), measure=tr.ChiSquareInformation())
    assert result.utility == tr.ChiSquareInformation().utility(joint, result.protocol)


def test_what_is_too_large_is_refused():
    with pytest.raises(tr.TrechterError, match="too large; put values into bins"):
        tr.product(tr.Joint(np.ones((2, 50, 40), int)), tr.LIP(1))
    with pytest.raises(tr.TrechterError, match="conditions of SRLIP"):
        tr.product(tr.Joint(np.ones((20, 4, 4, 4, 4, 4), int)), tr.SRLIP(1))


@pytest.mark.parametrize("limit", [-1, "soon", True])
def test_time_limits_that_make_no_sense(limit):
    with pytest.raises(tr.TrechterError, match="time_limit"):
        tr.product(random_joint(1, 2, 2, 2), tr.LIP(1), time_limit=limit)
