"""Numbers are taken for exactly what they are, or refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from trechter.errors import NotionError
from trechter.exact import as_fraction, at_most_exp, epsilon_from, epsilon_text

TENTH = Fraction(1, 10)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Fraction(3)),
        ("3/7", Fraction(3, 7)),
        (" 0.1 ", TENTH),
        ("1e-3", Fraction(1, 1000)),
        (Decimal("0.1"), TENTH),
        (0.1, Fraction(3602879701896397, 2**55)),
        (5e-324, Fraction(1, 2**1074)),
        (np.float64(0.1), Fraction(0.1)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
        (np.longdouble(1) + np.finfo(np.longdouble).eps, 1 + Fraction(*np.finfo(np.longdouble).eps.as_integer_ratio())),
        (np.int64(-4), Fraction(-4)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (Fraction(2, 6), Fraction(1, 3)),
        ("1e4000", Fraction(10**4000)),
    ],
    ids=str,
)
def test_exact_values(value, expected):
    found = as_fraction(value)
    assert found == expected
    assert type(found.numerator) is type(found.denominator) is int


NO_NUMBERS = ["", "x", "\u0663", "nan", "1/0", "0x1", "1e999999999", "1E-999999999", float("nan"), np.float64("nan")]
NO_NUMBERS += [Decimal("nan"), Decimal("sNaN"), Decimal("1e999999999"), True, None, 1j, [1], b"1"]
INFINITE = ["inf", " Infinity", float("inf"), np.float32("inf"), Decimal("Infinity"), np.inf]


@pytest.mark.parametrize("value", [*NO_NUMBERS, *INFINITE], ids=repr)
def test_what_is_no_finite_number_is_refused_at_once(value):
    with pytest.raises(ValueError, match="is not a "):
        as_fraction(value)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_is_no_level(value):
    with pytest.raises(NotionError, match="ε = "):
        epsilon_from(value)


@pytest.mark.parametrize("value", ["∞", *INFINITE], ids=repr)
def test_infinite_levels(value):
    assert epsilon_from(value) is None


@pytest.mark.parametrize("value", [-1, "-0.5", "-inf", float("-inf"), Decimal("-Infinity"), np.float64(-1e-300)], ids=repr)
def test_negative_levels(value):
    with pytest.raises(NotionError, match="ε = "):
        epsilon_from(value)


@pytest.mark.parametrize("value", ["0", "1/3", "0.1", 0.1, "1e-300", 1e-300, "inf", "1e3000"])
def test_levels_as_text_read_back_exactly(value):
    assert epsilon_from(epsilon_text(epsilon_from(value))) == epsilon_from(value)


def test_numpy_integers_do_not_overflow_later():
    """Fraction keeps a numpy numerator, which then wraps or fails in the first large product."""
    epsilon = epsilon_from(np.int64(2))
    assert at_most_exp(738905609893065022, 10**17, epsilon)
    assert not at_most_exp(738905609893065023, 10**17, epsilon)
