"""Released bits of a unary encoding: 2^a outputs, of which only the sums and the patterns that occur are looked at.

A row has the bit of its own value with probability p and every other with probability q. So of a cell of m values the number k
of its bits that a row has, θ p + (m − θ) q in the mean, is all that inversion needs: a_k = (k − m q)/(p − q). Up to a factor

    P(bits | x) ∝ p (1 − q) / (q (1 − p)) if x has its bit, else 1,

which is all that the likelihood needs of the patterns that occur.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trechter.errors import ProtocolError, TableError
from trechter.model.unary import UnaryProtocol
from trechter.tables import Table
from trechter.tables.flags import sums

Array = NDArray[np.float64]

MOST_ENTRIES = 20_000_000  # of the patterns that occur, times the values
MOST_VALUES = 500  # with more of them the most likely shares take long
FEW_VALUES = 20  # so many that patterns repeat, and are counted however many rows there are


@dataclass(frozen=True, eq=False)
class Bits:
    """`sums[cell, k]`: the rows with k ones in a cell; the different `patterns` and their `counts`, if they are few."""

    protocol: UnaryProtocol
    sums: NDArray[np.int64]
    patterns: NDArray[np.uint8] | None
    counts: NDArray[np.int64] | None

    @property
    def coefficients(self) -> Array:
        """a_k of a cell."""
        size = self.sums.shape[1] - 1
        _, q, _, _ = self.protocol.shares
        gap = (self.protocol.p - self.protocol.q) / (1 << self.protocol.places)
        return np.asarray((np.arange(size + 1) - size * q) / gap)

    @property
    def likelihood(self) -> Array | None:
        """P(bits | x) up to a factor for each pattern."""
        if self.patterns is None:
            return None
        p, q, no_p, no_q = self.protocol.shares
        found = np.where(self.patterns == 1, p * no_q, q * no_p)
        most = found.max(axis=1, keepdims=True)
        return np.where(most > 0, found / np.where(most > 0, most, 1), 1.0)


def read_bits(source: Table, protocol: UnaryProtocol, groups: NDArray[np.intp]) -> Bits:
    """What is needed of released bits; a row of `groups` has the values of one cell."""
    if protocol.p == protocol.q:
        raise ProtocolError("p = q: the bits say nothing of x, so there is nothing to estimate")
    values, patterns, counts = len(protocol.inputs), None, None
    if values <= FEW_VALUES:
        patterns, counts = source.bit_patterns(protocol.released)
        found = Bits(protocol, sums(patterns, groups, counts), patterns, counts)
    else:
        found = Bits(protocol, source.bit_sums(protocol.released, groups), None, None)
    rows = int(found.sums[0].sum())
    if not rows:
        raise TableError("the released table has no rows, so there is nothing to estimate from")
    if patterns is None and values <= MOST_VALUES and rows * values <= MOST_ENTRIES:
        patterns, counts = source.bit_patterns(protocol.released)
        return replace(found, patterns=patterns, counts=counts)
    return found
