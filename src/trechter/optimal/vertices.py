"""All extreme rays of the cone, then one linear program (the row-cone theorem, solved as it is stated).

    OPT = max { Σ_k θ_k φ(r_k) : θ ≥ 0, Σ_k θ_k r_k = 1 } over the extreme rays r_k

The bound is recomputed from the duals λ alone: Σ λ + max_k [φ(r_k) − λ·r_k]₊.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from trechter.errors import SolverError
from trechter.geometry.cone import Array
from trechter.geometry.rays import extreme_rays
from trechter.model.joint import quotient
from trechter.optimal.master import sift
from trechter.optimal.problem import Budget, Problem, Solution
from trechter.optimal.protocols import completed

MOST_RAYS = 200_000
NOISE = 1e-12  # relative float error of a bound of this many terms, with room to spare


def solve(problem: Problem, budget: Budget, most: int = MOST_RAYS) -> Solution:
    """The optimum over the enumerated rays; exact rays if the cone is exact."""
    try:
        found = extreme_rays(problem.cone, most, budget.check)
    except TimeoutError:
        return constant(problem, budget.halt)
    rays = np.vstack([np.ones((1, problem.cone.dimension), found.dtype), found])
    rows = quotient(rays, rays.max(axis=1, keepdims=True))
    sums = rows @ problem.masses
    rows = rows / sums[:, None]
    values = problem.phi(rows)
    weights = sift(rows, values, problem.masses, lambda: budget.over)
    used = np.flatnonzero(weights.theta > 0)
    stats = {"rays": len(found), "support": len(used)}
    bound = upper_bound(weights.duals, values - rows @ weights.duals)
    scale = weights.theta[used] / sums[used]
    exact = rays[used] if problem.cone.exact else None
    chosen = weights.theta[used, None] * rows[used]
    if not problem.cone.exact:
        with suppress(SolverError):  # rows that are off are delivered as they are, and mixed there
            chosen = completed(problem.cone, chosen)
    return Solution(chosen, bound, "vertices", stats, exact, scale)


def constant(problem: Problem, stats: dict[str, str]) -> Solution:
    """What is left when time is up before all rays are known: say nothing, and be bounded by saying everything."""
    n = problem.cone.dimension
    said = float(problem.phi(np.eye(n)).sum())
    rays = np.ones((1, n), object) if problem.cone.exact else None
    return Solution(np.ones((1, n)), said * (1 + NOISE), "vertices", dict(stats), rays, np.ones(1))


def upper_bound(duals: Array, reduced: Array) -> float:
    """Σ λ + the best reduced cost, rounded up."""
    spread = float(np.abs(duals).sum()) + float(np.abs(reduced).max(initial=0.0))
    return float(duals.sum()) + max(0.0, float(reduced.max(initial=0.0))) + NOISE * (1 + spread)
