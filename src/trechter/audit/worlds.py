"""How large P·v can be over the set F of distributions: its maximiser in floats, proofs that it is not above 0 in integers.

For any number μ, whatever the values v and wherever the mass of F lies (P̂ = N/ΣN are the shares that were counted),

    χ²     μ ≥ max v:  P·v ≤ μ − (Σ P̂√(μ−v))² / (B+1)                       (Cauchy and Schwarz)
    KL     μ ≥ max v:  P·v ≤ μ − exp(Σ P̂ ln(μ−v) − r)                       (Jensen)
    TV     μ ≤ max v:  P·v ≤ Σ P̂ max(v, μ) + ρ/2 (max v − μ)
    boxes              P·v ≤ μ + Σ high (v−μ)₊ − low (μ−v)₊

and the best μ attains the maximum. So a maximiser is never trusted: the μ that came with it proves a bound, or it does not.
Each set is a class of the same two functions: `worst`, for many rows of values at once, and `proves`, for one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, log1p
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from trechter.exact.radii import ball

Array = NDArray[np.float64]
BITS = 160  # of the balls
HUGE = 70.0  # a radius beyond which μ is as near as is looked for
SMALLEST, STEPS = -80.0, 60  # logarithm of the least μ − max v that is looked for; steps to it
NEAR, NOISE, FLAT = 1e-11, 1e-15, 1e-200  # a step, an excess and a difference of values that are none


@dataclass(frozen=True)
class Cells:
    """Cells in rows: the shares that were counted, and bounds if the set is one of boxes."""

    shares: Array
    low: Array
    high: Array

    def take(self, rows: Any) -> Cells:
        """Some of the rows."""
        return Cells(self.shares[rows], self.low[rows], self.high[rows])


@dataclass(frozen=True)
class Exact:
    """The cells of one row in integers: what was counted, and the bounds over a common denominator."""

    counts: Sequence[int]
    low: Sequence[int]
    high: Sequence[int]
    whole: int  # that denominator


class World(ABC):
    """A set F of distributions of one radius."""

    def __init__(self, radius: Fraction) -> None:
        self.radius = radius

    @abstractmethod
    def worst(self, values: Array, cells: Cells) -> tuple[Array, Array]:
        """For each row of values a P in F with the largest P·v, and the μ that shows it."""

    @abstractmethod
    def proves(self, values: Sequence[int], cells: Exact, mu: int) -> bool:
        """Whether μ certainly shows that P·v ≤ 0 for every P in F."""


class Smooth(World):
    """χ² and KL: P is P̂ with each cell tilted by its distance from μ, and what is left is on the largest value."""

    def worst(self, values: Array, cells: Cells) -> tuple[Array, Array]:
        top = values.max(axis=1)
        gap = top[:, None] - values
        spread = np.where(gap.max(axis=1) > FLAT, gap.max(axis=1), 1.0)
        beyond = spread * np.exp(self._root(gap / spread[:, None], cells.shares))
        p = self._tilted(gap + beyond[:, None], cells.shares)
        p[np.arange(len(p)), np.argmin(gap, axis=1)] += np.maximum(0, 1 - p.sum(axis=1))
        return p, top + beyond

    def _root(self, gap: Array, shares: Array) -> Array:
        """The logarithm of the distance of μ from the largest value (gaps are at most 1): Newton's steps."""
        low, high = np.full(len(gap), SMALLEST), np.full(len(gap), self._largest())
        x, done = low + 0.9 * (high - low), np.zeros(len(gap), bool)
        for _ in range(STEPS):
            value, slope = self._excess(gap + np.exp(x)[:, None], shares, np.exp(x))
            low, high = np.where(value > 0, x, low), np.where(value > 0, high, x)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = x - value / slope
            fresh = np.where((step > low) & (step < high), step, (low + high) / 2)
            done |= (np.abs(fresh - x) < NEAR) | (np.abs(value) < NOISE)
            x = np.where(done, x, fresh)  # a root that is found is left alone while others are looked for
            if done.all():
                break
        return np.asarray(x)

    @abstractmethod
    def _largest(self) -> float:
        """The logarithm of a distance at which μ is surely too far."""

    @abstractmethod
    def _excess(self, distance: Array, shares: Array, beyond: Array) -> tuple[Array, Array]:
        """What is above 0 while μ is too near, decreasing, and its slope by the logarithm of `beyond`."""

    @abstractmethod
    def _tilted(self, distance: Array, shares: Array) -> Array:
        """P, but for what is left."""


