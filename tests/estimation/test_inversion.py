"""Unbiased inversion: the expectation is the truth, and what has no inverse is found by exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import random_matrix

from trechter.estimation.inversion import coefficients, expected_errors, identified, linear
from trechter.estimation.likelihood import most_likely
from trechter.estimation.released import Released

EQUAL = np.full(4, 0.25)


def released(*matrices, rows=1000):
    """A release for each matrix, of that many rows on average spread over its outputs."""
    counts = [np.maximum(1, np.rint(rows * q.mean(axis=1))).astype(int) for q in matrices]
    release = np.repeat(np.arange(len(matrices)), [len(q) for q in matrices])
    stacked = np.concatenate(matrices)
    return Released(np.concatenate(counts), release, stacked, np.rint(stacked * 2**30).astype(int).astype(object))


@pytest.mark.parametrize(("b", "a"), [(4, 4), (9, 4), (20, 6), (2, 2)])
def test_unbiased(b, a):
    """Σ_y ã_y Q[y, i] is 1 in the cell and 0 outside: so E θ̂ = θ, whatever p is."""
    q = random_matrix(b, b, a)
    cells = np.array([np.arange(a) == 0, np.arange(a) > 1])
    assert coefficients(released(q), cells, np.full(a, 1 / a)) @ q == pytest.approx(cells.astype(float), abs=1e-9)


def test_several_releases_are_unbiased_together_and_surer_than_each():
    first, second = random_matrix(1, 5, 4), random_matrix(2, 7, 4)
    cells, both = np.eye(4, dtype=bool), released(first, second, rows=500)
    pooled, _ = both.pooled
    a = coefficients(both, cells, EQUAL)
    assert a @ pooled == pytest.approx(np.eye(4), abs=1e-9)
    errors = expected_errors(a, both, cells)
    for one in (first, second):
        alone = released(one, rows=500)
        assert np.all(errors < expected_errors(coefficients(alone, cells, EQUAL), alone, cells))


def test_how_many_rows_each_release_has_is_no_chance():
    """The variance of θ̂ given the sizes, by simulation."""
    first, second, p = random_matrix(1, 5, 3), random_matrix(2, 4, 3), np.array([0.2, 0.5, 0.3])
    draw, cells, found, errors = np.random.default_rng(0), np.eye(3, dtype=bool), [], []
    for _ in range(300):
        counts = np.concatenate([draw.multinomial(n, q @ p) for n, q in ((300, first), (900, second))])
        seen = Released(counts, np.repeat([0, 1], [5, 4]), np.concatenate([first, second]), np.zeros((9, 3), object))
        linear_found = linear(coefficients(seen, cells, p), counts.astype(float))
        found.append(linear_found.shares)
        errors.append(linear_found.errors)
    spread = np.std(found, axis=0)
    assert np.all(np.abs(np.mean(found, axis=0) - p) < 4 * spread / np.sqrt(300))
    assert np.mean(errors, axis=0) == pytest.approx(spread, rel=0.13)


def rank(rows):
    """Gaussian elimination in fractions."""
    rows, found = [[Fraction(int(v)) for v in row] for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in range(found, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for r in range(found + 1, len(rows)):
            factor = rows[r][column] / rows[found][column]
            rows[r] = [x - factor * y for x, y in zip(rows[r], rows[found], strict=True)]
        found += 1
    return found


@pytest.mark.slow
def test_coverage_where_the_coefficients_are_chosen_by_the_data():
    """More outputs than values, two releases: 95 % of 2,000 simulations, as if the coefficients had been known."""
    first, second, p = random_matrix(1, 6, 4), random_matrix(2, 9, 4), np.array([0.55, 0.3, 0.13, 0.02])
    draw, cells, held = np.random.default_rng(0), np.eye(4, dtype=bool), []
    for _ in range(2000):
        counts = np.concatenate([draw.multinomial(n, q @ p / (q @ p).sum()) for n, q in ((700, first), (1800, second))])
        seen = Released(counts, np.repeat([0, 1], [6, 9]), np.concatenate([first, second]), np.zeros((15, 4), object))
        likely, _ = most_likely(seen.matrix, counts.astype(float))
        found = linear(coefficients(seen, cells, likely), counts.astype(float))
        held.append((found.low <= p) & (p <= found.high))
    assert np.all(np.abs(np.mean(held, axis=0) - 0.95) < 0.016)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.integers(1, 5))
def test_identified_is_what_elimination_in_fractions_finds(seed, b, a, inner):
    draw = np.random.default_rng(seed)
    weights = (draw.integers(0, 2**40, (b, inner)) @ draw.integers(0, 3, (inner, a)).astype(object)).astype(object)
    cells = draw.random((3, a)) < 0.5
    known, full = identified(weights, cells)
    whole = rank(weights.tolist())
    assert full == (whole == a)
    assert known.tolist() == [rank([*weights.tolist(), cell.astype(int).tolist()]) == whole for cell in cells]


def test_floats_could_not_have_told():
    """Two columns that differ in the last of 48 bits are told apart in integers; what floats make of them is not used."""
    weights = np.array([[2**47, 2**47 + 1], [2**47, 2**47 - 1]], object)
    known, full = identified(weights, np.eye(2, dtype=bool))
    assert known.all()
    assert full
    seen = Released(np.array([500, 500]), np.zeros(2, int), weights.astype(float) / 2**48, weights)
    cells = np.eye(2, dtype=bool)
    assert np.isinf(expected_errors(coefficients(seen, cells, np.full(2, 0.5)), seen, cells)).all()


def test_large_matrices_are_decided_modulo_a_prime():
    draw = np.random.default_rng(0)
    weights = draw.integers(0, 2**20, (210, 250)).astype(object)
    weights[:, 1] = weights[:, 0]
    known, full = identified(weights, np.vstack([np.ones(250, bool), np.arange(250) < 2]))
    assert (full, known.tolist()) == (False, [False, False])
    known, _ = identified(np.vstack([weights, np.ones((1, 250), object)]), np.vstack([np.ones(250, bool)]))
    assert known.tolist() == [True]
