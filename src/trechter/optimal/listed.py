"""All vertices of a slab, listed and priced: for measures whose pairs are not known to be Monge.

The pairs across a bound are a table, the letters beyond it by those on the other side, which holds φ of every pair and is
priced against duals in one pass. The master starts from the pairs that mutual information would use, and is given
the best pairs of every letter in each round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.errors import TooLargeError
from trechter.geometry.cone import Array
from trechter.optimal.master import Master
from trechter.optimal.pairrows import PairRows
from trechter.optimal.problem import Budget, Problem
from trechter.optimal.slab import Slab

Index = NDArray[np.intp]
MOST_VERTICES = 2_000_000
CHUNK = 1 << 22  # posteriors of targets that are computed at a time
ENOUGH = 1e-10  # a reduced cost below this is noise of the LP solver


@dataclass(frozen=True, eq=False)
class Table:
    """Pairs (first, second): how much of an output is its first letter, and φ of the output at probability 1."""

    first: Index
    second: Index
    share: Array
    values: Array

    def reduced(self, prices: Array) -> Array:
        """φ less the price of the letters, per unit of mass."""
        return np.asarray(self.values - self.share * prices[self.first] - (1 - self.share) * prices[self.second])

    def best(self, reduced: Array, masses: Array) -> tuple[PairRows, Array]:
        """The best pair of every letter, if it is worth more than it costs; with its φ."""
        rows, columns = reduced.shape
        cells = [np.arange(rows) * columns + reduced.argmax(axis=1), reduced.argmax(axis=0) * columns + np.arange(columns)]
        cell = np.unique(np.concatenate(cells))
        i, j = np.divmod(cell[reduced.ravel()[cell] > ENOUGH], columns)
        share = self.share[i, j]
        pairs = PairRows.of(self.first[i, 0], self.second[i if len(self.second) > 1 else 0, j], share, 1 - share, masses)
        return pairs, self.values[i, j]


@dataclass(frozen=True, eq=False)
class Listed:
    """The best rows of all vertices, the duals, and the largest reduced cost that is left."""

    rows: PairRows
    duals: Array
    best: float
    stats: dict[str, int]


def listed(problem: Problem, slab: Slab, start: PairRows, budget: Budget) -> Listed:
    """Column generation from `start` (Σ start = 1) over all vertices."""
    masses = problem.masses
    tables = list(_tables(problem, slab))
    master, known = Master(masses), [start.scaled(1 / start.products(masses))]
    master.add(known[0].dense(), problem.phi(known[0].dense()))
    rounds = 0
    while True:
        weights, rounds = master.solve(), rounds + 1
        reduced = [table.reduced(weights.duals / masses) for table in tables]
        best = max(float(r.max()) for r in reduced)
        if best <= max(ENOUGH, budget.gap / 100) or budget.over:
            stats = {"vertices": sum(r.size for r in reduced), "rounds": rounds}
            return Listed(PairRows.joined(known).scaled(weights.theta), weights.duals, best, stats)
        for table, r in zip(tables, reduced, strict=True):
            pairs, values = table.best(r, masses)
            if len(pairs):
                known.append(pairs)
                master.add(pairs.dense(), values)


def _tables(problem: Problem, slab: Slab) -> Iterator[Table]:
    """The letters inside the slab, and the pairs across each bound."""
    inside = np.flatnonzero(slab.inside)[:, None]
    sides = [(np.flatnonzero(d > 0)[:, None], np.flatnonzero(d < 0)[None], d) for d in (slab.upper, slab.lower)]
    size = len(inside) + sum(beyond.size * within.size for beyond, within, _ in sides)
    if size > MOST_VERTICES:
        raise TooLargeError(
            f"a slab over {len(slab.upper)} letters has {size} vertices, too many to list for this measure; "
            "use another solver, or mutual information"
        )
    if len(inside):
        yield _table(problem, inside, inside, np.ones((len(inside), 1)))
    for beyond, within, d in sides:
        if beyond.size and within.size:
            yield _table(problem, beyond, within, -d[within] / (d[beyond] - d[within]))


def _table(problem: Problem, first: Index, second: Index, share: Array) -> Table:
    width = 2 if problem.targets is None else len(problem.targets)
    step = max(1, CHUNK // (width * share.shape[1]))
    parts = [slice(k, k + step) for k in range(0, len(share), step)]
    values = [_values(problem, first[k], second[k] if len(second) > 1 else second, share[k]) for k in parts]
    return Table(first, second, share, np.concatenate(values))


def _values(problem: Problem, first: Index, second: Index, share: Array) -> Array:
    """φ of outputs of probability 1; targets that are the letters themselves are known apart from the two."""
    curve, prior, rest = problem.curve, problem.prior, 1 - share
    if problem.targets is not None:
        given = (problem.targets / problem.masses).T
        return np.asarray(curve.value(share[..., None] * given[first] + rest[..., None] * given[second], prior).sum(axis=-1))
    none = curve.value(np.zeros_like(prior), prior)
    same = first == second
    pair = curve.value(share, prior[first]) + np.where(same, 0, curve.value(rest, prior[second]))
    return np.asarray(none.sum() - none[first] - np.where(same, 0, none[second]) + pair)
