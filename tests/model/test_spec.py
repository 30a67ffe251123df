"""What a promise looks like to people, however small or vast its level is."""

from fractions import Fraction

import pytest

from trechter.model.spec import VAST, Spec


@pytest.mark.parametrize(
    ("epsilon", "shown"),
    [
        (None, "inf"),
        ("0", "0"),
        ("0.5", "0.5"),
        ("1/3", "1/3"),
        ("0.1", "0.1"),
        ("1000", "1000"),
        ("1e-9", "1e-09"),
        ("123456789/1000000000000", "0.000123456789"),
        ("0.4999999999999", "0.4999999999999"),
        (0.1, "0.1"),
        (Fraction(10**20, 3 * 10**20 - 1), "0.3333333333333333"),
        ("1e-300", "1.00000E-300"),
        ("1e-2000", "1.00000E-2000"),
        ("1.23456789e2000", "1.23457E+2000"),
    ],
)
def test_levels_in_words(epsilon, shown):
    spec = Spec("lip", None if epsilon is None else Fraction(epsilon))
    assert spec.level_text == shown
    assert repr(spec) == f"LIP({shown})"
    assert Spec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(None, VAST), ("0", 0), ("1/2", 0.5), ("699", 699), ("1e4000", VAST), ("1e-4000", 0)]
)
def test_levels_for_formulas(epsilon, expected):
    assert Spec("ldp", None if epsilon is None else Fraction(epsilon)).exponent == expected
