"""Pairs: the optimum for a slab, lo ≤ Σ v_x r_x ≤ hi, such as LDP and LIP for a secret of two values.

A vertex of a slab is one letter inside it, or a pair of letters that straddle a bound and whose posterior is at it.

For mutual information the optimum is known in closed form (see `staircase`), and so are duals λ. The bound is
computed from λ alone: OPT ≤ Σ λ + max [φ(w) − λ·w] over the vertices w, all of which are priced (see `monge`).
For other curves all vertices are listed and priced, and a linear program over the best of them is solved (see `listed`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trechter.errors import RequestError, SolverError
from trechter.geometry.cone import Array
from trechter.measures.mutual_information import Entropic
from trechter.optimal.monge import most_profit
from trechter.optimal.pairrows import PairRows
from trechter.optimal.problem import Budget, Problem, Solution
from trechter.optimal.slab import Slab
from trechter.optimal.staircase import Path, Staircase, staircase

ROUNDING = 2.0**-50  # relative error of the sums below, which are exact but for that of their terms


@dataclass(frozen=True, eq=False)
class PairSolution:
    """Σ rows = 1, each in the slab up to float noise; the value of the rows, and a bound on what any protocol could reach."""

    rows: PairRows
    value: float
    bound: float
    duals: Array
    stats: dict[str, int]


def solve(problem: Problem, budget: Budget) -> Solution:
    """The optimum as dense rows; for very many letters use `optimum`, which keeps them sparse."""
    found = optimum(problem)
    return Solution(found.rows.dense(), found.bound, "pairs", dict(found.stats))


def optimum(problem: Problem) -> PairSolution:
    """The optimum for mutual information, in O(n log n)."""
    slab = Slab.of(problem.cone, problem.masses)
    if slab is None:
        raise RequestError("the solver 'pairs' needs conditions that bound one posterior; use solver='auto'")
    stairs = staircase(problem.masses, slab)
    p, u = problem.masses, stairs.duals
    rows = _rows(p, slab, stairs)
    profit = max(0.0, most_profit(slab.upper, u), most_profit(slab.lower, u))
    entropy, paid = math.fsum(-p * np.log(p)), math.fsum(p * u)
    error = ROUNDING * (math.fsum(np.abs(p * np.log(p))) + math.fsum(np.abs(p * u)))
    lost = math.fsum(_lost(rows, p))
    stats = {"pairs": int(np.count_nonzero(rows.weights[:, 1])), "letters": len(p)}
    return PairSolution(rows, entropy - lost, entropy - paid + profit + error, u, stats)


def _rows(p: Array, slab: Slab, stairs: Staircase) -> PairRows:
    """The outputs of the paths, and what is left of every letter as an output by itself."""
    paths = [path for path in (stairs.upper, stairs.lower) if path is not None]
    parts = [_outputs(path, p) for path in paths]
    left = 1 - sum((part.sums() for part in parts), np.zeros(len(p)))
    single = np.flatnonzero(left > 1e-12)
    parts.append(PairRows.of(single, single, (left[single] * p[single], np.zeros(len(single))), p))
    return PairRows(np.concatenate([r.letters for r in parts]), np.concatenate([r.weights for r in parts]), len(p))


def _outputs(path: Path, p: Array) -> PairRows:
    """A path's outputs that have any probability."""
    some = path.mass_first + path.mass_second > 0
    return PairRows.of(path.first[some], path.second[some], (path.mass_first[some], path.mass_second[some]), p)


def _lost(rows: PairRows, p: Array) -> Array:
    """What each row loses of H(X): −Σ_x p_x w_x ln(p_x w_x / q)."""
    mass = rows.weights * p[rows.letters]
    share = mass / mass.sum(axis=1, keepdims=True)
    return np.asarray(-(mass * np.log(np.where(share > 0, share, 1))).sum(axis=1))
