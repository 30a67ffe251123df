"""Expected distortion E d(X,Y) = Σ_y Σ_x p_x Q[y,x] d(x,y): what it costs to take the release for the truth.

An output that is one of the readings counts as that reading. Any other, a mixture, is read as well as it can be:
`φ(w_y) = −min_ŷ Σ_i p_i w_i d(x_i, ŷ)` is convex and positively homogeneous, so the row-cone theorem holds for it too.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet import Bin
from trechter.errors import RequestError
from trechter.measures.measure import Array, Measure
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.letters import letters, values_of
from trechter.model.outputs import show
from trechter.model.protocol import Protocol

Given = Array | Sequence[Sequence[float]] | Callable[[Any, Any], float]


class Distortion(Measure):
    """d(x, ŷ) as a table, one row for each value x and one column for each reading ŷ, or as a function of the two.

    The readings are the values of X, unless others are named.
    """

    symbol = "E d(X,Y)"
    less_is_better = True

    def __init__(self, d: Given, readings: Sequence[Any] | None = None) -> None:
        self.d, self._readings = d, None if readings is None else tuple(readings)

    def readings(self, joint: Joint) -> tuple[Any, ...]:
        """What an output can be taken for."""
        return values_of(joint.release) if self._readings is None else self._readings

    def table(self, joint: Joint) -> Array:
        """d[x, ŷ], checked."""
        values, readings = values_of(joint.release), self.readings(joint)
        given = [[self.d(x, y) for y in readings] for x in values] if callable(self.d) else self.d
        try:
            table = np.array(given, np.float64)
        except (TypeError, ValueError):
            raise RequestError(
                f"a distortion is a table of numbers, or a function that gives one; got {given!r:.200}"
            ) from None
        if table.shape != (len(values), len(readings)):
            raise RequestError(
                f"a distortion of shape {table.shape} for {len(values)} values of X and {len(readings)} readings; "
                "give one row for each value and one column for each reading, and name readings that are no values"
            )
        if not np.all(np.isfinite(table)):
            x, y = np.argwhere(~np.isfinite(table))[0]
            raise RequestError(
                f"the distortion of {show(values[x])!r} read as {show(readings[y])!r} is {table[x, y]}; it must be finite: "
                "give what must not happen a large number"
            )
        return table

    def costs(self, joint: Joint, reads: str) -> Array:
        """c[i, ŷ] = p_i d(x_i, ŷ): what a row w costs if it is read as ŷ is w·c."""
        seen = letters(joint, reads)
        return np.asarray(seen.masses[:, None] * self.table(joint)[seen.x_of])

    def utility(self, joint: Joint, protocol: Protocol) -> float:
        """E d(X,Y)."""
        costs = protocol.matrix @ self.costs(joint, protocol.reads)
        return float(costs[np.arange(len(costs)), self.taken_for(joint, protocol)].sum())

    def best(self, joint: Joint, protocol: Protocol) -> NDArray[np.intp]:
        """The reading of least cost for each output."""
        return np.asarray((protocol.matrix @ self.costs(joint, protocol.reads)).argmin(axis=1))

    def taken_for(self, joint: Joint, protocol: Protocol) -> NDArray[np.intp]:
        """The reading that each output is, or else the best."""
        best = self.best(joint, protocol)
        if not isinstance(protocol, DenseProtocol) or protocol.released != tuple(a.name for a in joint.release):
            return best
        position = {reading: k for k, reading in enumerate(self.readings(joint))}
        own = np.array([position.get(output, -1) for output in protocol.outputs])
        return np.where(own < 0, best, own)

    def __repr__(self) -> str:
        return f"Distortion({getattr(self.d, '__name__', '…')})"


def hamming(x: Any, y: Any) -> float:
    """1 if the two differ; of several attributes, how many do."""
    return float(sum(a != b for a, b in _pairs(x, y)))


def absolute(x: Any, y: Any) -> float:
    """|x − y|, added up over several attributes; a date counts days, a bin is its middle."""
    return float(sum(abs(_place(a) - _place(b)) for a, b in _pairs(x, y)))


def squared(x: Any, y: Any) -> float:
    """(x − y)², added up over several attributes; a date counts days, a bin is its middle."""
    return float(sum((_place(a) - _place(b)) ** 2 for a, b in _pairs(x, y)))


def _pairs(x: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    return zip(*(value if isinstance(value, tuple) else (value,) for value in (x, y)), strict=True)


def _place(value: Any) -> float:
    """Where a value lies on a line."""
    match value:
        case Bin(low, high):
            return (_place(low) + _place(high)) / 2
        case dt.date():
            return float(value.toordinal())
        case int() | float():
            return float(value)
    raise RequestError(f"{show(value)!r} is no number, so there is no distance to it; count errors instead, or give a table")
