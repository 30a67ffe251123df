"""Limits of a proportion: the exact binomial sums for small n, scipy's for large ones."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from trechter.exact import limits, lower_limit, upper_limit

ALPHAS = st.sampled_from([Fraction(1, 2), Fraction(1, 20), Fraction(1, 40), Fraction(1, 10**6)])


def tail(k, n, p):
    """P(Bin(n, p) ≥ k), term by term."""
    return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))


@settings(max_examples=60)
@given(st.integers(1, 30), st.data(), ALPHAS)
def test_limits_are_where_the_tails_are_alpha(n, data, alpha):
    k = data.draw(st.integers(0, n))
    low, high = lower_limit(k, n, alpha), upper_limit(k, n, alpha)
    assert 0 <= low <= Fraction(k, n) <= high <= 1
    if k in (0, n):
        assert (low if k == 0 else 1 - high) == 0
    if k:  # no further in than it may be, and no further out than it must be
        assert tail(k, n, low) <= alpha < tail(k, n, low * (1 + Fraction(1, 10**5)))
    if k < n:
        inner = 1 - (1 - high) * (1 + Fraction(1, 10**5))
        assert 1 - tail(k + 1, n, high) <= alpha < 1 - tail(k + 1, n, inner)


@pytest.mark.parametrize(
    ("k", "n"), [(0, 10**6), (1, 10**6), (7, 10**4), (5000, 10**4), (9999, 10**4), (10**6 // 3, 10**6), (10**6, 10**6)]
)
@pytest.mark.parametrize("alpha", [0.025, 1e-9])
def test_limits_of_many_trials(k, n, alpha):
    low, high = (float(v) for v in (lower_limit(k, n, alpha), upper_limit(k, n, alpha)))
    assert low == pytest.approx(beta.ppf(alpha, k, n - k + 1) if k else 0, rel=1e-6)
    assert 1 - high == pytest.approx(beta.ppf(alpha, n - k, k + 1) if k < n else 0, rel=1e-6)


def test_the_interval_covers():
    """Exactly: over all k, the chance that p is outside is at most α, and not by much less (power)."""
    n, p, alpha = 200, 0.13, 0.05
    outside = sum(binom.pmf(k, n, p) for k in range(n + 1) if not limits(k, n, alpha)[0] <= p <= limits(k, n, alpha)[1])
    assert 0.02 < outside <= alpha


@pytest.mark.parametrize(("k", "n", "alpha"), [(-1, 5, 0.1), (6, 5, 0.1), (1, 5, 0), (1, 5, 0.6), (1, 5, -0.1)])
def test_limits_that_make_no_sense(k, n, alpha):
    with pytest.raises(ValueError, match="0 ≤ k ≤ n"):
        lower_limit(k, n, alpha)


def test_no_trials_say_nothing():
    assert (lower_limit(0, 0, 0.05), upper_limit(0, 0, 0.05)) == (0, 1)
