"""Released bits of a unary encoding: 2^a outputs, of which only the sums and the patterns that occur are looked at.

A row has the bit of its own value with probability p and every other with probability q. So of a cell of m values the number k
of its bits that a row has, θ p + (m − θ) q in the mean, is all that inversion needs: a_k = (k − m q)/(p − q). Up to a factor

    P(bits | x) ∝ p (1 − q) / (q (1 − p)) if x has its bit, else 1,

which is all that the likelihood needs of the patterns that occur.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trechter.errors import ProtocolError, TableError
from trechter.model.unary import UnaryProtocol
from trechter.tables import Table

Array = NDArray[np.float64]

MOST_ENTRIES = 20_000_000  # of the patterns that occur, times the values
MOST_VALUES = 400


def bit_sums(source: Table, protocol: UnaryProtocol, groups: NDArray[np.intp]) -> tuple[Array, Array]:
    """Coefficients and counts of the sums of bits in each cell; a row of `groups` has the values of one."""
    if protocol.p == protocol.q:
        raise ProtocolError("p = q: the bits say nothing of x, so there is nothing to estimate")
    counts = source.bit_sums(protocol.released, groups)
    if not counts[0].sum():
        raise TableError("the released table has no rows, so there is nothing to estimate from")
    size = groups.shape[1]
    _, q, _, _ = protocol.shares
    gap = (protocol.p - protocol.q) / (1 << protocol.places)
    return (np.arange(size + 1) - size * q) / gap, counts.astype(np.float64)


def patterns(source: Table, protocol: UnaryProtocol) -> tuple[Array, NDArray[np.int64]] | None:
    """P(bits | x) up to a factor for each pattern that occurs, and how often it does; None if there are too many."""
    if len(protocol.inputs) > MOST_VALUES:
        return None
    found, counts = source.bit_patterns(protocol.released)
    if found.size > MOST_ENTRIES:
        return None
    p, q, no_p, no_q = protocol.shares
    likelihood = np.where(found == 1, p * no_q, q * no_p)
    most = likelihood.max(axis=1, keepdims=True)
    return np.where(most > 0, likelihood / np.where(most > 0, most, 1), 1.0), counts
