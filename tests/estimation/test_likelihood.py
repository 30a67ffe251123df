"""Maximum likelihood against EM itself, and against its certificate; ranges against another solver."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binomtest
from tests.conftest import random_matrix

from trechter.estimation.likelihood import gradient, most_likely
from trechter.estimation.ranges import ranges
from trechter.estimation.released import Released


def expectation_maximisation(q, counts, steps=20_000):
    """The textbook's: every row shares itself out among the letters, again and again."""
    p = np.full(q.shape[1], 1 / q.shape[1])
    for _ in range(steps):
        p = p * gradient(q, counts / counts.sum(), p)
    return p


def value(q, counts, p):
    seen = counts > 0
    return counts[seen] @ np.log(q[seen] @ p)


@pytest.mark.parametrize(("b", "a", "n"), [(4, 4, 50), (6, 6, 5000), (12, 5, 800), (3, 8, 300), (1, 3, 10)])
def test_as_likely_as_em_finds_and_certified(b, a, n):
    draw, q = np.random.default_rng(b * a), random_matrix(a, b, a)
    shares = q @ draw.dirichlet(np.full(a, 0.3))
    counts = draw.multinomial(n, shares / shares.sum()).astype(float)
    p, lacking = most_likely(q, counts)
    em = expectation_maximisation(q[counts > 0], counts[counts > 0])
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1)
    assert 0 <= lacking <= 1e-6
    assert value(q, counts, em) <= value(q, counts, p) + lacking + 1e-9 * n
    assert value(q, counts, p) == pytest.approx(value(q, counts, em), abs=1e-3)


def test_with_an_inverse_and_inside_it_is_the_inversion():
    q, p = random_matrix(3, 4, 4), np.array([0.1, 0.2, 0.3, 0.4])
    found, _ = most_likely(q, 1e6 * (q @ p))
    assert found == pytest.approx(p, abs=1e-6)


@pytest.mark.parametrize("n", [10**3, 10**7])
def test_a_hundred_values(n):
    draw, q = np.random.default_rng(0), random_matrix(0, 100, 100)
    counts = draw.multinomial(n, q @ draw.dirichlet(np.full(100, 0.2))).astype(float)
    p, lacking = most_likely(q, counts)
    assert lacking <= 1e-6
    assert n * np.log(gradient(q[counts > 0], counts[counts > 0] / n, p).max()) == pytest.approx(lacking, abs=1e-6)


@pytest.mark.parametrize(("b", "a"), [(3, 6), (4, 4), (2, 5)])
def test_ranges_are_those_of_another_solver(b, a):
    q, draw = random_matrix(b + a, b, a), np.random.default_rng(0)
    counts = draw.multinomial(700, q @ draw.dirichlet(np.ones(a)))
    cells = np.array([np.arange(a) == 0, np.arange(a) >= a - 2])
    low, high = ranges(Released(counts, np.zeros(b, int), q, np.zeros((b, a), object)), cells)
    box = [binomtest(int(k), 700).proportion_ci(1 - 0.05 / b) for k in counts]
    upper, lower = np.array([c.high for c in box]), np.array([c.low for c in box])
    for k, cell in enumerate(cells):
        for end, sign in ((low[k], 1), (high[k], -1)):
            found = linprog(sign * cell, np.vstack([q, -q]), np.append(upper, -lower), np.ones((1, a)), [1], bounds=(0, 1))
            assert end == pytest.approx(sign * found.fun, abs=1e-6)


def test_what_fits_nothing_leaves_everything_open():
    """Two outputs that every letter gives equally often, but one of them 99 times in a hundred."""
    q = np.full((2, 3), 0.5)
    low, high = ranges(Released(np.array([990, 10]), np.zeros(2, int), q, np.zeros((2, 3), object)), np.eye(3, dtype=bool))
    assert (low.tolist(), high.tolist()) == ([0, 0, 0], [1, 1, 1])
