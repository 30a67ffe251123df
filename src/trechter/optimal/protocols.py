"""Rows that a float solver found, made rows of a cone and of a protocol.

What is off by float noise is mixed with the constant row, which says nothing and is always private; what is off by more
was no answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trechter.errors import SolverError
from trechter.geometry import Cone
from trechter.geometry.cone import Array

ROUND = 1e-13  # an excess that float arithmetic leaves, relative to the terms that cancel
MOST_MIXED = 1e-6  # of the constant row in a row that is repaired
EXACT = 1e-12  # what a protocol may be off


def private(cone: Cone, masses: Array, posteriors: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Rows r with p·r = 1 of these posteriors, and which of them are in the cone."""
    rows = np.maximum(posteriors, 0) / masses
    rows = rows / (rows @ masses)[:, None]
    share = _share(cone, rows)
    rows = (1 - share)[:, None] * rows + share[:, None]
    near = np.all(posteriors >= -MOST_MIXED, axis=1) & (share <= MOST_MIXED)
    return rows, near & (cone.excess(rows) <= EXACT)


def _share(cone: Cone, rows: Array) -> Array:
    """The least share of the constant row that brings each row in; 1 if none does."""
    sums, idle = rows @ cone.A.T, -cone.A.sum(axis=1)
    over = np.where(sums > ROUND * (rows @ np.abs(cone.A).T), sums, 0)
    needed = np.divide(over, over + idle, out=np.ones_like(over), where=over + idle > 0)
    return np.asarray(np.max(np.where(over > 0, needed, 0), axis=1, initial=0))


def completed(cone: Cone, rows: Array) -> Array:
    """The protocol of rows that sum to 1 but for float noise: what is missing goes to a row near the constant one."""
    rows = rows / max(1.0, float(rows.sum(axis=0).max()))
    rest = np.maximum(1 - rows.sum(axis=0), 0)
    if np.max(rest) > EXACT:
        idle = -cone.A.sum(axis=1)
        needed = np.divide(cone.A @ rest, idle, out=np.zeros(len(idle)), where=idle > 0)
        share = min(max(0.0, float(np.max(needed, initial=0))), 1.0)
        rows = (1 - share) * rows
        rows = np.vstack([rows, 1 - rows.sum(axis=0)])
    off, outside = float(np.max(np.abs(rows.sum(axis=0) - 1))), float(np.max(cone.excess(rows)))
    if max(off, outside) > EXACT:
        raise SolverError(
            f"the protocol found misses Σ = 1 by {off:.2g} and the cone by {outside:.2g}; "
            "the masses of the letters may be too unlike"
        )
    return rows
