"""Pairs of events A, B ⊆ cells, and the worst that F makes of P(y|A) against P(y|B).

Every privacy notion bounds ratios P(y|A) / P(y|B): of two secrets, of a secret and everything, of either within a slice.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Events:
    """A and B of each of m conditions, as masks over cells."""

    over: Mask
    under: Mask

    def __len__(self) -> int:
        return len(self.over)

    @cached_property
    def disjoint(self) -> bool:
        """Whether no A meets its B."""
        return not np.any(self.over & self.under)

    @cached_property
    def cells_over(self) -> tuple[NDArray[np.intp], Mask]:
        """The cells of each A, and which of the columns are cells at all."""
        return _listed(self.over)

    @cached_property
    def cells_under(self) -> tuple[NDArray[np.intp], Mask]:
        """The cells of each B."""
        return _listed(self.under)

    def chosen(self, which: NDArray[np.intp]) -> Events:
        """Some of the pairs, in this order."""
        return Events(self.over[which], self.under[which])


@dataclass(frozen=True, eq=False)
class Worst:
    """For each of b rows and m pairs: the distributions P(·|A) and P(·|B) of the worst P, on the cells of A and of B."""

    over: Array  # b × m × most cells of an A
    under: Array
    excess: Array  # b × m: P(w|A) − factor·P(w|B)


def _listed(mask: Mask) -> tuple[NDArray[np.intp], Mask]:
    width = int(mask.sum(axis=1).max(initial=0))
    order = np.argsort(~mask, axis=1, kind="stable")[:, :width]
    return order, np.take_along_axis(mask, order, axis=1)
