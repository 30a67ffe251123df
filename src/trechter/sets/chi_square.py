"""χ²: F = {P : Σ (P̂−P)²/P ≤ B}, or Σ P̂²/P ≤ B + 1; the set of paper 004.

    δ*(v) = min_{μ ≥ max v} μ − S²/(B+1),  S = Σ P̂√(μ−v);     worst is P = (S/(B+1)) P̂/√(μ−v), where S·Σ P̂/√(μ−v) = B + 1

If a cell with P̂ = 0 has the largest v and the root μ is below that, μ = max v and the cell takes what the others leave.

For two disjoint events the conditionals R₁, R₂ range over H₁ + H₂ ≤ √(B+1) − 1 + P̂(A) + P̂(B) with H² = Σ P̂²/R (paper 004,
Theorem 3). Each side is of the form above, with slope dδ*/dH = 2S²/H³; the worst split of the budget has equal slopes. In the
logarithms of slope and budget both are nearly linear in s = ln(μ − max v), so Newton's method needs a handful of steps.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from trechter.sets.events import Events, Worst
from trechter.sets.ratio import worst_by_levels
from trechter.sets.roots import root
from trechter.sets.uncertainty import Around, Array, UncertaintySet

LEAST, MOST = -80.0, 60.0  # of s = ln((μ − max v) / spread)
NEWTON = 18  # steps in both sides at once
LONGEST = 3.0  # of these steps
SHORTER = 0.3  # is a step that led no nearer
CLOSE = 1e-11


class ChiSquare(UncertaintySet):
    """All P whose χ² distance from the counts is at most B."""

    name = "chi-square"

    def support(self, around: Around, v: Array) -> Array:
        """P ∝ P̂/√(μ−v), one root μ for each row of v."""
        p = np.broadcast_to(around.p, v.shape)
        side = Side.of(p, v, np.ones(v.shape, bool))
        worst = side.worst(side.at(side.of_budget(_budget(around.radius)))) if around.radius > 0 else np.array(p)
        worst[side.flat] = p[side.flat]
        return worst

    def worst(self, around: Around, events: Events, rows: Array, factor: float) -> Worst:
        """Two sides that share the budget √(B+1) − 1; events that meet are asked one level at a time."""
        if not events.disjoint or around.radius == 0:
            return worst_by_levels(around.support, around.p, events, rows, factor)
        shape = len(rows), len(events)
        sides, values = [], []
        for (cells, real), weight in ((events.cells_over, 1.0), (events.cells_under, -factor)):
            v = weight * rows[:, cells].reshape(-1, cells.shape[1])
            p = np.tile(np.where(real, around.p[cells], 0), (len(rows), 1))
            sides.append(Side.of(p, v, np.tile(real, (len(rows), 1))))
            values.append(v)
        over, under = (side.worst(at) for side, at in zip(sides, _shared(sides[0], sides[1], around.radius), strict=True))
        excess = (over * values[0]).sum(axis=1) + (under * values[1]).sum(axis=1)
        return Worst(over.reshape(*shape, -1), under.reshape(*shape, -1), excess.reshape(shape))


@dataclass(frozen=True, eq=False)
class At:
    """One side at μ = top + e^s: S, T, the budget H = mass + extra, ln of the slope 2S²/H³, and how they change with s."""

    z: Array
    S: Array
    H: Array
    extra: Array
    extra_slope: Array
    log_slope: Array
    log_slope_slope: Array


@dataclass(frozen=True, eq=False)
class Side:
    """Maximise R·v over {R : Σ P̂²/R ≤ H²}, for many v at once; `real` says which columns are cells."""

    p: Array
    v: Array
    real: NDArray[np.bool_]
    mass: Array
    top: Array  # the largest v where P̂ > 0
    scale: Array
    floor: Array  # s is no smaller: below it μ is at the largest v of all, and the budget grows by itself
    flat: NDArray[np.bool_]  # nothing to gain
    heaviest: NDArray[np.intp]
    start: Array

    @classmethod
    def of(cls, p: Array, v: Array, real: NDArray[np.bool_]) -> Side:
        """What does not depend on μ."""
        seen, every = np.where(p > 0, v, -np.inf), np.where(real, v, -np.inf)
        top, most = seen.max(axis=1), every.max(axis=1)
        low = np.where(p > 0, v, np.inf).min(axis=1)
        size = np.maximum(np.abs(v).max(axis=1), 1e-300)
        spread = np.where(top - low > 1e-14 * size, top - low, 0)
        hidden = np.where(most - top > 1e-14 * size, most - top, 0)  # what a cell that never occurred is above the others
        scale = np.where(spread > 0, spread, np.where(hidden > 0, hidden, size))
        with np.errstate(divide="ignore"):
            floor = np.log(hidden / scale)
        start = np.where((spread == 0) & (hidden > 0), -1.0, 0.0)
        flat, heaviest = (spread == 0) & (hidden == 0), every.argmax(axis=1)
        return cls(p, v, real, p.sum(axis=1), top, scale, floor, flat, heaviest, start)

    def some(self, which: NDArray[np.intp]) -> Side:
        """Some of the questions."""
        return Side(*(getattr(self, field.name)[which] for field in fields(self)))

    def at(self, s: Array) -> At:
        """Everything at s; what is below the floor keeps μ, and its budget grows as e^(floor − s)."""
        high = np.maximum(s, self.floor)
        lack = np.where(np.isfinite(self.floor), np.maximum(self.floor - s, 0), 0)
        gap = self.scale * np.exp(np.minimum(high, 600))
        z2 = np.maximum(gap[:, None] + np.where(self.p > 0, self.top[:, None] - self.v, 0), 1e-150)
        z = np.sqrt(z2)
        share = self.p / self.mass[:, None]
        S1, T1, U1 = (share * z).sum(axis=1), (share / z).sum(axis=1), (share / (z * z2)).sum(axis=1)
        beyond = (share * (z - S1[:, None]) ** 2 / z).sum(axis=1) / S1  # S T / mass² − 1, without cancellation
        H0 = self.mass * np.sqrt(1 + beyond)
        extra0 = self.mass * beyond / (np.sqrt(1 + beyond) + 1)
        grown, free = np.exp(lack), lack > 0
        H = H0 * grown
        with np.errstate(all="ignore"):
            slope = gap * (self.mass / (4 * H0)) * self.mass * (T1**2 - S1 * U1)  # dH/ds = (S'T + ST')/2H
            log_slope = np.log(2) + 0.5 * np.log(S1) - 1.5 * np.log(T1) - np.log(self.mass) - 3 * lack
            rate = gap * (0.25 * T1 / S1 + 0.75 * U1 / T1)
        extra = np.where(free, H - self.mass, extra0)
        return At(z, S1 * self.mass, H, extra, np.where(free, -H, slope), log_slope, np.where(free, 3.0, rate))

    def of_budget(self, extra: float) -> Array:
        """s at this budget; larger s need less."""

        def lacking(s: Array) -> tuple[Array, Array]:
            at = self.at(s)
            with np.errstate(all="ignore"):
                return np.where(self.flat, 0, np.log(extra) - np.log(at.extra)), -at.extra_slope / at.extra

        low, high = np.full(len(self.top), LEAST), np.full(len(self.top), MOST)
        return root(lacking, low, high, self.start)

    def of_slope(self, log_slope: Array, start: Array) -> Array:
        """s at this slope."""

        def beyond(s: Array) -> tuple[Array, Array]:
            at = self.at(s)
            return at.log_slope - log_slope, at.log_slope_slope

        low, high = np.full(len(self.top), LEAST), np.full(len(self.top), MOST)
        return root(beyond, low, high, start)

    def worst(self, at: At) -> Array:
        """R = (S/H²) P̂/√(μ−v), the rest on the heaviest cell."""
        R = (at.S / at.H**2)[:, None] * self.p / at.z
        sums = R.sum(axis=1)
        hidden = np.isfinite(self.floor) & (sums < 1)
        R = np.where(hidden[:, None], R, R / sums[:, None])
        R[hidden, self.heaviest[hidden]] += 1 - sums[hidden]
        return np.asarray(R)


def _shared(one: Side, two: Side, radius: float) -> tuple[At, At]:
    """Both sides at equal slopes and together at the whole budget: by Newton's method in both, where that ends; else by
    nested roots, which always end."""
    target = float(np.log(_budget(radius)))
    s, t, lost = _newton(one, two, target)
    if len(lost):
        s[lost], t[lost] = _nested(one.some(lost), two.some(lost), target)
    return one.at(s), two.at(t)


def _newton(one: Side, two: Side, target: float) -> tuple[Array, Array, NDArray[np.intp]]:
    """Places on both sides, and for which questions they are not the answer; a step that leads no nearer is shortened."""
    place, step = np.array([one.start, two.start]), np.zeros((2, len(one.top)))
    base, nearest = place, np.full(len(one.top), np.inf)
    for _ in range(NEWTON):
        a, b = one.at(place[0]), two.at(place[1])
        with np.errstate(all="ignore"):
            total = a.extra + b.extra
            apart = np.where(one.flat | two.flat, 0, a.log_slope - b.log_slope)
            short = np.where(one.flat & two.flat, 0, np.log(total) - target)
            off = np.abs(apart) + np.abs(short)
            lost = ~(off <= CLOSE)
            if not np.any(lost):
                break
            fa, fb = a.extra_slope / total, b.extra_slope / total
            ra, rb = np.where(two.flat, 0, a.log_slope_slope), np.where(one.flat, 0, b.log_slope_slope)
            determinant = ra * fb + rb * fa
            newton = -np.array([apart * fb + rb * short, ra * short - fa * apart]) / determinant
            newton[0] = np.where(two.flat, -short / fa, newton[0])
            newton[1] = np.where(one.flat, -short / fb, newton[1])
            newton = np.where([one.flat, two.flat], 0, newton)
            newton *= np.minimum(1, LONGEST / np.abs(newton).max(axis=0))
            nearer = off < nearest
            step = np.where(nearer, newton, step * SHORTER)
            base, nearest = np.where(nearer, place, base), np.where(nearer, off, nearest)
            place = np.where(lost, np.nan_to_num(base + step, nan=0.0), place)
    return place[0], place[1], np.flatnonzero(lost)


def _nested(one: Side, two: Side, target: float) -> tuple[Array, Array]:
    """The slope at which both sides together need the whole budget, and within that the place on each side."""
    sides, places = (one, two), [one.start, two.start]

    def lacking(slope: Array) -> tuple[Array, Array]:
        places[:] = [side.of_slope(slope, place) for side, place in zip(sides, places, strict=True)]
        ats = [side.at(place) for side, place in zip(sides, places, strict=True)]
        with np.errstate(all="ignore"):
            total = ats[0].extra + ats[1].extra
            change = sum(at.extra_slope / at.log_slope_slope for at in ats) / total
            return np.where(one.flat & two.flat, 0, target - np.log(total)), -change

    ends = [[side.at(np.full(len(side.top), end)).log_slope for side in sides] for end in (LEAST, MOST)]
    start = (one.at(places[0]).log_slope + two.at(places[1]).log_slope) / 2
    slope = root(lacking, np.minimum(*ends[0]), np.maximum(*ends[1]), start)
    s, t = (side.of_slope(slope, place) for side, place in zip(sides, places, strict=True))
    return s, t


def _budget(radius: float) -> float:
    """√(B+1) − 1."""
    return float(radius / (np.sqrt(1 + radius) + 1))
