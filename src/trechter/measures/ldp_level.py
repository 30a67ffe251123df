"""LDP(Q) = max over outputs y and values x, x' of ln Q[y,x'] / Q[y,x]: the old privacy level, towards X itself.

It is the level of `tr.LDP(…, protect="x")`, but asks for no joint: from the integers that are drawn, and so exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from trechter.errors import ProtocolError, expect
from trechter.measures.metric import Metric
from trechter.model.operations import exact_weights
from trechter.model.protocol import EXAMPLE, Protocol
from trechter.model.unary import UnaryProtocol


@dataclass(frozen=True)
class LdpLevel(Metric):
    """LDP(Q), and e^LDP(Q) exactly; None where it is infinite."""

    ratio: Fraction | None = None


def ldp_level(protocol: Protocol) -> LdpLevel:
    """LDP(Q) of a protocol that reads x."""
    expect(protocol, Protocol, EXAMPLE)
    if protocol.reads != "x":
        raise ProtocolError("LDP(Q) is about a protocol that reads x; this one reads the secret too")
    ratio = _ratio(protocol)
    return LdpLevel("LDP", math.inf if ratio is None else _log(ratio), ratio=ratio)


def _ratio(protocol: Protocol) -> Fraction | None:
    if isinstance(protocol, UnaryProtocol) and len(protocol.inputs) > 1:
        whole = 1 << protocol.places
        under, over = sorted((protocol.p * (whole - protocol.q), protocol.q * (whole - protocol.p)))
        return Fraction(over, under) if under else Fraction(1) if not over else None
    worst = Fraction(1)
    for row in exact_weights(protocol):
        least, most = int(row.min()), int(row.max())
        if not least and most:
            return None
        if most * worst.denominator > least * worst.numerator:
            worst = Fraction(most, least)
    return worst


def _log(ratio: Fraction) -> float:
    """Near 1 to all digits, and beyond all floats."""
    return math.log1p(ratio - 1) if ratio < 2 else math.log(ratio.numerator) - math.log(ratio.denominator)
