"""A row cone K = {w ≥ 0 : A w ≤ 0}: what a privacy notion asks of one row of a protocol.

A polyhedral cone in the non-negative orthant is pointed, so it is the set of non-negative sums of its extreme rays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cone:
    """The conditions A (k × n) of a cone; floats, or exact numbers (int, Fraction) in an object array."""

    A: NDArray[np.float64] | NDArray[np.object_]

    @property
    def exact(self) -> bool:
        """Whether the conditions are exact numbers."""
        return self.A.dtype == object

    @property
    def dimension(self) -> int:
        """The number of coordinates n."""
        return int(self.A.shape[1])

    @cached_property
    def active(self) -> Cone:
        """Without the rows that every w ≥ 0 obeys (no positive coefficient) and without repeats."""
        kept = {tuple(row): k for k, row in enumerate(self.A.tolist()) if any(value > 0 for value in row)}
        return Cone(self.A[sorted(kept.values())])

    def excess(self, rows: Array) -> Array:
        """How far each row w is outside, relative to the terms that cancel: max (A w)₊ / |A||w|; 0 is inside."""
        conditions = np.asarray(self.A, float)
        sums, scale = rows @ conditions.T, np.abs(rows) @ np.abs(conditions).T
        worst: Array = np.max(np.maximum(sums, 0) / np.where(scale > 0, scale, 1), axis=1, initial=0)
        return worst
