"""From output codes to released columns: output y shows values[codes[y]] in each of them.

Outputs come as one code a row, or as one code a row for each column where columns are drawn by themselves.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.alphabet import Value
from trechter.alphabet.values import label

DTYPES: dict[type, type[pl.DataType]] = {str: pl.String, int: pl.Int64, bool: pl.Boolean, dt.date: pl.Date}


@dataclass(frozen=True, eq=False)
class OutputColumn:
    """A released column: its name, the values that it may show, and for each output which one."""

    name: str
    values: tuple[Value, ...]
    codes: NDArray[Any]
    dtype: type[pl.DataType] | None = None

    @classmethod
    def flag(cls, name: str) -> OutputColumn:
        """A column of zeros and ones, in bytes."""
        return cls(name, (0, 1), np.arange(2), pl.UInt8)

    def shown(self) -> pl.Series:
        """What each output shows. Values of one type keep it; otherwise they are shown as text."""
        if self.dtype is not None:
            return pl.Series(self.values, dtype=self.dtype).gather(np.asarray(self.codes, np.uint32))
        kinds = {type(v) for v in self.values if v is not None}
        dtype = DTYPES.get(kinds.pop(), pl.String) if len(kinds) == 1 else pl.String
        if any(type(v) is int and not -(2**63) <= v < 2**63 for v in self.values):
            dtype = pl.String
        values = [label(v) if dtype is pl.String and v is not None else v for v in self.values]
        return pl.Series(values, dtype=dtype).gather(np.asarray(self.codes, np.uint32))


class Decoder:
    """Released rows from output codes."""

    def __init__(self, outputs: Sequence[OutputColumn]) -> None:
        self._columns = {output.name: output.shown() for output in outputs}
        self.outputs = len(outputs[0].codes)

    def __call__(self, codes: NDArray[Any]) -> pl.DataFrame:
        """One row for each code, or for each row of codes."""
        if codes.ndim == 1:
            rows = pl.Series(codes).cast(pl.UInt32)
            return pl.DataFrame({name: column.gather(rows) for name, column in self._columns.items()})
        parts = zip(self._columns.items(), codes.T, strict=True)
        return pl.DataFrame({name: column.gather(pl.Series(part).cast(pl.UInt32)) for (name, column), part in parts})
