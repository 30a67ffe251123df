"""All vertices of a slab, listed and priced: for curves whose pairs are not Monge.

The pairs across a bound are a table, the letters beyond it by those within; a table holds φ of every pair and is priced
against duals in one pass. The master starts from the pairs that mutual information would use, and in each round is given the
best pairs of every letter.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.errors import SolverError
from trechter.geometry.cone import Array
from trechter.optimal.master import Master, Weights
from trechter.optimal.pairrows import PairRows
from trechter.optimal.problem import Budget, Problem
from trechter.optimal.slab import Slab

Index = NDArray[np.intp]
MOST_PAIRS = 4_000_000
CHUNK = 1 << 22  # posteriors of targets computed at a time
ENOUGH = 1e-10  # reduced costs below this are the LP solver's noise
NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class Table:
    """Pairs (first, second) as outputs of probability 1: how much of each is the first letter, and φ."""

    first: Index
    second: Index
    share: Array
    values: Array

    def reduced(self, duals: Array) -> Array:
        """φ less what the letters cost, with duals per unit of mass."""
        return np.asarray(self.values - self.share * duals[self.first] - (1 - self.share) * duals[self.second])


@dataclass(frozen=True, eq=False)
class Listed:
    """The master's optimum over all vertices."""

    rows: PairRows
    value: float
    bound: float
    duals: Array
    stats: dict[str, int]


def listed(problem: Problem, slab: Slab, start: PairRows, budget: Budget) -> Listed:
    """Column generation over all vertices; Σ start = 1."""
    tables = [table for table in _tables(problem, slab) if table.values.size]
    master, known = Master(problem.masses), start
    _add(master, problem, start)
    began, rounds = time.perf_counter(), 0
    while True:
        weights = master.solve()
        rounds += 1
        reduced = [table.reduced(weights.duals / problem.masses) for table in tables]
        best = max((float(r.max()) for r in reduced), default=0.0)
        late = budget.seconds is not None and time.perf_counter() - began > budget.seconds
        fresh = _fresh(tables, reduced, problem.masses)
        fresh = fresh.without(known)
        if best <= max(ENOUGH, budget.gap / 100) or late or len(fresh) == 0:
            break
        _add(master, problem, fresh)
        known = known.joined(fresh)
    return _result(known, weights, best, {"vertices": sum(r.size for r in reduced), "rounds": rounds})
