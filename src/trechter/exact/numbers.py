"""Numbers taken for exactly what they are: a float is its binary value, a text its decimal or quotient."""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction

from trechter.errors import NotionError

Exact = int | str | Decimal | Fraction | float

INFINITE = ("inf", "infinity", "∞")


def as_fraction(value: object) -> Fraction:
    """The exact value of a finite number; raises ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, (str, Decimal, numbers.Real)):
        raise ValueError(f"{value!r} is not a number")
    if isinstance(value, (int, str, Decimal, numbers.Rational)):
        try:
            return Fraction(value)
        except (ZeroDivisionError, OverflowError) as error:
            raise ValueError(f"{value!r} is not a finite number") from error
    if not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    return Fraction(float(value))


def epsilon_from(value: object) -> Fraction | None:
    """A privacy level as an exact number ≥ 0; None is ∞, which asks for nothing."""
    text = value.strip().lower() if isinstance(value, str) else value
    if text in INFINITE or (isinstance(text, (float, Decimal)) and text == math.inf):
        return None
    try:
        epsilon = as_fraction(text)
    except ValueError:
        raise NotionError(
            f"ε = {value!r} is not a number ≥ 0; write for example 0.5, '1/3' or 'inf'"
        ) from None
    if epsilon < 0:
        raise NotionError(f"ε = {value} is negative; a privacy level is 0 (perfect privacy) or more")
    return epsilon


def epsilon_text(epsilon: Fraction | None) -> str:
    """The exact text of a level, which `epsilon_from` reads back."""
    return "inf" if epsilon is None else str(epsilon)
