"""Boxes of points, many at a time: the concave bound on each, and cheap ways to make them smaller.

On a box l ≤ x ≤ u a convex g(x_t) lies below its chord, so the reduced cost lies below a linear function. A box may drop
every point that is worth no more than `cut`, by the reduced costs of a bound (whoever moves x_j from its end pays |d_j|),
and every point that a row of the polytope rules out given the ends of the other coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.geometry.cone import Array
from trechter.optimal.polytope import Polytope

THIN = 1e-12  # a box thinner than this is a point: the chord is replaced by its higher end
SLACK = 1e-12  # what tightening leaves to float error


@dataclass(frozen=True, eq=False)
class Chords:
    """Σ_t g(x_t) ≤ slopes·x + offset on each box."""

    slopes: Array
    offset: Array


def chords(space: Polytope, lower: Array, upper: Array) -> Chords:
    """The chords of the curve over boxes (k × size)."""
    low, high = lower[:, space.curved], upper[:, space.curved]
    left, right = space.curve.value(low, space.prior), space.curve.value(high, space.prior)
    width = high - low
    wide = width > THIN
    slope = np.where(wide, (right - left) / np.where(wide, width, 1), 0)
    offset = np.where(wide, left - slope * low, np.maximum(left, right))
    slopes = np.zeros_like(lower)
    slopes[:, space.curved] = slope
    return Chords(slopes, offset.sum(axis=1))


def squeezed(reduced: Array, room: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The boxes without points that a bound, `room` above the cut, shows to be below it."""
    steps = np.abs(reduced)
    reach = np.divide(room[:, None], steps, out=np.full_like(steps, np.inf), where=steps > 0) * (1 + 1e-9) + SLACK
    top = np.where(reduced < 0, np.minimum(upper, lower + reach), upper)
    bottom = np.where(reduced > 0, np.maximum(lower, upper - reach), lower)
    return bottom, top


class Propagation:
    """Bounds that the rows of a polytope imply for single coordinates, from entries sorted by coordinate."""

    def __init__(self, space: Polytope) -> None:
        rows = np.vstack([space.matrix, -space.matrix[len(space.conditions) :]])
        self.limits = np.append(space.rhs, -space.rhs[len(space.conditions) :])
        self.plus, self.minus = np.maximum(rows, 0).T.copy(), np.minimum(rows, 0).T.copy()
        self._above, self._below = _Entries.of(rows.T, 1), _Entries.of(rows.T, -1)

    def __call__(self, lower: Array, upper: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Tighter boxes, and which of them may hold a point at all."""
        spare = self.limits - lower @ self.plus - upper @ self.minus
        alive = np.all(spare > -1e-9, axis=1)
        spare = np.maximum(spare, 0)
        top = np.minimum(upper, lower + self._above.least(spare, lower.shape[1]) + SLACK)
        bottom = np.maximum(lower, upper - self._below.least(spare, lower.shape[1]) - SLACK)
        alive &= np.all(bottom <= top + 1e-9, axis=1)
        return np.minimum(bottom, top), np.maximum(bottom, top), alive


@dataclass(frozen=True, eq=False)
class _Entries:
    """The entries of one sign: their rows, 1/|entry|, and where each coordinate that has any starts."""

    rows: NDArray[np.intp]
    inverse: Array
    coordinates: NDArray[np.intp]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, by_coordinate: Array, sign: int) -> _Entries:
        column, row = np.nonzero(by_coordinate * sign > 1e-9)
        coordinates, starts = np.unique(column, return_index=True)
        return cls(row, 1 / np.abs(by_coordinate[column, row]), coordinates, starts)

    def least(self, spare: Array, size: int) -> Array:
        """How far each coordinate may move before some row has nothing to spare."""
        reach = np.full((len(spare), size), np.inf)
        if len(self.rows):
            reach[:, self.coordinates] = np.minimum.reduceat(spare[:, self.rows] * self.inverse, self.starts, axis=1)
        return reach
