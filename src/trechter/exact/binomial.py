"""Limits of a proportion that hold with a stated confidence (Clopper and Pearson), rounded outward.

With k of n successes, `P(Bin(n, p) ≥ k) = I_p(k, n − k + 1)` increases with p, so the least p that k does not refute is where
it is α. Its logarithm is concave, so Newton's steps from below stay below: each is a limit already, and the next a better one.
The incomplete beta function is evaluated in balls, and a step is taken only if it certainly is at most α.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import flint

from trechter.exact.numbers import as_fraction

FINE = 1e-9  # how near the limit is near enough, relatively
SLACK = 0.3  # standard deviations
SHORT = 1 - 1e-6


def lower_limit(successes: int, trials: int, alpha: object) -> Fraction:
    """At most the p with P(Bin(n, p) ≥ k) = α: all smaller p are refuted with confidence 1 − α."""
    level = _checked(successes, trials, alpha)
    if successes == 0:
        return Fraction(0)
    for start in _starts(successes, trials, max(float(as_fraction(alpha)), 1e-300)):
        found, p = 0.0, start
        while p > found * (1 + FINE) and (tail := _tail(successes, trials, p)) <= level:
            found, p = p, p + _step(successes, trials, p, level, tail)
        if found:
            return Fraction(found)
    return Fraction(0)


def upper_limit(successes: int, trials: int, alpha: object) -> Fraction:
    """At least the p with P(Bin(n, p) ≤ k) = α: all larger p are refuted with confidence 1 − α."""
    return 1 - lower_limit(trials - successes, trials, alpha)


def limits(successes: int, trials: int, alpha: object) -> tuple[Fraction, Fraction]:
    """Both, which hold together with confidence 1 − α."""
    half = as_fraction(alpha) / 2
    return lower_limit(successes, trials, half), upper_limit(successes, trials, half)


def _starts(k: int, n: int, alpha: float) -> tuple[float, float]:
    """A normal approximation with some slack; and a p that is surely too small, since the tail is at most (e n p / k)^k."""
    angle = math.asin(math.sqrt(k / n)) + (NormalDist().inv_cdf(alpha) - SLACK) / math.sqrt(4 * n)
    return math.sin(max(0.0, angle)) ** 2, k / (math.e * n) * math.exp(math.log(alpha) / k)


def _step(k: int, n: int, p: float, level: Any, tail: Any) -> float:
    """Newton's step for the logarithm of the tail, a little less for what floats lose."""
    density = math.lgamma(n + 1) - math.lgamma(k) - math.lgamma(n - k + 1) + (k - 1) * math.log(p) + (n - k) * math.log1p(-p)
    return SHORT * float((level / tail).log()) * math.exp(float(tail.log()) - density)


def _tail(successes: int, trials: int, p: float) -> Any:
    return flint.arb(p).beta_lower(successes, trials - successes + 1, regularized=True)


def _ball(value: Fraction) -> Any:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _checked(successes: int, trials: int, alpha: object) -> Any:
    level = as_fraction(alpha)
    if not 0 <= successes <= trials or not 0 < level <= Fraction(1, 2):
        raise ValueError(f"limits need 0 ≤ k ≤ n and 0 < α ≤ 1/2, got k = {successes}, n = {trials}, α = {alpha}")
    return _ball(level)
