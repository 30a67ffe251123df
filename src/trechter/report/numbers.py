"""Numbers as the report writes them. A limit is rounded to the side on which it stays true."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction

WRITTEN_OUT = 1e12  # odds beyond this are given as a power of ten: nobody reads, and no float holds, all their digits
TOLD_APART = 1e10  # floats near 1 are too coarse to say on which side of a limit greater odds are
NOISE = 1e-12  # what floats lose on the way; a directed rounding must not take it for a digit
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 4, rounding: str = ROUND_HALF_EVEN) -> str:
    """A number with so many significant digits."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "unknown"
    exact = Decimal(value)
    if exact.is_zero():
        return "0"
    short = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding)
    if not -4 <= short.adjusted() < max(digits, 7):
        mantissa = _plain(short.scaleb(-short.adjusted()))
        return f"{mantissa} × 10{str(short.adjusted()).translate(SUPERSCRIPTS)}"
    return _plain(short)


def at_most(value: float, digits: int = 4) -> str:
    """A number rounded up."""
    return number(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int = 4) -> str:
    """A number rounded down."""
    return number(value, digits, ROUND_FLOOR)


def count(value: float) -> str:
    """A number of rows."""
    return f"{value:,.0f}"


def share(p: float) -> str:
    """A probability in percent; 0% and 100% are said only of what is impossible or certain."""
    if p <= 0 or p >= 1:
        return "0%" if p <= 0 else "100%"
    if p < 1e-5 or p > 0.9999:
        return "<0.001%" if p < 1e-5 else ">99.99%"
    return f"{100 * p:.1f}%" if 0.01 <= p < 0.9995 else f"{100 * p:.2f}%" if p > 0.5 else f"{100 * p:.2g}%"


def odds(p: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """A probability as odds: 0.2 is "1 : 4"."""
    if p <= 0 or p >= 1:
        return "0 : 1 (impossible)" if p <= 0 else "1 : 0 (certain)"
    if p > 0.5:
        return _likely(p / (1 - p), rounding)
    opposite = {ROUND_CEILING: ROUND_FLOOR, ROUND_FLOOR: ROUND_CEILING}.get(rounding, rounding)
    return f"1 : {_ratio((1 - p) / p, opposite)}"


def odds_up(p: float) -> str:
    """Odds that are at most this, rounded up."""
    return odds(p, ROUND_CEILING)


def odds_down(p: float) -> str:
    """Odds that are at least this, rounded down."""
    return odds(p, ROUND_FLOOR)


def factor(exponent: float) -> str:
    """e to this power, rounded up."""
    return (
        f"a factor {at_most(math.exp(exponent) * (1 - NOISE), 3)}" if exponent < 30 else "a factor too large to limit anything"
    )


def quotient(value: Fraction | None, most: int = 20) -> str:
    """An exact number, the middle of long ones left out."""
    if value is None:
        return "∞"
    parts = [str(value.numerator)] + ([] if value.denominator == 1 else [str(value.denominator)])
    return " / ".join(_abbreviated(part, most) for part in parts)


def duration(seconds: float) -> str:
    """A time."""
    return f"{number(seconds, 2)} s" if seconds >= 0.1 else f"{number(1000 * seconds, 2)} ms"


def _likely(ratio: float, rounding: str) -> str:
    if ratio > TOLD_APART and rounding == ROUND_CEILING:
        return "1 : 0 (certain)"
    return f"{_ratio(min(ratio, TOLD_APART) if rounding == ROUND_FLOOR else ratio, rounding)} : 1"


def _ratio(ratio: float, rounding: str) -> str:
    shift = {ROUND_CEILING: 1 - NOISE, ROUND_FLOOR: 1 + NOISE}.get(rounding, 1)
    ratio = max(1.0, ratio * shift)
    whole = len(str(int(ratio))) if ratio < WRITTEN_OUT else 0
    return number(ratio, max(3, whole), rounding)


def _plain(value: Decimal) -> str:
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _abbreviated(digits: str, most: int) -> str:
    if len(digits) <= most:
        return digits
    return f"{digits[: most // 2]}…{digits[-4:]} ({len(digits)} digits)"
