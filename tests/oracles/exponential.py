"""e^ε to any precision by the decimal module, and the fractions that come closest to it."""

from __future__ import annotations

import decimal
from fractions import Fraction


def exp(epsilon: Fraction, digits: int) -> Fraction:
    """e^ε, off by less than a unit in the last of `digits` significant digits (two spare ones for ε itself)."""
    with decimal.localcontext() as context:
        context.prec = digits + 10 + len(str(abs(int(epsilon))))
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        return Fraction((decimal.Decimal(epsilon.numerator) / epsilon.denominator).exp())


def convergents(epsilon: Fraction, digits: int) -> list[Fraction]:
    """The continued fraction of e^ε as far as `digits` digits surely know it: alternately below and above."""
    value, terms = exp(epsilon, 3 * digits + int(epsilon)), []
    found: list[Fraction] = []
    while not found or found[-1].denominator < 10**digits:
        terms.append(value.numerator // value.denominator)
        value = 1 / (value - terms[-1])
        found.append(folded(terms))
    return found


def folded(terms: list[int]) -> Fraction:
    """a₀ + 1/(a₁ + 1/(a₂ + …))."""
    value = Fraction(terms[-1])
    for term in reversed(terms[:-1]):
        value = term + 1 / value
    return value
