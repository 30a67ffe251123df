"""Shares of the values of X from the bits of a unary encoding: unbiased, each value by itself.

If a share b of the n released rows has the bit of x, and a share f of the rows that went in has the value x, then
E b = f p + (1 − f) q, so

    f̂ = (b − q) / (p − q),     Var f̂ = (f p(1 − p) + (1 − f) q(1 − q)) / (n (p − q)²),

and f̂ in place of f gives an unbiased variance too, which is never negative. The rows may themselves be a sample of a
population: then b(1 − b) / ((n − 1)(p − q)²) is the variance of both draws together. Shares may come out below 0 or above 1:
cut off they would be biased.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.errors import ProtocolError, TableError
from trechter.model.protocol import Protocol
from trechter.model.unary import UnaryProtocol
from trechter.tables import open_table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shares:
    """`shares` of the values among the rows, with standard `errors`; `sampling_errors` if rows are a sample themselves."""

    values: tuple[Any, ...]
    shares: Array
    errors: Array
    sampling_errors: Array
    rows: int


def unary_shares(released: Any, protocol: Protocol) -> Shares:
    """The shares of all values, from a released table and its protocol alone."""
    if not isinstance(protocol, UnaryProtocol):
        raise ProtocolError(f"these are estimates from unary encodings, not from a protocol of kind {protocol.kind!r}")
    if protocol.p == protocol.q:
        raise ProtocolError("p = q: the bits say nothing of x, so there is nothing to estimate")
    rows, ones = open_table(released).ones(protocol.released)
    if not rows:
        raise TableError("the released table has no rows, so there is nothing to estimate from")
    p, q, no_p, no_q = protocol.shares
    gap = (protocol.p - protocol.q) / (1 << protocol.places)
    seen = np.array(ones) / rows
    shares = (seen - q) / gap
    variances = np.maximum(shares * p * no_p + (1 - shares) * q * no_q, 0) / rows
    sampled = seen * (1 - seen) / max(rows - 1, 1)
    return Shares(protocol.inputs, shares, np.sqrt(variances) / abs(gap), np.sqrt(sampled) / abs(gap), rows)
