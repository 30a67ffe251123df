"""Columns of zeros and ones: how many ones each row has in a group of columns, and which patterns occur."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.errors import TableError


def flags(batch: pl.DataFrame) -> NDArray[np.uint8]:
    """The zeros and ones of a batch, one row each."""
    return np.stack([_flags(column) for column in batch], axis=1)


def sums(bits: NDArray[np.uint8], groups: NDArray[np.intp], rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """For each group of columns how many rows have 0, 1, … ones in it; or how many of so many rows of each kind."""
    size, total = groups.shape[1], len(bits) if rows is None else rows.sum()
    if size == 1:
        ones = (bits.sum(axis=0, dtype=np.int64) if rows is None else rows @ bits.astype(np.int64))[groups[:, 0]]
        return np.stack([total - ones, ones], axis=1)
    counts = [np.bincount(bits[:, g].sum(axis=1, dtype=np.intp), rows, size + 1) for g in groups]
    return np.stack(counts).astype(np.int64)


def patterns(batch: pl.DataFrame) -> pl.DataFrame:
    """The different rows of a batch, and as a last column how many rows are like them."""
    bits = pl.DataFrame(flags(batch), schema=[str(j) for j in range(batch.width)])
    return bits.group_by(bits.columns).len("rows").select(*bits.columns, pl.col("rows").cast(pl.Int64))


def _flags(column: pl.Series) -> NDArray[np.uint8]:
    numbers = column.cast(pl.Float32, strict=False)
    wrong = ((numbers != 0) & (numbers != 1)).fill_null(True)
    if wrong.any():
        cell = column.filter(wrong)[0]
        raise TableError(f"column {column.name!r} has the cell {cell!r}; a released column of a unary encoding holds 0 and 1")
    return numbers.cast(pl.UInt8).to_numpy()
