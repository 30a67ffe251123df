"""Counting: how many rows, or how much weight, each combination of values has.

Kish's effective number of rows says how many equally weighted rows the weighted ones are worth: (Σw)² / Σw².
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.errors import TableError
from trechter.tables.encode import Encoding
from trechter.tables.engine import BATCH
from trechter.tables.weights import sums

MOST_CELLS = 10**8


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of each combination of values: integers, or exact Fractions if rows carry weights."""

    array: NDArray[Any]
    rows: int
    effective: float


def check_size(attributes: Sequence[Attribute]) -> None:
    """Refuse a table of counts that would not fit into memory."""
    cells = math.prod(len(a) for a in attributes)
    if cells > MOST_CELLS:
        sizes = " × ".join(f"{len(a)} ({a.name})" for a in attributes)
        raise TableError(f"{sizes} is {cells:,} combinations, too many to count; use bins, or fewer columns")


def tally(encoding: Callable[[pl.DataFrame], NDArray[np.intp]], batch: pl.DataFrame) -> pl.DataFrame:
    """The rows of each code in a batch."""
    codes = encoding(batch)
    if codes.max(initial=0) < BATCH:
        rows = np.bincount(codes)
        seen = np.flatnonzero(rows)
        return pl.DataFrame({"code": seen, "rows": rows[seen]})
    return pl.DataFrame({"code": codes}).group_by("code").len("rows")


def tally_weights(encoding: Encoding, weight: str, batch: pl.DataFrame) -> pl.DataFrame:
    """The weight of each code in a batch, in exact parts."""
    return sums(encoding(batch), batch[weight])


def total(parts: Iterable[pl.DataFrame], shape: tuple[int, ...]) -> Counts:
    """Add up the tallies of batches."""
    array = np.zeros(math.prod(shape), np.int64)
    for part in parts:
        array[part["code"].to_numpy()] += part["rows"].to_numpy()
    rows = int(array.sum())
    return Counts(array.reshape(shape), rows, float(rows))


def total_weights(parts: Iterable[pl.DataFrame], shape: tuple[int, ...]) -> Counts:
    """Add up the weights of batches."""
    integers: defaultdict[tuple[int, int, int], int] = defaultdict(int)
    squares: defaultdict[tuple[int, int], float] = defaultdict(float)
    rows = 0
    for part in parts:
        for code, base, exponent, m, square, n in part.iter_rows():
            integers[code, base, exponent] += m
            squares[base, exponent] += square
            rows += n
    cells: defaultdict[int, Fraction] = defaultdict(Fraction)
    for (code, base, exponent), m in integers.items():
        cells[code] += m * Fraction(base) ** exponent
    array = np.full(math.prod(shape), Fraction(0), dtype=object)
    array[list(cells)] = list(cells.values())
    return Counts(array.reshape(shape), rows, _effective(sum(cells.values(), Fraction(0)), squares))


def _effective(weight: Fraction, squares: Mapping[tuple[int, int], float]) -> float:
    # Fractions, since the square of a large or a tiny weight may be beyond what a float can hold.
    square = sum((Fraction(s) * Fraction(b) ** (2 * e) for (b, e), s in squares.items()), Fraction(0))
    return float(weight**2 / square) if square else 0.0
