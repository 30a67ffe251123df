"""The normalised rows of a cone, in posterior coordinates: the polytope that pricing searches.

A row r with p·r = 1 is a posterior v = p∘r over letters: v ≥ 0, Σ v = 1, B v ≤ 0 with B = A/p, rows scaled to size 1.
A measure looks at posteriors z of targets, z = L v with L[t, i] = p(t | letter i), or at v itself. So a point is x = v
or x = (v, z), the rows of `matrix` are B x ≤ 0, L v − z = 0 and Σ v = 1, and the reduced cost that pricing maximises is

    Σ_t g(x_t) − prices·x,   prices = λ/p on letters: convex, separable over the curved coordinates t.

For multipliers y (those of B x ≤ 0 not negative) weak duality bounds any linear c·x over a box l ≤ x ≤ u by
y·rhs + Σ_j max(d_j l_j, d_j u_j) with d = c − yᵀ·matrix. Every bound here is that sum, whatever a solver says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trechter.geometry.cone import Array
from trechter.measures.measure import Curve
from trechter.optimal.problem import Problem

NOISE = 1e-13  # float error of a bound, relative to the terms that it sums


@dataclass(frozen=True, eq=False)
class Polytope:
    """Posteriors v with B v ≤ 0; `links` is L, or None where the targets are the letters."""

    conditions: Array
    masses: Array
    curve: Curve
    prior: Array
    links: Array | None

    @classmethod
    def of(cls, problem: Problem) -> Polytope:
        """The polytope of a problem, without conditions that every row obeys."""
        B = problem.cone.active.A.astype(np.float64) / problem.masses
        B = B / np.abs(B).max(axis=1, keepdims=True, initial=np.finfo(float).tiny)
        links = None if problem.targets is None else problem.targets / problem.masses
        return cls(B, problem.masses, problem.curve, problem.prior, links)

    @property
    def letters(self) -> int:
        """The number of letters n; they are the first coordinates."""
        return len(self.masses)

    @property
    def size(self) -> int:
        """The number of coordinates of a point."""
        return self.letters + (0 if self.links is None else len(self.links))

    @property
    def curved(self) -> slice:
        """The coordinates that the measure looks at."""
        return slice(0 if self.links is None else self.letters, self.size)

    @cached_property
    def matrix(self) -> Array:
        """Conditions, links, the sum: one row of coefficients each."""
        n, t = self.letters, self.size - self.letters
        links = np.zeros((0, n)) if self.links is None else self.links
        wide = np.hstack([self.conditions, np.zeros((len(self.conditions), t))])
        return np.vstack([wide, np.hstack([links, -np.eye(t)]), np.append(np.ones(n), np.zeros(t))[None]])

    @cached_property
    def floor(self) -> Array:
        """The least value of each row of the matrix (−∞ for conditions)."""
        equal = np.append(np.zeros(len(self.matrix) - len(self.conditions) - 1), 1.0)
        return np.append(np.full(len(self.conditions), -np.inf), equal)

    @cached_property
    def rhs(self) -> Array:
        """The greatest value of each row of the matrix: 0, and 1 for the sum."""
        return np.append(np.zeros(len(self.matrix) - 1), 1.0)

    def points(self, posteriors: Array) -> Array:
        """Points x of posteriors v (k × n)."""
        return posteriors if self.links is None else np.hstack([posteriors, posteriors @ self.links.T])

    def worth(self, points: Array) -> Array:
        """Σ_t g(x_t) of points (k × size): φ of the rows that they stand for."""
        return np.asarray(self.curve.value(points[:, self.curved], self.prior).sum(axis=1))

    def prices(self, duals: Array) -> Array:
        """The price of each coordinate under duals λ of the master."""
        return np.append(duals / self.masses, np.zeros(self.size - self.letters))

    def reduced(self, costs: Array, multipliers: Array) -> Array:
        """Multipliers that may be used in a bound, applied: d = c − yᵀ·matrix."""
        return np.asarray(costs - multipliers @ self.matrix)

    def signed(self, multipliers: Array) -> Array:
        """Multipliers with the signs that a bound needs; anything that is no number becomes 0."""
        signed = np.nan_to_num(multipliers, nan=0.0, posinf=0.0, neginf=0.0)
        signed[..., : len(self.conditions)] = np.maximum(signed[..., : len(self.conditions)], 0)
        return signed

    def most(self, reduced: Array, multipliers: Array, lower: Array, upper: Array) -> Array:
        """The bound y·rhs + Σ_j max(d_j l_j, d_j u_j) on c·x over each box, rounded up."""
        terms = np.maximum(reduced * lower, reduced * upper)
        fixed = multipliers[..., -1]
        slack = NOISE * (1 + np.abs(fixed) + np.abs(terms).sum(axis=-1))
        return np.asarray(fixed + terms.sum(axis=-1) + slack)
