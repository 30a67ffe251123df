"""Rounding keeps privacy: the theorem at exactly the level that a matrix has, with no slack for anyone to hide in."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles.levels import worst_ratio

from trechter.exact import at_most_exp, bits_needed, log_up, product, round_columns, round_rays
from trechter.exact.rounding import margins
from trechter.geometry.rays import extreme_rays
from trechter.measures import MutualInformation
from trechter.model.joint import Joint
from trechter.optimal import vertices
from trechter.optimal.design import make_problem
from trechter.optimal.problem import Budget
from trechter.privacy import NOTIONS

SEEDS = st.integers(0, 10**9)
TARGETS = [1e-6, 1e-4, 0.01, 0.2, 0.6931471805599453, 0.7, 2.0, 10.0, 50.0]


def shares(Q):
    """The exact shares that a float matrix stands for."""
    exact = [[Fraction(float(q)) for q in row] for row in Q]
    sums = [sum(column) for column in zip(*exact, strict=True)]
    return [[q / total for q, total in zip(row, sums, strict=True)] for row in exact]


def mixed(seed, b, a, c, target):
    """Counts and a matrix whose levels are near a target: random, mixed with a constant; some letters never give some y."""
    draw = np.random.default_rng(seed)
    N = draw.integers(0, 30, (c, a)) + np.eye(c, a, dtype=int)
    Q = draw.dirichlet(np.full(b, 0.3), a).T * (draw.random((b, a)) > 0.1) + 1e-3
    q = draw.dirichlet(np.full(b, 0.5))
    low, high = 0.0, 1.0
    for _ in range(20):
        t = (low + high) / 2
        level = float_level((1 - t) * Q / Q.sum(axis=0) + t * q[:, None], N)
        low, high = (low, t) if level < target else (t, high)
    return N, (1 - high) * Q / Q.sum(axis=0) + high * q[:, None]


def float_level(Q, N):
    given_s = Q @ (N / N.sum(axis=1, keepdims=True)).T
    return float(np.log(given_s.max(axis=1) / given_s.min(axis=1)).max())


@given(
    SEEDS,
    st.sampled_from([1, 2, 3, 7, 40]),
    st.sampled_from(TARGETS),
    st.sampled_from(["lip", "ldp"]),
    st.sampled_from([0, 1, 5, None]),
)
def test_whatever_is_private_stays_private(seed, b, target, name, spare):
    """At its own exact level, even with the fewest bits that leave any room."""
    N, Q = mixed(seed, b, 4, 3, target)
    worst = worst_ratio(name, shares(Q), N)
    epsilon = max(Fraction(log_up(worst)), Fraction(1, 10**12))
    weights = round_columns(Q, epsilon, bits_for(epsilon, b, spare))
    after = worst_ratio(name, weights, N)
    assert at_most_exp(after.numerator, after.denominator, epsilon)


def bits_for(epsilon, b, spare):
    """The least bits that leave room and some more; None is what Trechter itself uses."""
    d, D = margins(epsilon, b)
    return bits_needed(epsilon, b) if spare is None else max(1, (d * (b - 1) + D).bit_length() + spare)


@cache
def vertex_matrix(seed, name, target):
    """A matrix most of whose rows sit on the boundary of the cone, as solvers give them."""
    draw = np.random.default_rng(seed)
    joint = Joint(draw.integers(1, 40, (2 + seed % 2, 4)))
    problem = make_problem(joint, NOTIONS[name](target), MutualInformation(), "x")
    rows = vertices.solve(problem, Budget()).rows
    return joint.counts, rows / rows.sum(axis=0)


@pytest.mark.parametrize("name", ["lip", "ldp"])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(4))
def test_rows_on_the_boundary_stay_private(name, target, seed):
    N, Q = vertex_matrix(seed, name, target)
    worst = worst_ratio(name, shares(Q), N)
    if worst is None or worst == 1:
        return
    epsilon = Fraction(log_up(worst))
    for spare in (0, 2, None):
        after = worst_ratio(name, round_columns(Q, epsilon, bits_for(epsilon, len(Q), spare)), N)
        assert at_most_exp(after.numerator, after.denominator, epsilon)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("b", [2, 3, 6])
def test_neither_margin_could_be_less(target, b):
    """Two letters that are the secret itself, rows at the bound: what one column loses, nothing else makes good."""
    for seed in range(60):
        draw = np.random.default_rng(seed)
        v = (draw.random() if seed % 2 else 1) / (np.exp(target) + 1)  # at 1 the other rows are at the bound as well
        first = np.array([v * np.exp(target), v])
        Q = np.vstack([first, draw.dirichlet(np.ones(b - 1))[:, None] * np.maximum(1 - first, v)])
        epsilon = Fraction(log_up(worst_ratio("ldp", shares(Q), np.eye(2, dtype=int))))
        weights = round_columns(Q, epsilon, bits_for(epsilon, b, 7)).tolist()
        assert all(at_most_exp(max(row), min(row), epsilon) for row in weights)


def test_naive_rounding_often_violates():
    """Power: the same matrices, rounded to the nearest integers over 2^48, are often no longer private."""
    broken = tried = 0
    for name in ("lip", "ldp"):
        for target in TARGETS:
            for seed in range(4):
                N, Q = vertex_matrix(seed, name, target)
                worst = worst_ratio(name, shares(Q), N)
                if worst is None or worst == 1:
                    continue
                after = worst_ratio(name, naive(Q, 48), N)
                tried += 1
                broken += not at_most_exp(after.numerator, after.denominator, Fraction(log_up(worst)))
    assert tried >= 40
    assert broken >= tried // 4


def naive(Q, bits):
    weights = np.rint(Q * 2.0**bits).astype(np.int64)
    weights[0] += 2**bits - weights.sum(axis=0)
    return weights


def test_the_first_row_needs_its_margin():
    """Power: rounding without margins breaks the promise, so the theorem is not true of everything."""
    broken = 0
    for seed in range(40):
        N, Q = mixed(seed, 7, 4, 3, 0.2)
        worst = worst_ratio("ldp", shares(Q), N)
        after = worst_ratio("ldp", round_columns(Q, None, 12), N)
        broken += not at_most_exp(after.numerator, after.denominator, Fraction(log_up(worst)))
    assert broken > 10


@given(
    SEEDS,
    st.integers(1, 40),
    st.sampled_from(["1e-300", "1e-6", "0.3", "50", "1e6", "inf"]),
    st.sampled_from([0, 13, 14, 60, 700]),
)
def test_weights_are_shares_near_the_matrix(seed, b, epsilon, spare):
    """Non-negative, exact sums, and no entry moves by more than the margins and the flooring."""
    draw = np.random.default_rng(seed)
    Q = draw.dirichlet(np.full(b, 0.2), 5).T
    Q[:, 0] = np.eye(b)[:, -1]  # a column without the row that takes the rounding
    level = None if epsilon == "inf" else Fraction(epsilon)
    bits = bits_needed(level, b) + spare
    weights = round_columns(Q, level, bits).astype(object)
    assert weights.min() >= 0
    assert list(weights.sum(axis=0)) == [2**bits] * 5
    assert all(type(w) is int for w in weights.ravel())
    d, D = margins(level, b)
    most = Fraction(2 * (d * (b - 1) + D) + b + 1, 2**bits)
    moved = [
        abs(Fraction(w, 2**bits) - q)
        for row, exact in zip(weights, shares(Q), strict=True)
        for w, q in zip(row, exact, strict=True)
    ]
    assert max(moved) <= most < Fraction(1, 2**30)


@pytest.mark.parametrize("bits", [61, 62, 63, 64, 200])
def test_weights_at_the_edge_of_machine_words(bits):
    """Sums of 62-bit weights do not wrap around."""
    Q = np.full((40, 3), 1 / 40)
    weights = round_columns(Q, Fraction(1), bits)
    assert weights.dtype == (np.int64 if bits <= 62 else object)
    assert [sum(column) for column in weights.T.tolist()] == [2**bits] * 3


@pytest.mark.parametrize("entry", [np.nan, np.inf, -1e-30])
def test_what_is_no_matrix_of_probabilities(entry):
    for column in ([entry, 1.0], [0.0, 0.0]):
        with pytest.raises(ValueError, match="probabilities"):
            round_columns(np.array([column, [0.5, 0.5]]).T, Fraction(1), 48)


def test_too_few_bits_say_so():
    with pytest.raises(ValueError, match="more bits"):
        round_columns(np.full((5, 2), 0.2), Fraction(1, 10**6), 20)


@given(SEEDS, st.sampled_from([(2, 4), (2, 6), (3, 6)]), st.sampled_from([8, 48, 90]), st.floats(0.5, 1.0000001))
def test_rays_keep_equalities_exactly(seed, shape, bits, fill):
    """Perfect privacy survives rounding, even where the scales overdraw a little, and with rays of large integers."""
    draw = np.random.default_rng(seed)
    joint = Joint(draw.integers(1, 20, shape))
    cone = NOTIONS["lip"](0).cone(joint, "x", exact=True)
    rays = extreme_rays(cone.active)
    rays = np.array([[int(v) for v in ray] for ray in rays], object)
    draws = draw.dirichlet(np.ones(len(rays)))
    scale = draws * fill / float(max(draws @ rays.astype(float))) * rays.max(axis=1).astype(float)
    weights = round_rays(rays, scale, bits + int(rays.max()).bit_length())
    assert weights.min() >= 0
    assert set(weights.sum(axis=0)) == {2 ** (bits + int(rays.max()).bit_length())}
    assert worst_ratio("lip", weights, joint.counts) == 1
    assert len(rays) > 1
    assert weights[:-1].any()


@given(SEEDS, st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.sampled_from([3, 40, 62, 300]))
def test_products_of_any_size(seed, n, m, k, bits):
    draw = np.random.default_rng(seed)
    left, right = (
        np.array([[int(v) << bits >> 3 for v in row] for row in draw.integers(-9, 9, shape).tolist()], object)
        for shape in ((n, m), (m, k))
    )
    expected = [[sum(left[i, j] * right[j, l] for j in range(m)) for l in range(k)] for i in range(n)]
    assert product(left, right).tolist() == expected
    if bits <= 40:
        assert product(left.astype(np.int64), right.astype(np.int64).T.copy().T).tolist() == expected


def test_products_take_integers_only():
    ones = np.ones((2, 2), np.int64)
    assert product(np.array([[np.int64(2)] * 2] * 2, object), ones).tolist() == [[4, 4], [4, 4]]
    assert product(ones[:0], ones).shape == (0, 2)
    for wrong in (np.full((2, 2), 0.5), np.full((2, 2), Fraction(1, 2), object), np.full((2, 2), "1", object)):
        with pytest.raises(TypeError):
            product(wrong, ones)
