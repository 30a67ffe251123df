"""Drift: whether a set of distributions around old counts has the shares P of new ones in it, so that what holds all over the
set holds for the new counts as they are.

The distance of P from the old shares P̂ is decided against the radius in fractions, for Kullback–Leibler in balls rounded up:

    χ²  Σ (P̂−P)²/P      KL  Σ P̂ ln(P̂/P)      total variation  Σ |P̂−P|      boxes  how far the worst P(s,x) is outside its own
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import flint

from trechter.audit.worlds import BITS
from trechter.exact.radii import above, ball
from trechter.model.over import Region

Pairs = list[tuple[Fraction, Fraction]]  # P̂ and P of each cell


def distance(region: Region, counts: list[int]) -> Fraction | None:
    """How far the shares of other counts are from those in the middle of a set (boxes: from the inside); None is ∞.

    They are in the set if that is at most its radius.
    """
    old, new = sum(region.counts), sum(counts)
    shares = [Fraction(m, new) for m in counts]
    if region.low:
        outside = (max(low - p, p - high) for p, low, high in zip(shares, region.low, region.high, strict=True))
        return max(Fraction(0), *outside)
    pairs = [(Fraction(n, old), p) for n, p in zip(region.counts, shares, strict=True)]
    return DISTANCES[region.name](pairs)


def _chi_square(pairs: Pairs) -> Fraction | None:
    if any(old and not new for old, new in pairs):
        return None
    return sum(((old - new) ** 2 / new for old, new in pairs if new), Fraction(0))


def _kullback_leibler(pairs: Pairs) -> Fraction | None:
    if any(old and not new for old, new in pairs):
        return None
    with flint.ctx.workprec(BITS):
        found = sum((ball(old) * ball(old / new).log() for old, new in pairs if old), flint.arb(0))
        return max(Fraction(0), above(found))


def _total_variation(pairs: Pairs) -> Fraction | None:
    return sum((abs(old - new) for old, new in pairs), Fraction(0))


DISTANCES: dict[str, Callable[[Pairs], Fraction | None]] = {
    "chi-square": _chi_square,
    "kullback-leibler": _kullback_leibler,
    "total-variation": _total_variation,
}
