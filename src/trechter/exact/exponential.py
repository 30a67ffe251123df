"""Rational bounds of e^ε and exact decisions against it.

For rational ε ≠ 0 the number e^ε is irrational, so rational bounds that are refined when needed decide every
comparison with a rational number. The bounds are the partial sums of Σ εⁿ/n! in fixed point, rounded down and up.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

FIRST_BITS = 96


@lru_cache(maxsize=256)
def exp_bounds(epsilon: Fraction, bits: int = FIRST_BITS) -> tuple[Fraction, Fraction]:
    """L ≤ e^ε ≤ U with U/L − 1 less than 2^-bits for ε ≥ 0; L = U = 1 at ε = 0."""
    if epsilon < 0:
        raise ValueError(f"bounds of e^ε are for ε ≥ 0, not for {epsilon}")
    if epsilon == 0:
        return Fraction(1), Fraction(1)
    p, q, guard = epsilon.numerator, epsilon.denominator, 4 + (bits + int(epsilon)).bit_length()
    one = 1 << (bits + guard)  # each of a few times bits + ε terms is rounded
    low = up = term_low = term_up = one
    n = 0
    while n < 2 * epsilon or term_up > 1:
        n += 1
        term_low = term_low * p // (q * n)
        term_up = -(-term_up * p // (q * n))
        low, up = low + term_low, up + term_up
    # From here on each term is at most half the one before, so the tail is at most the last term.
    return Fraction(low, one), Fraction(up + term_up, one)


def at_most_exp(numerator: int, denominator: int, epsilon: Fraction | None) -> bool:
    """Decide numerator/denominator ≤ e^ε for integers ≥ 0; a zero denominator is +∞ (0/0 asks for nothing)."""
    if min(numerator, denominator) < 0:
        raise ValueError(f"{numerator}/{denominator} is no ratio of probabilities: both must be ≥ 0")
    if epsilon is None or numerator <= denominator:
        return True
    if denominator == 0 or epsilon == 0:
        return False
    if epsilon >= 1 + numerator.bit_length() - denominator.bit_length():  # the ratio is below 2 to that power
        return True
    bits = FIRST_BITS
    while True:
        low, up = exp_bounds(epsilon, bits)
        if numerator * low.denominator <= denominator * low.numerator:
            return True
        if numerator * up.denominator > denominator * up.numerator:
            return False
        bits *= 2


def log_up(ratio: Fraction | None) -> float:
    """The least float that is at least ln(ratio); None is ∞."""
    if ratio is None:
        return math.inf
    if ratio <= 1:
        return 0.0
    excess, shift = ratio - 1, max(0, ratio.numerator.bit_length() - ratio.denominator.bit_length() - 1000)
    guess = math.log1p(excess) if excess < 1 else math.log(ratio / (1 << shift)) + shift * math.log(2)

    def enough(level: float) -> bool:
        return at_most_exp(ratio.numerator, ratio.denominator, Fraction(level))

    while enough(lower := math.nextafter(guess, 0)):
        guess = lower
    while not enough(guess):
        guess = math.nextafter(guess, math.inf)
    return guess
