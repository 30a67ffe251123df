"""Numbers in words: limits are rounded to the side on which they stay true."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trechter.report.charts import OddsScale
from trechter.report.numbers import NOISE, at_most, factor, number, odds, odds_down, odds_up, quotient, share

DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
INSIDE = st.floats(1e-9, 1 - 1e-9)


def value(text: str) -> Fraction:
    mantissa, _, power = text.replace(",", "").partition(" × 10")
    return Fraction(mantissa) * Fraction(10) ** int(power.translate(DIGITS) or 0)


def probability(text: str) -> Fraction:
    left, right = map(value, text.split(" : "))
    return left / (left + right)


@given(st.floats(1e-300, 1e300), st.integers(1, 12))
def test_rounding_up_and_to_the_nearest(x, digits):
    up, near = value(at_most(x, digits)), value(number(x, digits))
    assert up >= Fraction(x)
    assert up <= Fraction(x) * (1 + Fraction(10) ** (1 - digits))
    assert abs(near - Fraction(x)) <= Fraction(x) * Fraction(10) ** (1 - digits) / 2


@given(INSIDE)
@example(0.5)
@example(0.1)
@example(1 / 101)
def test_odds_enclose(p):
    exact, slack = Fraction(p), 1 + Fraction(3 * NOISE)
    assert probability(odds_down(p)) <= exact * slack
    assert probability(odds_up(p)) * slack >= exact
    ratio = Fraction(p) / (1 - Fraction(p))
    for text in (odds(p), odds_up(p), odds_down(p)):
        left, right = map(value, text.split(" : "))
        assert 0.99 < left / right / ratio < 1.01
        assert 1 in (left, right)


@pytest.mark.parametrize("text", ["1 : 9", "4 : 1", "1 : 1", "1 : 999"])
def test_odds_that_are_whole_stay_whole(text):
    p = float(probability(text))
    assert odds(p) == odds_up(p) == odds_down(p) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (1e-9, "<0.001%"),
        (1 - 1e-9, ">99.99%"),
        (0.12345, "12.3%"),
        (0.00123, "0.12%"),
        (0.99961, "99.96%"),
        (0.0101, "1.0%"),
    ],
)
def test_shares(p, text):
    assert share(p) == text


@given(st.floats(0, 1))
def test_only_certainty_is_called_so(p):
    assert (share(p) == "0%") == (p == 0)
    assert (share(p) == "100%") == (p == 1)


def test_extremes():
    assert odds(0) == "0 : 1 (impossible)"
    assert odds(1) == "1 : 0 (certain)"
    assert number(math.inf) == "∞"
    assert number(math.nan) == "unknown"
    assert number(3.2e-9, 2) == "3.2 × 10⁻⁹"
    assert factor(0) == "a factor 1"
    assert factor(1) == "a factor 2.72"
    assert "too large" in factor(800)


def test_long_quotients_are_abbreviated():
    assert quotient(Fraction(3, 7)) == "3 / 7"
    assert quotient(Fraction(5)) == "5"
    assert quotient(None) == "∞"
    assert quotient(Fraction(10**40 + 1, 7)) == "1000000000…0001 (41 digits) / 7"


@given(st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1, max_size=6))
def test_a_scale_of_odds_has_room_and_order(found):
    scale = OddsScale.over(found)
    places = [scale.place(p) for p in sorted(found)]
    assert 0 < places[0] <= places[-1] < 1
    assert places == sorted(places)
    assert scale.place(0) == 0
    assert scale.place(1) == 1
    marks = [scale.place(p) for p in scale.ticks()]
    assert all(0 <= mark <= 1 for mark in marks)
    assert all(right - left > 0.19 for left, right in pairwise(marks))


def test_on_a_scale_of_odds_a_factor_is_a_step():
    scale = OddsScale.over([0.001, 0.9])
    by_ten = [scale.place(10**k / (1 + 10**k)) for k in (-2, -1, 0)]
    assert by_ten[2] - by_ten[1] == pytest.approx(by_ten[1] - by_ten[0])
    assert by_ten[1] > by_ten[0]


@pytest.mark.parametrize("p", [1e-12, 1e-13, 1e-29, 1e-300, 5e-324])
def test_odds_of_what_hardly_ever_happens(p):
    """A finite but vast ε allows odds with more digits than can be written."""
    for text in (odds(p), odds_up(p), odds_down(p)):
        assert len(text) < 24
        assert 1 in [Fraction(1) if side == "1" else 0 for side in text.split(" : ")]
    if p > 1e-300:
        assert probability(odds_down(p)) <= Fraction(p) * (1 + Fraction(3 * NOISE))
        assert probability(odds_up(p)) * (1 + Fraction(3 * NOISE)) >= Fraction(p)


def test_limits_near_certainty_stay_limits():
    """Here one unit in the last place of p is a tenth of 1 − p."""
    for E in (1e8, 1e10, 1e14, 4.3e15, 1e16):
        p = 2 * E / (2 * E + 1)
        assert odds_up(p) == "1 : 0 (certain)" or value(odds_up(p).split(" : ")[0]) * (1 + Fraction(1, 10**7)) >= 2 * E
        assert odds_down(p) == "1 : 0 (certain)" or value(odds_down(p).split(" : ")[0]) <= 2 * E
