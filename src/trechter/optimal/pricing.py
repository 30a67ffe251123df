"""Exact pricing: the most that any normalised row of a cone is worth above its price, by branch and bound.

    maximise Σ_t g(x_t) − prices·x over a polytope: convex, so an optimum is a vertex          (Falk and Soland, 1969)

A node is a box. Over it chords replace the curves and one LP, or rather its multipliers, bound what the node can hold;
boxes shrink by reduced costs and by the rows of the polytope, and those worth no more than `cut` are dropped. A node is
split at its LP point, moved towards the middle of the box, in the coordinate where the chord errs most. The largest bound
of an open node is always a true bound, so the search may stop at any time.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.geometry.cone import Array
from trechter.optimal.boxes import THIN, Chords, Propagation, chords, squeezed
from trechter.optimal.relaxation import Relaxations

BATCH = 32  # nodes that are split at a time
MIDDLE = 0.4  # how far a split moves from the LP point towards the middle; 0 takes four times the nodes on slices
AGAIN = 0.9  # a box that shrinks to less than this is bounded again
REPEATS = 5
KEPT = 400  # points worth starting from that are remembered
MOST_OPEN = 1_000_000  # nodes, of one to three kilobytes
RESOLVED = 1e-13  # a chord that errs by less is exact


@dataclass(frozen=True, eq=False)
class Node:
    """A box that may hold something worth more than the cut, and how it is to be split."""

    lower: Array
    upper: Array
    multipliers: Array
    basis: Any
    coordinate: int
    split: float


@dataclass(frozen=True, eq=False)
class Boxes:
    """Many boxes at once, each with its bound, multipliers and basis."""

    lower: Array
    upper: Array
    bound: Array
    multipliers: Array
    bases: list[Any]

    def __len__(self) -> int:
        return len(self.bound)

    def __getitem__(self, kept: NDArray[np.intp]) -> Boxes:
        bases = [self.bases[i] for i in kept]
        return Boxes(self.lower[kept], self.upper[kept], self.bound[kept], self.multipliers[kept], bases)


class Pricing:
    """A search of one polytope at given prices, down to `cut`, in steps."""

    def __init__(self, relaxations: Relaxations, prices: Array, cut: float, lower: Array, upper: Array) -> None:
        self.space = space = relaxations.space
        self.prices, self.cut = prices, cut
        self._relaxations, self._propagate = relaxations, Propagation(space)
        self._heap: list[tuple[float, int, Node]] = []
        self._serial, self.nodes = 0, 0
        self._points: list[tuple[float, Array]] = []
        self.best = -np.inf  # the most that a point was worth
        self._resolved = -np.inf  # the largest bound of nodes that need no split: it is attained
        self.bound = np.inf
        root = np.zeros((1, len(space.rhs)))
        self._explore(Boxes(lower[None], upper[None], np.array([np.inf]), root, [None]))
        self._rebound()

    @property
    def open(self) -> bool:
        """Whether anything above the cut is left to split, and room for it."""
        return 0 < len(self._heap) < MOST_OPEN

    @property
    def found(self) -> Array:
        """The best points that were met, best first."""
        self._forget()
        return np.array([x for _, x in self._points]).reshape(-1, self.space.size)

    def step(self) -> None:
        """Split the most promising nodes; until it is done `bound` is that of before."""
        batch = [heapq.heappop(self._heap) for _ in range(min(BATCH, len(self._heap)))]
        nodes = [node for _, _, node in batch for _ in range(2)]
        lower, upper = np.array([n.lower for n in nodes]), np.array([n.upper for n in nodes])
        for k, node in enumerate(nodes):
            (upper if k % 2 == 0 else lower)[k, node.coordinate] = node.split
        bound = np.repeat([-negative for negative, _, _ in batch], 2)
        self._explore(Boxes(lower, upper, bound, np.array([n.multipliers for n in nodes]), [n.basis for n in nodes]))
        self._rebound()

    def _rebound(self) -> None:
        top = -self._heap[0][0] if self._heap else -np.inf
        self.bound = min(self.bound, max(top, self._resolved, self.cut))

    def _explore(self, boxes: Boxes) -> None:
        """Bound boxes and put those that may hold something on the heap."""
        for repeat in range(1 + REPEATS):
            boxes = self._tightened(boxes)
            if not len(boxes):
                return
            over = chords(self.space, boxes.lower, boxes.upper)
            costs = over.slopes - self.prices
            answer = self._relaxations.solve(costs, boxes.lower, boxes.upper, boxes.bases)
            self.nodes += len(boxes)
            self._remember(answer.points)
            unknown = np.isnan(answer.points[:, :1]) & ~answer.empty[:, None]
            multipliers = np.where(unknown, boxes.multipliers, answer.multipliers)
            bound = np.where(answer.empty, -np.inf, boxes.bound)
            boxes = Boxes(boxes.lower, boxes.upper, bound, multipliers, answer.bases)
            width = (boxes.upper - boxes.lower).sum(axis=1)
            boxes, kept = self._squeezed(boxes, over)
            again = (boxes.upper - boxes.lower).sum(axis=1) < AGAIN * width[kept]
            again &= repeat < REPEATS
            self._push(boxes[np.flatnonzero(~again)], answer.points[kept[~again]])
            boxes = boxes[np.flatnonzero(again)]

    def _tightened(self, boxes: Boxes) -> Boxes:
        """What can be had without an LP: propagation, and the multipliers that the box was given."""
        lower, upper, alive = self._propagate(boxes.lower, boxes.upper)
        boxes = Boxes(lower, upper, boxes.bound, boxes.multipliers, boxes.bases)[np.flatnonzero(alive)]
        return self._squeezed(boxes, chords(self.space, boxes.lower, boxes.upper))[0]

    def _squeezed(self, boxes: Boxes, over: Chords) -> tuple[Boxes, NDArray[np.intp]]:
        """Boxes whose bound is above the cut, without what their multipliers rule out; and which these are."""
        reduced = self.space.reduced(over.slopes - self.prices, boxes.multipliers)
        most = over.offset + self.space.most(reduced, boxes.multipliers, boxes.lower, boxes.upper)
        kept = np.flatnonzero(np.minimum(boxes.bound, most) > self.cut)
        lower, upper = squeezed(reduced[kept], most[kept] - self.cut, boxes.lower[kept], boxes.upper[kept])
        bases = [boxes.bases[i] for i in kept]
        return Boxes(lower, upper, np.minimum(boxes.bound, most)[kept], boxes.multipliers[kept], bases), kept

    def _push(self, boxes: Boxes, points: Array) -> None:
        if not len(boxes):
            return
        coordinate, split, resolved = self._splits(boxes, points)
        if np.any(resolved):
            self._resolved = max(self._resolved, float(boxes.bound[resolved].max()))
        for i in np.flatnonzero(~resolved):
            self._serial += 1
            box = boxes.lower[i].copy(), boxes.upper[i].copy(), boxes.multipliers[i].copy()
            node = Node(*box, boxes.bases[i], int(coordinate[i]), float(split[i]))
            heapq.heappush(self._heap, (-float(boxes.bound[i]), self._serial, node))

    def _splits(self, boxes: Boxes, points: Array) -> tuple[NDArray[np.intp], Array, NDArray[np.bool_]]:
        """Where each box is split, or that it needs none; without a point, in the middle of the widest side."""
        space, k = self.space, np.arange(len(boxes))
        low, high = boxes.lower[:, space.curved], boxes.upper[:, space.curved]
        middle, width = (low + high) / 2, high - low
        x = np.clip(np.where(np.isnan(points[:, space.curved]), middle, points[:, space.curved]), low, high)
        left, right = space.curve.value(low, space.prior), space.curve.value(high, space.prior)
        slope = np.divide(right - left, width, out=np.zeros_like(width), where=width > THIN)
        error = np.where(width > THIN, left + slope * (x - low) - space.curve.value(x, space.prior), 0)
        error = np.where(np.isnan(points[:, :1]), np.where(width > THIN, width, 0), error)
        t = error.argmax(axis=1)
        split = ((1 - MIDDLE) * x + MIDDLE * middle)[k, t]
        return t + space.curved.start, split, error[k, t] <= RESOLVED

    def _remember(self, points: Array) -> None:
        points = points[~np.isnan(points[:, 0])]
        values = self.space.worth(points) - points @ self.prices
        self._points += zip(values.tolist(), points, strict=True)
        self.best = max(self.best, float(values.max(initial=-np.inf)))
        if len(self._points) > 10 * KEPT:
            self._forget()

    def _forget(self) -> None:
        self._points = sorted(self._points, key=lambda point: -point[0])[:KEPT]
