"""Exact pricing over simplices: the most that any column of a trade is worth, by branch and bound.

A family says in which simplices the optima lie, and how much a column in such a simplex is worth at most. Simplices are halved
at their longest edge; those that can hold no more than the best known, or than `cut`, are dropped. The largest bound of an
open one is always true, so the search may stop at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol as Shape

import numpy as np
from numpy.typing import NDArray

from trechter.optimal.average.trade import Array, Prices, Trade

BATCH = 20_000  # simplices that are halved at a time
KEPT = 200  # columns worth adding that are remembered
RESOLVED = 1e-11  # a bound that exceeds what was found by less is attained
Index = NDArray[np.intp]


class Family(Shape):
    """Where the optima of g lie and how large g is there."""

    @property
    def trade(self) -> Trade:
        """Whose columns these are."""

    @property
    def prices(self) -> Prices:
        """What they cost."""

    def faces(self) -> Index:
        """The simplices to begin with, k × r: what their corners stand for."""

    def posteriors(self, points: Array, faces: Index) -> Array:
        """The columns v of points (k × r, barycentric in their faces)."""

    def corners(self, points: Array, faces: Index) -> tuple[Array, Array]:
        """What is needed of the corners of simplices: the convex part of g, and L v."""

    def most(self, values: Array, seen: Array) -> Array:
        """A bound on g in simplices, of the values (k × r) and L v (k × r × c) of their corners."""


@dataclass(frozen=True, eq=False)
class Simplices:
    """Many simplices: their faces, corners (k × r × r), the values there, L v there, and bounds."""

    faces: Index
    corners: Array
    values: Array
    seen: Array
    bound: Array

    def __len__(self) -> int:
        return len(self.bound)

    def __getitem__(self, kept: NDArray[np.intp] | NDArray[np.bool_]) -> Simplices:
        return Simplices(self.faces[kept], self.corners[kept], self.values[kept], self.seen[kept], self.bound[kept])

    def __add__(self, other: Simplices) -> Simplices:
        def both(name: str) -> Array:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        return Simplices(both("faces").astype(np.intp), both("corners"), both("values"), both("seen"), both("bound"))


class Search:
    """A search for the largest g, down to `cut`, in steps."""

    def __init__(self, family: Family, cut: float) -> None:
        self.family, self.cut = family, cut
        self.best, self.nodes = -np.inf, 0
        self._found: list[tuple[Array, Array]] = []
        faces = family.faces()
        k, r = faces.shape
        corners = np.broadcast_to(np.eye(r), (k, r, r))
        flat = np.repeat(faces, r, axis=0)
        values, seen = family.corners(corners.reshape(k * r, r), flat)
        self._meet(corners.reshape(k * r, r), flat)
        self._open = self._bounded(Simplices(faces, corners, values.reshape(k, r), seen.reshape(k, r, -1), np.full(k, np.inf)))
        self._drop()

    @property
    def bound(self) -> float:
        """What no column is worth more than."""
        return max(self._enough, float(self._open.bound.max(initial=-np.inf)))

    @property
    def _enough(self) -> float:
        """What is not worth looking beyond; near the best itself bounds are above it by float noise."""
        return max(self.cut, self.best + RESOLVED * (1 + abs(self.best)))

    @property
    def open(self) -> int:
        """How many simplices may hold more than the best and the cut."""
        return len(self._open)

    @property
    def found(self) -> Array:
        """The best columns that were met, best first."""
        worth, columns = (np.concatenate(part) for part in zip(*self._found, strict=True))
        return np.asarray(columns[np.argsort(-worth)[:KEPT]])

    def step(self) -> None:
        """Halve the most promising simplices."""
        order = np.argsort(-self._open.bound)
        chosen, rest = self._open[order[:BATCH]], self._open[order[BATCH:]]
        self._open = rest + self._bounded(self._halved(chosen))
        self._drop()

    def _halved(self, whole: Simplices) -> Simplices:
        """Both halves of each: the middle of the longest edge takes the place of either end."""
        k = np.arange(len(whole))
        first, second = _longest(whole.corners)
        middle = (whole.corners[k, first] + whole.corners[k, second]) / 2
        values, seen = self.family.corners(middle, whole.faces)
        self._meet(middle, whole.faces)
        halves = []
        for end in (first, second):
            corners, value, posterior = whole.corners.copy(), whole.values.copy(), whole.seen.copy()
            corners[k, end], value[k, end], posterior[k, end] = middle, values, seen
            halves.append(Simplices(whole.faces, corners, value, posterior, whole.bound))
        return halves[0] + halves[1]

    def _bounded(self, simplices: Simplices) -> Simplices:
        self.nodes += len(simplices)
        bound = np.minimum(simplices.bound, self.family.most(simplices.values, simplices.seen))
        return Simplices(simplices.faces, simplices.corners, simplices.values, simplices.seen, bound)

    def _drop(self) -> None:
        self._open = self._open[self._open.bound > self._enough]

    def _meet(self, points: Array, faces: Index) -> None:
        columns = self.family.posteriors(points, faces)
        worth = self.family.trade.worth(columns, self.family.prices)
        self.best = max(self.best, float(worth.max(initial=-np.inf)))
        kept = np.argsort(-worth)[:KEPT]
        self._found.append((worth[kept], columns[kept]))
        if len(self._found) > 50:
            values, found = (np.concatenate(part) for part in zip(*self._found, strict=True))
            top = np.argsort(-values)[:KEPT]
            self._found = [(values[top], found[top])]


def _longest(corners: Array) -> tuple[Index, Index]:
    """The ends of the longest edge of each simplex (k × r × r)."""
    first, second = np.triu_indices(corners.shape[1], 1)
    lengths = ((corners[:, first] - corners[:, second]) ** 2).sum(axis=2)
    longest = lengths.argmax(axis=1)
    return first[longest], second[longest]
