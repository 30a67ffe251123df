"""What outputs tell, P(v|y), as a list of the cells that are not 0: of many values each output names a few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.finish.explain import likely, posteriors
from trechter.model.joint import Joint
from trechter.model.protocol import Protocol
from trechter.model.sparse import SparseProtocol

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Told:
    """P(v|y) = share; cells in the order of their outputs."""

    output: Index
    value: Index
    share: Array

    @classmethod
    def by(cls, protocol: Protocol, joint: Joint) -> Told:
        """P(x|y); of sparse protocols those of at least one in a million."""
        if isinstance(protocol, SparseProtocol):
            return cls(*likely(protocol.sparse, joint, protocol.reads))
        table = posteriors(protocol.matrix, joint, protocol.reads)
        y, x = np.nonzero(table)
        return cls(y, x, table[y, x])

    def about(self, shape: Sequence[int], j: int) -> Told:
        """The same of attribute j, where x is flattened from this shape."""
        v = np.unravel_index(self.value, tuple(shape))[j]
        cell, place = np.unique(self.output * shape[j] + v, return_inverse=True)
        return Told(cell // shape[j], cell % shape[j], np.bincount(place, self.share).astype(np.float64))

    def of(self, y: int) -> tuple[Index, Array]:
        """The values of one output and their shares, the likeliest first."""
        cells = slice(*np.searchsorted(self.output, [y, y + 1]))
        order = np.argsort(-self.share[cells], kind="stable")
        return self.value[cells][order], self.share[cells][order]

    def largest(self, weights: Array, outputs: int) -> Array:
        """For each output its largest weighted share."""
        found = np.zeros(outputs)
        np.maximum.at(found, self.output, weights)
        return found
