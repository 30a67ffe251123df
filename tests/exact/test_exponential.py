"""Bounds of e^ε and decisions against it, by the decimal module and by the fractions that come closest."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.oracles.exponential import convergents, exp

from trechter.exact import at_most_exp, exp_bounds, log_up

LEVELS = [Fraction(t) for t in ("1e-300", "1e-9", "1/1000", "1/3", "1", "3/2", "22/7", "50", "700", "2000")] + [Fraction(0.1)]
EPSILONS = st.fractions(min_value=Fraction(1, 10**6), max_value=80, max_denominator=10**6)


@pytest.mark.parametrize("epsilon", LEVELS, ids=str)
@pytest.mark.parametrize("bits", [1, 8, 96, 700])
def test_bounds_enclose_and_are_tight(epsilon, bits):
    low, up = exp_bounds(epsilon, bits)
    value = exp(epsilon, 1000)
    slack = value / Fraction(10) ** 999  # what the reference itself may be off by
    assert low <= value + slack
    assert value - slack <= up
    assert (up - low) * 2**bits <= low


@given(EPSILONS, st.integers(1, 400))
def test_bounds_enclose_at_any_level(epsilon, bits):
    low, up = exp_bounds(epsilon, bits)
    value = exp(epsilon, 300)
    slack = value / Fraction(10) ** 299
    assert low - slack <= value <= up + slack
    assert (up - low) * 2**bits <= low


@pytest.mark.parametrize("bits", [1, 96, 5000])
def test_bounds_at_zero_are_one(bits):
    assert exp_bounds(Fraction(0), bits) == (1, 1)


def test_refinement_only_narrows():
    epsilon = Fraction(2, 7)
    bounds = [exp_bounds(epsilon, bits) for bits in (8, 16, 96, 192, 384)]
    for (low, up), (finer_low, finer_up) in pairwise(bounds):
        assert low <= finer_low < finer_up <= up


@pytest.mark.parametrize("epsilon", [e for e in LEVELS if Fraction(1, 10) < e], ids=str)
def test_decisions_right_at_the_boundary(epsilon):
    """Convergents alternate around e^ε; those of 200 digits are some 10^-400 away, far beyond the first bounds."""
    found = convergents(epsilon, 200)
    assert len(found) > 100
    below, above = found[0::2], found[1::2]
    assert max(below) < min(above) < max(below) * (1 + Fraction(1, 10**390))
    assert all(at_most_exp(f.numerator, f.denominator, epsilon) for f in below)
    assert not any(at_most_exp(f.numerator, f.denominator, epsilon) for f in above)


@pytest.mark.parametrize("power", [9, 50, 300, 3000])
def test_decisions_for_tiny_levels(power):
    """1 + ε < e^ε < 1 + ε + ε² for 0 < ε < 1."""
    epsilon = Fraction(1, 10**power)
    for ratio, holds in ((1 + epsilon, True), (1 + epsilon + epsilon**2, False), (1 + epsilon / 2, True), (Fraction(1), True)):
        assert at_most_exp(ratio.numerator, ratio.denominator, epsilon) is holds


@given(st.integers(0, 10**30), st.integers(1, 10**30), EPSILONS)
@example(4, 2, Fraction(1, 2))  # equal bit lengths apart
@example(2**90 - 1, 2**88, Fraction(11, 10))
def test_decisions_agree_with_decimals(numerator, denominator, epsilon):
    assert at_most_exp(numerator, denominator, epsilon) is (Fraction(numerator, denominator) <= exp(epsilon, 80))


@given(st.integers(1, 60), st.integers(-3, 3), st.fractions(0, 3, max_denominator=40))
def test_the_short_cut_by_bit_lengths_is_right(power, shift, below):
    """Ratios just under powers of two, at levels around their logarithm to base 2 (where 2^ε and e^ε differ most)."""
    ratio = Fraction(2**200 - 1, 2 ** (200 - power))
    epsilon = max(Fraction(1, 50), power + shift - below)
    assert at_most_exp(ratio.numerator, ratio.denominator, epsilon) is (ratio <= exp(epsilon, 80))


def test_zeros_and_infinities():
    assert at_most_exp(0, 0, Fraction(0))
    assert at_most_exp(0, 5, Fraction(0))
    assert at_most_exp(5, 5, Fraction(0))
    assert not at_most_exp(6, 5, Fraction(0))
    assert not at_most_exp(1, 0, Fraction(10**6))
    assert at_most_exp(1, 0, None)
    assert at_most_exp(10**9, 1, None)


@pytest.mark.parametrize(("numerator", "denominator", "epsilon"), [(-1, 2, 1), (1, -2, 1), (-3, -2, 1), (3, 2, -1)])
def test_negative_numbers_are_no_answer(numerator, denominator, epsilon):
    """A negative weight must not pass for a small ratio."""
    with pytest.raises(ValueError, match=r"≥ 0"):
        at_most_exp(numerator, denominator, Fraction(epsilon))


@pytest.mark.parametrize(
    "epsilon", [Fraction(10**6), Fraction(10**1000), Fraction(1, 10**1000), Fraction(1e-300), Fraction(0.3)]
)
def test_decisions_are_quick_at_any_size(epsilon):
    start = time.perf_counter()
    assert at_most_exp(1, 1, epsilon)
    assert at_most_exp(10**30 + 1, 10**30, epsilon) is (epsilon > Fraction(1, 10**20))
    assert at_most_exp(10**3000, 1, epsilon) is (epsilon > 10**5)
    assert time.perf_counter() - start < 1


@given(st.fractions(min_value=1, max_value=10**12))
def test_log_up_is_an_upper_bound_and_tight(ratio):
    check_log_up(ratio, 60)


@pytest.mark.parametrize(
    "ratio",
    [
        1 + Fraction(1, 10**400),
        1 + Fraction(1, 2**53),
        2 - Fraction(1, 2**80),
        Fraction(3) ** 3000,
        Fraction(3) ** 3000 / 2**4000,
        Fraction(10**400 + 1, 3),
    ],
    ids=["tiny", "ulp", "two", "vast", "vast integers", "beyond floats"],
)
def test_log_up_far_out(ratio):
    check_log_up(ratio, 420)


def check_log_up(ratio, digits):
    """e^level reaches the ratio, and 1e-15 less would not."""
    level = log_up(ratio)
    less = math.nextafter(level * (1 - 1e-15), 0)
    assert at_least(level, ratio, digits)
    assert ratio == 1 or not at_least(less, ratio, digits)


def at_least(level, ratio, digits):
    return bool(exp(Fraction(level), digits) >= ratio)


def test_log_up_of_no_and_of_all_leakage():
    assert log_up(Fraction(1)) == 0
    assert log_up(Fraction(1, 2)) == 0
    assert log_up(None) == math.inf


@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 0.1, 0.5, 1.0, 2.0, 7.3, 50.0, 690.0])
def test_the_level_of_what_holds_is_no_float_above(epsilon):
    """ln of the largest ratio below e^ε, for a float ε, is ε itself; of one above it is the next float."""
    below, above = exp_bounds(Fraction(epsilon))
    assert log_up(below) <= epsilon < log_up(above) <= math.nextafter(epsilon, math.inf)
