"""Limits of a proportion that hold with a stated confidence (Clopper and Pearson), rounded outward.

With k of n successes, `P(Bin(n, p) ≥ k) = I_p(k, n − k + 1)` increases with p, so the least p that k does not refute is where
it is α. The incomplete beta function is evaluated in balls: a limit is moved only where the comparison is certain.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint

from trechter.exact.numbers import as_fraction

FINE = Fraction(1, 10**9)  # how near the limit is near enough, relatively


def lower_limit(successes: int, trials: int, alpha: object) -> Fraction:
    """At most the p with P(Bin(n, p) ≥ k) = α: all smaller p are refuted with confidence 1 − α."""
    level = _checked(successes, trials, alpha)
    low, high = Fraction(0), Fraction(successes, max(trials, 1))
    while high - low > FINE * high:
        middle = (low + high) / 2
        if _tail(successes, trials, middle) <= level:  # certainly: a ball that overlaps is not
            low = middle
        else:
            high = middle
    return low


def upper_limit(successes: int, trials: int, alpha: object) -> Fraction:
    """At least the p with P(Bin(n, p) ≤ k) = α: all larger p are refuted with confidence 1 − α."""
    return 1 - lower_limit(trials - successes, trials, alpha)


def limits(successes: int, trials: int, alpha: object) -> tuple[Fraction, Fraction]:
    """Both, which hold together with confidence 1 − α."""
    half = as_fraction(alpha) / 2
    return lower_limit(successes, trials, half), upper_limit(successes, trials, half)


def _tail(successes: int, trials: int, p: Fraction) -> Any:
    return _ball(p).beta_lower(successes, trials - successes + 1, regularized=True)


def _ball(value: Fraction) -> Any:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _checked(successes: int, trials: int, alpha: object) -> Any:
    level = as_fraction(alpha)
    if not 0 <= successes <= trials or not 0 < level <= Fraction(1, 2):
        raise ValueError(f"limits need 0 ≤ k ≤ n and 0 < α ≤ 1/2, got k = {successes}, n = {trials}, α = {alpha}")
    return _ball(level)
