"""Pairs: the optimum for a slab, lo ≤ Σ v_x r_x ≤ hi, such as LDP and LIP for a secret of two values.

A vertex of a slab is one letter inside it, or a pair of letters that straddle a bound and whose posterior is at it.
For mutual information the optimum is known in closed form (`staircase`), and so are its duals λ. The bound is
computed from λ alone: OPT ≤ Σ λ + max [φ(w) − λ·w] over the vertices w with p·w = 1, all of which are priced
(`monge`). For other measures all vertices are listed and priced in column generation (`listed`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from trechter.errors import RequestError
from trechter.geometry.cone import Array
from trechter.measures.entropic import Entropic
from trechter.model.joint import quotient
from trechter.optimal.listed import listed
from trechter.optimal.monge import most_profit
from trechter.optimal.pairrows import PairRows
from trechter.optimal.problem import LARGE, Budget, Problem, Solution
from trechter.optimal.slab import Slab
from trechter.optimal.staircase import Staircase, staircase

ROUNDING = 2.0**-50  # relative error of the terms of a bound; their sums are exact
LEFT = 1e-12  # a share of a letter below this is rounding


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows of the best protocol (Σ rows = 1, each in the slab up to float noise), their value, and what bounds any other's."""

    rows: PairRows
    value: float
    bound: float
    duals: Array
    slab: Slab
    stats: dict[str, int]


def solve(problem: Problem, budget: Budget) -> Solution:
    """The optimum in dense rows, unless they are large, and in integer rays if the cone is exact."""
    found, none = optimum(problem, budget), np.zeros((0, problem.cone.dimension))
    few = problem.targets is None and len(found.rows) * found.rows.dimension > LARGE
    rays, rows = _rays(problem, found), none if few else found.rows.dense()
    solution = Solution(rows, found.bound, "pairs", dict(found.stats), pairs=found.rows if few else None)
    if rays is None:
        return solution
    shape, weights = quotient(rays, rays.max(axis=1, keepdims=True)), found.rows.weights
    scale = np.min(np.divide(weights, shape, out=np.full(shape.shape, np.inf), where=shape > 0), axis=1)
    return replace(solution, rays=rays if few else found.rows.spread(rays), scale=scale)


def optimum(problem: Problem, budget: Budget | None = None) -> Pairs:
    """The optimum; O(n log n) for mutual information, whatever the budget."""
    slab = Slab.of(problem.cone, problem.masses)
    if slab is None:
        raise RequestError("solver 'pairs' needs conditions that bound one posterior from two sides; use solver='auto'")
    stairs = staircase(problem.masses, slab)
    rows = _rows(problem.masses, slab, stairs)
    if problem.targets is None and isinstance(problem.curve, Entropic):
        return _closed(problem.masses, slab, stairs, rows)
    found = listed(problem, slab, rows, budget or Budget())
    value = math.fsum(problem.phi(found.rows.dense()))
    error = ROUNDING * math.fsum(np.abs(found.duals)) + 4 * ROUNDING * len(found.duals)
    bound = math.fsum(found.duals) + max(0.0, found.best) + error
    return Pairs(found.rows, value, bound, found.duals, slab, found.stats)


def _closed(p: Array, slab: Slab, stairs: Staircase, rows: PairRows) -> Pairs:
    """What the staircase proves: losing Σ p u of H(X) cannot be avoided, up to the best profit at the prices u."""
    entropy, paid = -p * np.log(p), p * stairs.duals
    alone = stairs.duals[slab.inside].max(initial=0.0)
    profit = max(float(alone), most_profit(slab.upper, stairs.duals), most_profit(slab.lower, stairs.duals))
    error = ROUNDING * (math.fsum(np.abs(entropy)) + math.fsum(np.abs(paid)))
    bound = math.fsum(entropy) - math.fsum(paid) + profit + error
    stats = {"pairs": int(np.count_nonzero(rows.weights[:, 1]))}
    return Pairs(rows, math.fsum(entropy) - math.fsum(_lost(rows, p)), bound, entropy - paid, slab, stats)


def _rows(p: Array, slab: Slab, stairs: Staircase) -> PairRows:
    """The outputs of the paths, and what is left of every letter inside as an output by itself."""
    paths = [path for path in (stairs.upper, stairs.lower) if path is not None]
    parts = [PairRows.of(s.first, s.second, s.mass_first, s.mass_second, p) for s in paths]
    left = 1 - np.sum([part.sums() for part in parts], axis=0) if parts else np.ones(len(p))
    single = np.flatnonzero((left > LEFT) & slab.inside)
    parts.append(PairRows.of(single, single, left[single] * p[single], np.zeros(len(single)), p))
    return PairRows.joined(parts)


def _lost(rows: PairRows, p: Array) -> Array:
    """What each row loses of H(X): −Σ_x p_x w_x ln(p_x w_x / q)."""
    mass = rows.weights * p[rows.letters]
    share = mass / mass.sum(axis=1, keepdims=True)
    return np.asarray(-(mass * np.log(np.where(share > 0, share, 1))).sum(axis=1))


def _rays(problem: Problem, found: Pairs) -> NDArray[np.object_] | None:
    """The integer rays of the rows on their two letters, if the two bounds are one equality in exact numbers (ε = 0)."""
    condition, slab = found.slab.conditions[0], found.slab
    if not problem.cone.exact or condition is None or (np.sign(slab.upper) != -np.sign(slab.lower)).any():
        return None
    a = problem.cone.A[condition]
    both = (_ray(a[x], a[y]) if x != y else (1, 0) for x, y in found.rows.letters.tolist())
    return np.array(list(both), object)


def _ray(first: Fraction, second: Fraction) -> tuple[int, int]:
    """The coprime integers r with first·r₀ + second·r₁ = 0."""
    common = Fraction(first) / -Fraction(second)
    return common.denominator, common.numerator
