"""Two events A and B that share no cell, in χ² and KL: two numbers prove P(y|A) ≤ E P(y|B) for every P in F, with no search.

For such events all that F says of P is that its conditionals R = P(·|A) and T = P(·|B) lie in a convex set (paper 004, Theorem
3), and the condition R·w − E T·w ≤ 0 is linear in them. With P̂ as counted, and any μ ≥ w on A and ν ≥ −w on B,

    χ²    √(Σ_A P̂²/R) + √(Σ_B P̂²/T) ≤ C,   C = √(B+1) − 1 + P̂_A + P̂_B
          R·w − E T·w ≤ μ + Eν − (λ^⅔ + κ^⅔)³ / C²,   λ = Σ_A P̂√(μ−w),  κ = Σ_B P̂√(E(ν+w))    (Cauchy and Schwarz, then Hölder)

    KL    Σ_A P̂ ln(P̂/P̂_A R) + Σ_B P̂ ln(P̂/P̂_B T) ≤ r
          R·w − E T·w ≤ μ + Eν − m exp(l/m),   m = P̂_A + P̂_B                                              (Jensen, twice)
          l = Σ_A P̂ ln(μ−w) + Σ_B P̂ ln E(ν+w) − P̂_A ln P̂_A − P̂_B ln P̂_B − r

and the best μ and ν attain the maximum. Floats find them; what is proved is proved in balls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import flint
import numpy as np

from trechter.audit.worlds import BITS, Array
from trechter.exact.radii import ball

NEWTON = 80
SHORTER = 0.3  # is a step that led up
LONGEST = 3.0  # step, in logarithms
STILL = 1e-9
FAINTEST = -80.0  # logarithm of a distance
SMALL = 1e-150


@dataclass(frozen=True)
class Sides:
    """Conditions in floats: weights and shares of the cells (0 outside) of A and of B."""

    weight: Array
    a: Array
    b: Array


@dataclass(frozen=True)
class Counted:
    """A condition in integers: rows and weight of each group of cells of A and of B, and all rows."""

    a: Sequence[tuple[int, int]]
    b: Sequence[tuple[int, int]]
    whole: int


@dataclass(frozen=True)
class Curve:
    """Slopes of a bound by μ, ν and E, and its second derivatives by μ and ν."""

    mu: Array
    nu: Array
    bound: Array
    mu_mu: Array
    mu_nu: Array
    nu_nu: Array

    def step(self, gap: Array) -> Array:
        """Newton's step in the logarithms of the gaps; a slope that ends at an edge counts as curvature."""
        slope = np.array([self.mu, self.nu]) * gap
        a, b = self.mu_mu * gap[0] ** 2 + np.abs(slope[0]), self.nu_nu * gap[1] ** 2 + np.abs(slope[1])
        c = self.mu_nu * gap[0] * gap[1]
        step = np.array([c * slope[1] - b * slope[0], c * slope[0] - a * slope[1]]) / (a * b - c * c)
        return np.asarray(np.clip(np.nan_to_num(step, nan=0.0), -LONGEST, LONGEST))


class Apart(ABC):
    """One kind of set, of one radius."""

    def __init__(self, radius: Fraction) -> None:
        self.radius = radius

    @abstractmethod
    def excess(self, sides: Sides, mu: Array, nu: Array, bound: float) -> Array:
        """The bound of R·w − E T·w for each condition."""

    @abstractmethod
    def curve(self, sides: Sides, mu: Array, nu: Array, bound: float) -> Curve:
        """How that changes with μ, ν and E."""

    def best(self, sides: Sides, top: Array, low: Array, bound: float) -> tuple[Array, Array, Array, Array]:
        """The μ ≥ top and ν ≥ −low of the least bound, that bound, and how it changes with E.

        Newton's method in the logarithms of μ − top and ν + low; a step that leads up is shortened.
        """
        place = np.log(np.maximum(np.array([top, top]), SMALL))
        base, move, least = place, np.zeros_like(place), np.full(len(top), np.inf)
        for _ in range(NEWTON):
            gap = np.exp(place)
            mu, nu = top + gap[0], gap[1] - low
            with np.errstate(all="ignore"):
                value, now = self.excess(sides, mu, nu, bound), self.curve(sides, mu, nu, bound)
                down = value < least
                base, least = np.where(down, place, base), np.where(down, value, least)
                move = np.where(down, now.step(gap), SHORTER * move)
            if not np.any(np.abs(move) > STILL):
                break
            place = np.clip(base + move, FAINTEST, -FAINTEST)
        gap = np.exp(base)
        mu, nu = top + gap[0], gap[1] - low
        with np.errstate(all="ignore"):
            return mu, nu, least, self.curve(sides, mu, nu, bound).bound

    @abstractmethod
    def _proves(self, found: Counted, mu: int, nu: int, bound: Fraction) -> bool: ...

    def proves(self, found: Counted, mu: int, nu: int, bound: Fraction) -> bool:
        """Whether μ and ν certainly show that the condition holds."""
        if mu < max(w for _, w in found.a) or nu < -min(w for _, w in found.b):
            return False
        if not all(any(n for n, _ in side) for side in (found.a, found.b)):
            return False
        with flint.ctx.workprec(BITS):
            return self._proves(found, mu, nu, bound)


