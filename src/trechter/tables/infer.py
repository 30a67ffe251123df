"""Learning a column's domain from the data: its distinct values, sorted, with null last if there are any.

Text from CSV becomes integers if every cell is written as Python would write one, dates if every cell is written as
in 2024-03-01, and stays text otherwise; so 007 stays text. Fractions and long lists have no natural categories: they
need bins, or a declared list, and the error shows what to write.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import polars as pl

from trechter.alphabet import Attribute, Value
from trechter.errors import TableError
from trechter.tables.kinds import as_kind, nature

MOST = 1000
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class NoCategoriesError(Exception):
    """A column whose values are no categories, and how so."""

    def __init__(self, name: str, how: str) -> None:
        super().__init__(name)
        self.name, self.how = name, how


def distinct(batch: pl.DataFrame) -> pl.DataFrame:
    """One row: the distinct values of each column, as a list, and the type that they have."""
    found = {}
    for column in batch:
        kind = nature(column)
        values = (column if kind == "null" else as_kind(column, kind)).unique()
        found[column.name] = [{"kind": kind, "values": (values.cast(pl.String) if kind == "text" else values)}]
    return pl.DataFrame(found)
