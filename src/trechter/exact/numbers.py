"""Numbers taken for exactly what they are: a float is its binary value, a text its decimal or quotient."""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from fractions import Fraction

from trechter.errors import NotionError

INFINITE = ("inf", "infinity", "∞")
MOST_DIGITS = 4000  # of an exponent's effect; longer integers than that are no longer written as text either


def as_fraction(value: object) -> Fraction:
    """The exact value of a finite number; raises ValueError for anything else."""
    if isinstance(value, numbers.Rational) and not isinstance(value, bool):
        return Fraction(int(value.numerator), int(value.denominator))  # numpy's would overflow
    if isinstance(value, (str, Decimal)):
        return _from_text(str(value))
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    return Fraction(*getattr(value, "as_integer_ratio", float(value).as_integer_ratio)())


def _from_text(text: str) -> Fraction:
    """Decimals and quotients; an exponent beyond any use would only fill the memory."""
    exponent = re.search(r"e([+-]?\d+)\s*$", text, re.IGNORECASE)
    if not text.isascii() or (exponent and abs(int(exponent[1])) > MOST_DIGITS):
        raise ValueError(f"{text!r} is not a number in plain digits, or beyond any reasonable size")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{text!r} is not a finite number") from None


def epsilon_from(value: object) -> Fraction | None:
    """A privacy level as an exact number ≥ 0; None is ∞, which asks for nothing."""
    text = str(value).strip().lower() if isinstance(value, (str, Decimal)) else value
    if text in INFINITE or (isinstance(text, numbers.Real) and text == math.inf):
        return None
    try:
        epsilon = as_fraction(text)
    except ValueError:
        raise NotionError(f"ε = {value!r} is not a number ≥ 0; write for example 0.5, '1/3' or 'inf'") from None
    if epsilon < 0:
        raise NotionError(f"ε = {value} is negative; a privacy level is 0 (perfect privacy) or more")
    return epsilon


def epsilon_text(epsilon: Fraction | None) -> str:
    """The exact text of a level, which `epsilon_from` reads back."""
    return "inf" if epsilon is None else str(epsilon)
