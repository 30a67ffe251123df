"""Merging: the heuristic of the funnel's and the bottleneck's literature, which starts from Y = X and adds outputs up.

Adding outputs with joint masses u_i[x] = P(x, Y=i) and u_j up loses, about X or in the same way about S,

    ΔI(i, j) = Σ_x [ℓ(u_i) + ℓ(u_j) − ℓ(u_i + u_j)] − [ℓ(q_i) + ℓ(q_j) − ℓ(q_i + q_j)] ≥ 0,    ℓ(t) = t ln t.

The pair that is added up next loses the most of S for what it loses of X (funnel, until I(S;Y) ≤ M), or the least (bottleneck,
as long as I(S;Y) ≥ R). The protocol is deterministic: a partition of the values of X, good or not; nothing is proved of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from trechter.optimal.average.trade import Array, Trade

Index = NDArray[np.intp]
Choice = Callable[[Array, Array], Array]  # what is lost of X and of S by each pair: the largest is added up next
LEAST = 1e-15  # of a loss that something is divided by


class Clusters:
    """Outputs that are added up two by two; `group` says of every first output which one it is part of."""

    def __init__(self, outputs: Array, seen: Array, masses: Array) -> None:
        k = len(masses)
        self.group = np.arange(k)
        self.masses, self._outputs, self._seen = masses.copy(), outputs.copy(), seen.copy()
        self.of_x = np.full((k, k), np.inf)
        self.of_s = np.full((k, k), np.inf)
        for i in range(k):
            self._compare(i, np.arange(k))

    @classmethod
    def of_letters(cls, trade: Trade) -> Clusters:
        """Y = X. Outputs that share no value lose nothing of X but which of the two it was, so their rows are not needed."""
        return cls(np.zeros((trade.letters, 0)), trade.masses[:, None] * trade.links.T, trade.masses)

    @property
    def alive(self) -> Index:
        """The outputs that are left."""
        return np.unique(self.group)

    def next(self, choice: Choice) -> tuple[int, int] | None:
        """The pair to add up; None if there is none."""
        if len(self.alive) == 1:
            return None
        open_ = np.isfinite(self.of_x)
        scores = np.where(open_, choice(np.where(open_, self.of_x, 1), np.where(open_, self.of_s, 1)), -np.inf)
        i, j = divmod(int(scores.argmax()), len(scores))
        return i, j

    def add_up(self, i: int, j: int) -> None:
        """Output j becomes part of output i."""
        for values in (self.masses, self._outputs, self._seen):
            values[i] += values[j]
        self.group[self.group == j] = i
        self.of_x[j] = self.of_x[:, j] = self.of_s[j] = self.of_s[:, j] = np.inf
        self._compare(i, self.alive)

    def _compare(self, i: int, others: Index) -> None:
        others = others[others != i]
        q = _lost(self.masses[i], self.masses[others])
        for lost, rows in ((self.of_x, self._outputs), (self.of_s, self._seen)):
            lost[i, others] = lost[others, i] = np.maximum(_lost(rows[i], rows[others]).sum(axis=1) - q, 0)


def merged(trade: Trade) -> Iterator[tuple[Index, float]]:
    """The partitions of the letters that merging passes, Y = X first, each with its I(S;Y)."""
    clusters, leaked = Clusters.of_letters(trade), trade.all_leaked
    yield clusters.group.copy(), leaked
    while (pair := clusters.next(_most if trade.sign > 0 else _least)) is not None:
        leaked -= float(clusters.of_s[pair])
        clusters.add_up(*pair)
        yield clusters.group.copy(), leaked


def starts(trade: Trade) -> Array:
    """Columns to begin with: every set of letters that merging makes, from single ones to all."""
    sets = {mask.tobytes(): mask for group, _ in merged(trade) for mask in group == np.unique(group)[:, None]}
    rows = np.array(list(sets.values())) * trade.masses
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def tidied(trade: Trade, columns: Array, shares: Array, most: float) -> tuple[Array, Array]:
    """A mixture whose columns that say nearly the same are added up, as long as this costs at most `most` in all."""
    rows = columns * shares[:, None]
    clusters = Clusters(rows, trade.seen(rows), shares)
    spent = 0.0
    while (pair := clusters.next(lambda of_x, of_s: -of_x)) is not None:
        spent += float(clusters.of_x[pair])
        if spent > most:
            break
        clusters.add_up(*pair)
    rows = np.array([rows[clusters.group == g].sum(axis=0) for g in clusters.alive])
    return rows / rows.sum(axis=1, keepdims=True), rows.sum(axis=1)


def _most(of_x: Array, of_s: Array) -> Array:
    return of_s / np.maximum(of_x, LEAST)


def _least(of_x: Array, of_s: Array) -> Array:
    return -_most(of_x, of_s)


def _lost(one: Array, others: Array) -> Array:
    return np.asarray(_times_log(one) + _times_log(others) - _times_log(one + others))


def _times_log(t: Array) -> Array:
    return t * np.log(np.where(t > 0, t, 1))