class ChiSquare(Smooth):
    """Σ (P̂−P)²/P ≤ B."""

    def _largest(self) -> float:
        b = float(self.radius)
        return -float(np.log(b * (2 + b)))

    def _excess(self, distance: Array, shares: Array, beyond: Array) -> tuple[Array, Array]:
        root = np.sqrt(distance)
        near, inverse, cubic = (shares * root).sum(1), (shares / root).sum(1), (shares / (root * distance)).sum(1)
        slope = beyond * (inverse / near - cubic / inverse) / 2
        return np.log(near) + np.log(inverse) - log1p(float(self.radius)), slope

    def _tilted(self, distance: Array, shares: Array) -> Array:
        root = np.sqrt(distance)
        return np.asarray((shares * root).sum(1)[:, None] / (1 + float(self.radius)) * shares / root)

    def proves(self, values: Sequence[int], cells: Exact, mu: int) -> bool:
        with flint.ctx.workprec(BITS):
            found = sum((n * flint.arb(mu - v).sqrt() for n, v in zip(cells.counts, values, strict=True) if n), flint.arb(0))
            return mu >= max(values) and bool(found * found >= mu * ball(1 + self.radius) * sum(cells.counts) ** 2)


class KullbackLeibler(Smooth):
    """Σ P̂ ln(P̂/P) ≤ r."""

    def _largest(self) -> float:
        return -float(np.log(expm1(min(float(self.radius), HUGE))))

    def _excess(self, distance: Array, shares: Array, beyond: Array) -> tuple[Array, Array]:
        inverse, square = (shares / distance).sum(1), (shares / distance**2).sum(1)
        return (shares * np.log(distance)).sum(1) + np.log(inverse) - float(self.radius), beyond * (inverse - square / inverse)

    def _tilted(self, distance: Array, shares: Array) -> Array:
        mean = np.exp((shares * np.log(distance)).sum(1))
        return np.asarray(exp(-float(self.radius)) * mean[:, None] * shares / distance)

    def proves(self, values: Sequence[int], cells: Exact, mu: int) -> bool:
        kept = [(n, v) for n, v in zip(cells.counts, values, strict=True) if n]
        if mu < max(values) or any(v == mu for _, v in kept):
            return False
        with flint.ctx.workprec(BITS):
            found = sum((n * (flint.arb(mu - v) / mu).log() for n, v in kept), flint.arb(0))
            return bool(found >= sum(cells.counts) * ball(self.radius))


class TotalVariation(World):
    """‖P − P̂‖₁ ≤ ρ: half of ρ moves from the smallest values to the largest."""

    def worst(self, values: Array, cells: Cells) -> tuple[Array, Array]:
        order = np.argsort(values, axis=1)
        shares, half = np.take_along_axis(cells.shares, order, 1), min(1.0, float(self.radius) / 2)
        before = np.cumsum(shares, axis=1) - shares
        taken = np.clip(half - before, 0, shares)
        p = np.empty_like(shares)
        np.put_along_axis(p, order, shares - taken, 1)
        p[np.arange(len(p)), order[:, -1]] += taken.sum(axis=1)
        last = (before < half).sum(axis=1) - 1
        return p, np.take_along_axis(np.take_along_axis(values, order, 1), last[:, None], 1)[:, 0]

    def proves(self, values: Sequence[int], cells: Exact, mu: int) -> bool:
        top, n = max(values), sum(cells.counts)
        mu = min(mu, top)
        kept = sum(k * max(v, mu) for k, v in zip(cells.counts, values, strict=True))
        return kept * 2 * self.radius.denominator + self.radius.numerator * (top - mu) * n <= 0


class Boxes(World):
    """low ≤ P ≤ high: the largest values are filled first."""

    def worst(self, values: Array, cells: Cells) -> tuple[Array, Array]:
        order = np.argsort(-values, axis=1)
        low, room = (np.take_along_axis(part, order, 1) for part in (cells.low, cells.high - cells.low))
        rest = 1 - low.sum(axis=1)[:, None]
        before = np.cumsum(room, axis=1) - room
        p = np.empty_like(low)
        np.put_along_axis(p, order, low + np.clip(rest - before, 0, room), 1)
        last = np.maximum((before < rest).sum(axis=1) - 1, 0)
        return p, np.take_along_axis(np.take_along_axis(values, order, 1), last[:, None], 1)[:, 0]

    def proves(self, values: Sequence[int], cells: Exact, mu: int) -> bool:
        bounds = zip(values, cells.low, cells.high, strict=True)
        return mu * cells.whole + sum(high * (v - mu) if v > mu else low * (v - mu) for v, low, high in bounds) <= 0


WORLDS: dict[str, type[World]] = {
    "chi-square": ChiSquare,
    "kullback-leibler": KullbackLeibler,
    "total-variation": TotalVariation,
    "boxes": Boxes,
}