class ChiSquareApart(Apart):
    """Σ (P̂−P)²/P ≤ B."""

    def excess(self, sides: Sides, mu: Array, nu: Array, bound: float) -> Array:
        over = (sides.a * np.sqrt(np.maximum(mu[:, None] - sides.weight, 0))).sum(1)
        under = sqrt(bound) * (sides.b * np.sqrt(np.maximum(nu[:, None] + sides.weight, 0))).sum(1)
        reach = sqrt(1 + float(self.radius)) - 1 + (sides.a + sides.b).sum(1)
        return np.asarray(mu + bound * nu - (np.cbrt(over**2) + np.cbrt(under**2)) ** 3 / reach**2)

    def curve(self, sides: Sides, mu: Array, nu: Array, bound: float) -> Curve:
        """Of μ + Eν − G³/C², G = λ^⅔ + κ^⅔."""
        reach = sqrt(1 + float(self.radius)) - 1 + (sides.a + sides.b).sum(1)
        (s, s1, s2), (t, t1, t2) = _roots(sides.a, mu[:, None] - sides.weight), _roots(sides.b, nu[:, None] + sides.weight)
        t, t1, t2 = (sqrt(bound) * part for part in (t, t1, t2))
        G, p, q = np.cbrt(s**2) + np.cbrt(t**2), np.cbrt(s), np.cbrt(t)
        by_s, by_t = 2 * G**2 / p, 2 * G**2 / q
        ss, tt = (8 / 3 * G / r**2 - 2 / 3 * G**2 / r**4 for r in (p, q))
        return Curve(
            1 - by_s * s1 / reach**2,
            bound - by_t * t1 / reach**2,
            nu - G**2 * q**2 / (bound * reach**2),
            -(ss * s1**2 + by_s * s2) / reach**2,
            -8 / 3 * G / (p * q) * s1 * t1 / reach**2,
            -(tt * t1**2 + by_t * t2) / reach**2,
        )

    def _proves(self, found: Counted, mu: int, nu: int, bound: Fraction) -> bool:
        over = sum((n * flint.arb(mu - w).sqrt() for n, w in found.a if n), flint.arb(0))
        under = sum((n * flint.arb(nu + w).sqrt() for n, w in found.b if n), flint.arb(0)) * ball(bound).sqrt()
        rest = found.whole - sum(n for n, _ in (*found.a, *found.b))
        reach = found.whole * ball(1 + self.radius).sqrt() - rest
        roots = (over**2) ** (flint.arb(1) / 3) + (under**2) ** (flint.arb(1) / 3)
        return bool(roots**3 >= (mu + ball(bound) * nu) * reach**2)


class KullbackLeiblerApart(Apart):
    """Σ P̂ ln(P̂/P) ≤ r."""

    def excess(self, sides: Sides, mu: Array, nu: Array, bound: float) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = _weighted(sides.a, mu[:, None] - sides.weight) + _weighted(sides.b, bound * (nu[:, None] + sides.weight))
            each = [side.sum(1) for side in (sides.a, sides.b)]
            logs = logs - sum(m * np.log(m) for m in each) - float(self.radius)
            mass = each[0] + each[1]
            return np.asarray(mu + bound * nu - mass * np.exp(logs / mass))

    def curve(self, sides: Sides, mu: Array, nu: Array, bound: float) -> Curve:
        """Of μ + Eν − m exp(l/m)."""
        over, under = mu[:, None] - sides.weight, nu[:, None] + sides.weight
        mass = (sides.a + sides.b).sum(1)
        most = mu + bound * nu - self.excess(sides, mu, nu, bound)  # m exp(l/m)
        (l1, l2), (k1, k2) = _logs(sides.a, over), _logs(sides.b, under)
        each = most / mass
        return Curve(
            1 - each * l1,
            bound - each * k1,
            nu - each * sides.b.sum(1) / bound,
            -each * (l1**2 / mass + l2),
            -each * l1 * k1 / mass,
            -each * (k1**2 / mass + k2),
        )

    def _proves(self, found: Counted, mu: int, nu: int, bound: Fraction) -> bool:
        sides = [(n, ball(Fraction(mu - w))) for n, w in found.a if n]
        sides += [(n, ball(bound) * (nu + w)) for n, w in found.b if n]
        each = [sum(n for n, _ in side) for side in (found.a, found.b)]
        mass, most = sum(each), mu + ball(bound) * nu
        logs = sum((n * value.log() for n, value in sides), flint.arb(0)) - found.whole * ball(self.radius)
        logs -= sum(n * ball(Fraction(n, found.whole)).log() for n in each)
        return bool(most <= 0) or bool(logs / mass + ball(Fraction(mass, found.whole)).log() >= most.log())


def _roots(shares: Array, values: Array) -> tuple[Array, Array, Array]:
    """Σ P̂√v, and its first and second derivative."""
    v = np.where(shares > 0, np.maximum(values, SMALL), 1)
    root = np.sqrt(v)
    return (shares * root).sum(1), (shares / root).sum(1) / 2, -(shares / (root * v)).sum(1) / 4


def _logs(shares: Array, values: Array) -> tuple[Array, Array]:
    """The first and second derivative of Σ P̂ ln v."""
    v = np.where(shares > 0, np.maximum(values, SMALL), 1)
    return (shares / v).sum(1), -(shares / v**2).sum(1)


def _weighted(shares: Array, values: Array) -> Any:
    return np.where(shares > 0, shares * np.log(np.where(shares > 0, values, 1)), 0).sum(1)


APART: dict[str, type[Apart]] = {"chi-square": ChiSquareApart, "kullback-leibler": KullbackLeiblerApart}
