"""How far a distribution may be from what was counted, with a stated confidence: radii, rounded up to short decimals.

    χ²:  Σ (P̂−P)²/P ≤ q/n,  KL:  Σ P̂ ln(P̂/P) ≤ q/2n,      q the 1 − α quantile of χ² with k − 1 degrees of freedom (as n → ∞)
    total variation:  ‖P̂−P‖₁ ≤ √(2 ln((2^k−2)/α)/n)                                          (for every n)

for k cells and n rows. Everything is evaluated in balls, and a radius is only ever rounded up: the set gets no smaller.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import flint

DIGITS = 12  # of a radius
FINE = Fraction(1, 10**13)  # by how much a quantile may be too large, relatively
STEPS = 60


def chi_square_radius(cells: int, n: Fraction, alpha: Fraction) -> Fraction:
    """At least q/n."""
    return rounded_up(chi_square_quantile(cells - 1, alpha) / n)


def kullback_leibler_radius(cells: int, n: Fraction, alpha: Fraction) -> Fraction:
    """At least q/2n."""
    return rounded_up(chi_square_quantile(cells - 1, alpha) / (2 * n))


def total_variation_radius(cells: int, n: Fraction, alpha: Fraction) -> Fraction:
    """At least √(2 ln((2^k−2)/α)/n), and at most 2, which is no restriction."""
    squared = 2 * ball((2**cells - 2) / alpha).log() / ball(n) if cells > 1 else flint.arb(0)
    return min(rounded_up(above(squared.sqrt())), Fraction(2))


def chi_square_quantile(degrees: int, alpha: Fraction) -> Fraction:
    """At least the q that a χ² variable of so many degrees of freedom passes with probability α, and hardly more."""
    if degrees == 0:
        return Fraction(0)
    low, high = Fraction(0), Fraction(_start(degrees, float(alpha)))
    while not _passed(degrees, high, alpha):
        low, high = high, 2 * high
    for _ in range(STEPS):
        if high - low <= FINE * high:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if _passed(degrees, middle, alpha) else (middle, high)
    return high


def _passed(degrees: int, q: Fraction, alpha: Fraction) -> bool:
    """Whether a χ² variable certainly is above q with probability at most α."""
    return bool((ball(q) / 2).gamma_upper(ball(Fraction(degrees, 2)), regularized=1) <= ball(alpha))


def _start(degrees: int, alpha: float) -> float:
    """Wilson and Hilferty's approximation, a little more."""
    spread = 2 / (9 * degrees)
    root = 1 - spread - NormalDist().inv_cdf(max(alpha, 1e-300)) * math.sqrt(spread)
    return float(round(degrees * max(root, 0.1) ** 3 * 1.01 + 0.01, 6))


def rounded_up(value: Fraction, digits: int = DIGITS) -> Fraction:
    """The least decimal of so many digits that is not below a value ≥ 0."""
    if value == 0:
        return value
    size = len(str(value.numerator)) - len(str(value.denominator))
    scale = Fraction(10) ** (digits - size)
    return Fraction(math.ceil(value * scale)) / scale


def ball(value: Fraction) -> Any:
    """A rational as a ball."""
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def above(value: Any) -> Fraction:
    """A rational that is not below a ball."""
    mantissa, exponent = value.upper().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
