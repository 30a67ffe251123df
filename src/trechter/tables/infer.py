"""Learning a column's domain from the data: its distinct values, sorted, with null last if there are any.

Text from CSV becomes integers if every cell is written as Python would write one, dates if every cell is written as
in 2024-03-01, and stays text otherwise; so 007 stays text. Fractions and long lists have no natural categories: they
need bins, or a declared list, and the error shows what to write.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from trechter.alphabet import Attribute
from trechter.errors import TableError
from trechter.tables.kinds import DTYPES, as_kind, nature

MOST = 1000
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
KINDS = {dtype: kind for kind, dtype in DTYPES.items()} | {pl.Null: "null"}


class NoCategoriesError(Exception):
    """A column whose values are no categories."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name, why)
        self.name, self.why = name, why


def distinct(batch: pl.DataFrame) -> pl.DataFrame:
    """One row: the distinct values of each column, as a list."""
    return pl.DataFrame([pl.Series(c.name, [_natural(c).unique()]) for c in batch])


def learn(names: Sequence[str], parts: Iterable[pl.DataFrame], textual: bool) -> tuple[Attribute, ...]:
    """The attributes from the distinct values of batches; raises NoCategoriesError if there are too many."""
    found: dict[str, set[Any]] = {name: set() for name in names}
    kinds: dict[str, set[str]] = {name: set() for name in names}
    for part in parts:
        for column in part:
            values = column[0]
            kinds[column.name].add(KINDS[values.dtype.base_type()])
            found[column.name].update(values)
            if len(found[column.name]) > MOST:
                raise NoCategoriesError(column.name, f"has more than {MOST:,} different values")
    return tuple(_attribute(name, found[name], kinds[name] - {"null"}, textual) for name in names)


def _natural(column: pl.Series) -> pl.Series:
    kind = nature(column)
    return column if kind == "null" else as_kind(column, kind)


def _attribute(name: str, values: set[Any], kinds: set[str], textual: bool) -> Attribute:
    if not values:
        raise TableError("the table has no rows, so nothing can be learned from it")
    if len(kinds) > 1:
        raise TableError(f"column {name!r} mixes types ({', '.join(sorted(kinds))}); give it one type")
    if len(values) == 1:
        raise TableError(
            f"column {name!r} has one value only ({next(iter(values))!r}), so there is nothing to protect "
            "or to publish in it; leave it out"
        )
    kind = next(iter(kinds))
    plain = values - {None}
    if kind == "text" and textual:
        kind, plain = _typed(plain)
    if kind == "number":
        if not all(float(v).is_integer() for v in plain):
            raise NoCategoriesError(name, "has numbers with fractions")
        kind, plain = "integer", {int(v) for v in plain}
    return Attribute(name, (*sorted(plain), *((None,) if None in values else ())), kind)


def _typed(cells: set[str]) -> tuple[str, set[Any]]:
    if all(INTEGER.fullmatch(cell) for cell in cells):
        return "integer", {int(cell) for cell in cells}
    if all(map(_is_date, cells)):
        return "date", {dt.date.fromisoformat(cell) for cell in cells}
    return "text", cells


def _is_date(cell: str) -> bool:
    try:
        return bool(DATE.fullmatch(cell) and dt.date.fromisoformat(cell))
    except ValueError:
        return False
