"""Columns of pandas and its kin, to polars and back, without pyarrow where it is not installed.

Object columns are read cell by cell, because a common type would turn True into 1 unseen. NaN, NaT and NA are nulls.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from trechter.errors import TableError

# A subclass comes before its base: bool is an int, a timestamp is a date.
KINDS: dict[type, str] = {
    str: "text",
    bool: "truth values",
    int: "integers",
    float: "floats",
    Decimal: "decimals",
    dt.datetime: "timestamps",
    dt.date: "dates",
}
FAILURES = (TypeError, ValueError, OverflowError, NotImplementedError, pl.exceptions.PolarsError)


def to_polars(column: Any, name: str) -> pl.Series:
    """A column of pandas as one of polars."""
    plain = isinstance(column.dtype, np.dtype) and column.dtype != object
    try:
        if plain or (column.dtype != object and importlib.util.find_spec("pyarrow")):
            return pl.Series(name, column)
        return _from_cells(column, name)
    except FAILURES as error:
        raise TableError(f"column {name!r} cannot be read: {error}") from error


def from_polars(released: pl.DataFrame, like: Any) -> Any:
    """A table of polars as one of pandas, with the index of `like`."""
    pandas = nw.get_native_namespace(like)
    return pandas.DataFrame({c.name: _to_array(c, pandas) for c in released}, index=like.index)


def _to_array(column: pl.Series, pandas: Any) -> Any:
    if column.dtype == pl.Date:
        column = column.cast(pl.Datetime("us"))  # pandas has no dates
    if column.null_count() and column.dtype in (pl.Int64, pl.Boolean):
        return pandas.array(column.to_list(), dtype="Int64" if column.dtype == pl.Int64 else "boolean")
    if column.dtype == pl.String and importlib.util.find_spec("pyarrow"):
        return column.to_pandas().array  # ten times as fast as by way of Python's strings
    return column.to_numpy()


def _from_cells(column: Any, name: str) -> pl.Series:
    missing = column.isna().to_numpy(dtype=bool)
    cells = [None if gone else cell for cell, gone in zip(column.astype(object), missing, strict=True)]
    if any(issubclass(t, np.generic) for t in set(map(type, cells))):
        cells = [c.item() if isinstance(c, np.generic) else c for c in cells]
    kind = _one_kind(cells, name)
    if kind is int:
        small = all(c is None or -(2**63) <= c < 2**63 for c in cells)
        return pl.Series(name, cells, dtype=pl.Int64 if small else pl.Int128)
    return pl.Series(name, cells)


def _one_kind(cells: list[Any], name: str) -> type | None:
    kinds = {_kind(t, name): t for t in set(map(type, cells)) - {type(None)}}
    if len(kinds) > 1:
        shown = [f"{next(c for c in cells if type(c) is t)!r} ({KINDS[k]})" for k, t in kinds.items()]
        raise TableError(f"column {name!r} mixes types: {' and '.join(sorted(shown))}; give it one type")
    return next(iter(kinds), None)


def _kind(cell: type, name: str) -> type:
    for kind in KINDS:
        if issubclass(cell, kind):
            return kind
    raise TableError(f"column {name!r} has cells of type {cell.__name__}; they must be {', '.join(KINDS.values())}")
