"""Columns of zeros and ones: how many ones each has."""

from __future__ import annotations

import polars as pl

from trechter.errors import TableError


def ones(batch: pl.DataFrame) -> pl.DataFrame:
    """The ones in each column of a batch, and its rows as a last column without a name."""
    found = {column.name: _ones(column) for column in batch}
    return pl.DataFrame({**found, "": batch.height})


def _ones(column: pl.Series) -> int:
    numbers = column.cast(pl.Float32, strict=False)
    wrong = ((numbers != 0) & (numbers != 1)).fill_null(True)
    if wrong.any():
        cell = column.filter(wrong)[0]
        raise TableError(f"column {column.name!r} has the cell {cell!r}; a released column of a unary encoding holds 0 and 1")
    return int((numbers == 1).sum())
