"""I(S;Y) of a protocol of integer weights in rigorous balls: what a limit on the average is decided by.

With n_sy = Σ_x N[s, x] w[y, x], T their sum, n_s and n_y the sums of rows and columns,

    I(S;Y) = Σ_sy (n_sy / T) ln( n_sy T / (n_s n_y) ).

A term whose quotient is 1 is exactly 0, so what does not depend on S has exactly no information about it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import flint

from trechter.exact import product
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint

FIRST_BITS = 128
MOST_BITS = 1 << 14  # a sum of logarithms that is not told from a rational number by so many is taken for unknown


def secret_information(protocol: DenseProtocol, joint: Joint) -> tuple[float, float]:
    """I(S;Y) of a protocol that reads x, rounded down and up."""
    return _outward(_information(_counted(protocol, joint), FIRST_BITS))


def leaks_at_most(protocol: DenseProtocol, joint: Joint, limit: Fraction) -> bool:
    """Whether I(S;Y) ≤ limit, certainly."""
    return _decided(protocol, joint, limit, lambda ball, bound: ball <= bound, lambda ball, bound: ball > bound)


def keeps_at_least(protocol: DenseProtocol, joint: Joint, limit: Fraction) -> bool:
    """Whether I(S;Y) ≥ limit, certainly."""
    return _decided(protocol, joint, limit, lambda ball, bound: ball >= bound, lambda ball, bound: ball < bound)


def _decided(protocol: DenseProtocol, joint: Joint, limit: Fraction, yes: Any, no: Any) -> bool:
    counts, bits = _counted(protocol, joint), FIRST_BITS
    while bits <= MOST_BITS:
        ball, bound = _information(counts, bits), _rational(limit, bits)
        if yes(ball, bound) or no(ball, bound):
            return bool(yes(ball, bound))
        bits *= 4
    return False


def _counted(protocol: DenseProtocol, joint: Joint) -> list[list[int]]:
    """n_sy, a row for each value of the secret."""
    found: list[list[int]] = product(joint.exact, protocol.integers.T).tolist()
    return found


def _information(counts: list[list[int]], bits: int) -> Any:
    with flint.ctx.workprec(bits):
        by_output = [sum(column) for column in zip(*counts, strict=True)]
        total, found = sum(by_output), flint.arb(0)
        for row in counts:
            whole = sum(row)
            for n, size in zip(row, by_output, strict=True):
                if n and n * total != whole * size:
                    found += flint.arb(n) / total * flint.arb(flint.fmpq(n * total, whole * size)).log()
        return found


def _rational(value: Fraction, bits: int) -> Any:
    with flint.ctx.workprec(bits):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _outward(ball: Any) -> tuple[float, float]:
    """Floats below and above a ball; what is exactly 0 stays 0."""
    if ball.is_zero():
        return 0.0, 0.0
    low, high = float(ball.lower()), float(ball.upper())
    return max(0.0, math.nextafter(low, -math.inf)), math.nextafter(high, math.inf)
