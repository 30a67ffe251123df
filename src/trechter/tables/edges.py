"""Examples of round bin edges that cover a range: steps of 1, 2 or 5 times a power of ten, or whole years.

They only show how edges are written. Good edges are public: they come from what is known without the data.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import Any

import polars as pl

from trechter.alphabet import Attribute
from trechter.alphabet.schema import table
from trechter.alphabet.values import Edge
from trechter.errors import TableError
from trechter.tables.engine import Step
from trechter.tables.kinds import READ, as_kind, is_null, nature

BINS = 5


def extent(kind: str, batch: pl.DataFrame) -> pl.DataFrame:
    """Lowest and highest value of the batch's column if all of it is of this kind; otherwise nothing."""
    column = batch.to_series()
    if (nature(column), kind) not in READ:
        return pl.DataFrame({"low": [None], "high": [None], "all": False, "whole": False})
    values = as_kind(column, kind)
    complete = values.null_count() == is_null(column).sum()
    whole = kind == "number" and bool((values.drop_nulls() % 1 == 0).all())
    values = values.filter(values.is_finite()) if kind == "number" else values
    return pl.DataFrame({"low": [values.min()], "high": [values.max()], "all": complete, "whole": whole})


def no_categories(name: str, why: str, scan: Callable[[Step], Iterable[pl.DataFrame]]) -> TableError:
    """The error for a column without categories, with an example of how to declare some."""
    for kind in ("number", "date"):
        rows = [row for part in scan(partial(extent, kind)) for row in part.rows()]
        lows = [low for low, _, _, _ in rows if low is not None]
        if lows and all(every for _, _, every, _ in rows):
            high = max(high for _, high, _, _ in rows if high is not None)
            whole = all(integers for _, _, _, integers in rows)
            return TableError(_bins(name, why, "integer" if whole else kind, min(lows), high))
    return TableError(
        f"column {name!r} {why}; declare in a schema those that matter, and a catch-all for the rest:\n"
        f"{table(Attribute(name, ('first', 'second', 'other'), 'text', 'other'))}"
    )


def _bins(name: str, why: str, kind: str, low: Any, high: Any) -> str:
    edges = years(low, high) if isinstance(low, dt.date) else steps(low, high, kind == "integer")
    return (
        f"column {name!r} {why}; declare bins in a schema, with edges that are known without the data, such as\n"
        f"{table(Attribute.binned(name, edges, kind))}"
    )


def steps(low: float, high: float, whole: bool) -> list[Edge]:
    """Round edges from at most `low` to at least `high`."""
    smallest = 1.0 if whole else max(abs(low), abs(high), 1e-300) * 1e-9
    step = _round_up(max(high / BINS - low / BINS, smallest))
    start = math.floor(Fraction(low) / step)
    stop = max(math.ceil(Fraction(high) / step), start + 1)
    return [_plain(i * step) for i in range(start, stop + 1)]


def years(low: dt.date, high: dt.date) -> list[Edge]:
    """New Year's Days from at most `low` to after `high`."""
    step = math.ceil((high.year - low.year + 1) / BINS)
    starts = range(low.year, high.year + step + 1, step)
    return [dt.date(year, 1, 1) if year <= dt.MAXYEAR else dt.date.max for year in starts]


def _round_up(rough: float) -> Fraction:
    power = Fraction(10) ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough)


def _plain(edge: Fraction) -> Edge:
    return int(edge) if edge.denominator == 1 else float(edge)
