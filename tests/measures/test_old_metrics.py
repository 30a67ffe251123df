"""The older metrics: LDP(Q) towards X in exact numbers, and the error of unbiased inversion."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_joint, random_matrix
from tests.measures.test_priv import bits, grr, protocol

import trechter as tr

SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.integers(2, 6), st.integers(1, 6))
@settings(max_examples=50)
def test_level_is_that_of_the_notion(seed, a, b):
    Q = protocol(random_matrix(seed, b, a))
    found = tr.ldp_level(Q)
    level = tr.LDP("inf", protect="x").level(Q, random_joint(seed, 2, a))
    assert found.value == pytest.approx(level, rel=1e-9, abs=1e-12)
    rows = Q.weights
    assert found.ratio == max(Fraction(int(w), int(v)) for row in rows for w in row for v in row)


def test_levels_at_the_ends():
    assert tr.ldp_level(grr(5, 1.5)).value == pytest.approx(1.5, abs=1e-9)
    assert (tr.ldp_level(protocol(np.eye(3))).value, tr.ldp_level(protocol(np.eye(3))).ratio) == (math.inf, None)
    assert (tr.ldp_level(protocol(np.ones((2, 3)) / 2)).value, tr.ldp_level(bits(3, 5, 5)).ratio) == (0, 1)
    assert tr.ldp_level(protocol(np.ones((1, 1)))).value == 0
    with pytest.raises(tr.TrechterError, match="reads x"):
        tr.ldp_level(tr.design(random_joint(1, 2, 2), tr.LIP(1), reads="sx").protocol)


@given(st.integers(0, 64), st.integers(0, 64), st.integers(2, 4))
def test_level_of_bits_is_that_of_their_list(p, q, a):
    unary = bits(a, p, q, 6)
    assert tr.ldp_level(unary) == tr.ldp_level(unary.explicit())


def test_a_tiny_level_keeps_its_digits():
    whole = 1 << 60
    own = random_joint(1, 2, 2)
    weights = np.array([[whole // 2 + 1, whole // 2], [whole // 2 - 1, whole // 2]], object)
    Q = tr.Protocol.KINDS["dense"](weights, 60, (0, 1), own.secret, own.release)
    assert tr.ldp_level(Q).value == pytest.approx(2.0**-59, rel=1e-9)


def simulated(Q, R, prior, n, times, seed=0):
    """Σ_x (f̂_x − f_x)² of simulated releases: mean and standard error."""
    random, errors = np.random.default_rng(seed), []
    for _ in range(times):
        f = random.multinomial(n, random.dirichlet(prior))
        outputs = sum(random.multinomial(f[x], Q[:, x]) for x in range(len(f)))
        errors.append(((R @ outputs - f) ** 2).sum() / n**2)
    return np.mean(errors), np.std(errors) / math.sqrt(times)


@pytest.mark.parametrize("b", [3, 5])
def test_accuracy_is_that_of_simulated_releases(b):
    prior = np.array([1.0, 2.0, 0.5])
    Q = protocol(random_matrix(4, b, 3)).matrix
    weighted = Q / (Q @ prior / prior.sum())[:, None]
    R = np.linalg.solve(weighted.T @ Q, weighted.T)
    assert pytest.approx(np.eye(3), abs=1e-9) == R @ Q
    found = tr.accuracy(protocol(Q), 200, prior=prior).value
    mean, error = simulated(Q, R, prior, 200, 4000)
    assert abs(found - mean) < 5 * error < 0.2 * mean
    assert abs(1.3 * found - mean) > 5 * error


def test_accuracy_of_bits_is_that_of_simulated_releases():
    unary, prior, n, random = bits(4, 512, 150), np.ones(4), 300, np.random.default_rng(0)
    p, q, _, _ = unary.shares
    errors = []
    for _ in range(3000):
        f = random.multinomial(n, random.dirichlet(prior))
        ones = random.binomial(f, p) + random.binomial(n - f, q)
        errors.append((((ones / n - q) / (p - q) - f / n) ** 2).sum())
    found, error = tr.accuracy(unary, n).value, np.std(errors) / math.sqrt(3000)
    assert abs(found - np.mean(errors)) < 5 * error
    assert abs(1.3 * found - np.mean(errors)) > 5 * error
    assert tr.accuracy(unary.explicit(), n).value <= found  # all bits together know that shares sum to 1


def test_accuracy_at_the_ends():
    assert tr.accuracy(protocol(np.eye(4)), 7).value == pytest.approx(0, abs=1e-15)
    assert tr.accuracy(protocol(np.ones((1, 4))), 7).value == math.inf
    assert tr.accuracy(bits(4, 9, 9), 7).value == math.inf
    E = math.exp(1.5)
    p, q = E / (E + 3), 1 / (E + 3)
    known = (p * (1 - p) + 3 * q * (1 - q)) / (100 * (p - q) ** 2)  # of GRR, in the literature
    assert tr.accuracy(grr(4, 1.5), 100).value == pytest.approx(known, rel=1e-9)
