"""Tables in memory: polars, pandas and Arrow, and whatever else narwhals reads eagerly; and polars' LazyFrame.

A LazyFrame is drawn from once, now, and comes back as a LazyFrame over the released rows. If the draw itself were lazy,
each collection of it would release the same rows again, and two releases tell more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import polars as pl

from trechter.errors import TableError
from trechter.tables import pandas
from trechter.tables.engine import BATCH, Engine, Step, batches, reading

FORMATS = {"pyarrow": "arrow"}


class Lazy(Engine):
    """A polars LazyFrame."""

    format = "polars"

    def __init__(self, rows: pl.LazyFrame) -> None:
        self._rows = rows
        with reading("the LazyFrame"):
            self.columns = tuple(rows.collect_schema().names())

    @classmethod
    def open(cls, source: Any) -> Lazy | None:
        """The table, if it is a LazyFrame."""
        return cls(source) if isinstance(source, pl.LazyFrame) else None

    def run(self, names: Sequence[str], step: Step) -> Iterator[pl.DataFrame]:
        """What the step makes of each batch."""
        return map(step, batches(self._rows, names, "the LazyFrame"))

    def collect(self, names: Sequence[str], step: Step) -> pl.LazyFrame:
        """A LazyFrame over rows that have been drawn."""
        return pl.concat(self.run(names, step)).lazy()


class Frame(Engine):
    """A data frame that narwhals reads eagerly."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self._frame = frame
        odd = [name for name in frame.columns if not isinstance(name, str)]
        if odd:
            raise TableError(f"column names must be text, but one is {odd[0]!r}; rename it")
        self.columns = tuple(frame.columns)
        self.format = FORMATS.get(frame.implementation.value, frame.implementation.value)

    @classmethod
    def open(cls, source: Any) -> Frame | None:
        """The table, if narwhals knows its type."""
        try:
            frame = nw.from_native(source, eager_only=True)
        except nw.exceptions.DuplicateError as error:
            shown = " ".join(str(error).split())
            raise TableError(f"the table has several columns of the same name ({shown}); rename them") from None
        except TypeError:
            return None
        return cls(frame)

    def run(self, names: Sequence[str], step: Step) -> Iterator[pl.DataFrame]:
        """What the step makes of each batch."""
        columns = [self._frame.get_column(name) for name in names]
        for start in range(0, max(len(self._frame), 1), BATCH):
            part = [_polars(column[start : start + BATCH], column.name) for column in columns]
            yield step(pl.DataFrame(part))

    def collect(self, names: Sequence[str], step: Step) -> Any:
        """A table of the same type, with the same index if it has one."""
        released = pl.concat(self.run(names, step))
        native = self._frame.to_native()
        if self._frame.implementation.is_pandas_like():
            return pandas.from_polars(released, native)
        return released.to_arrow() if self._frame.implementation.is_pyarrow() else released


def _polars(column: nw.Series[Any], name: str) -> pl.Series:
    native = column.to_native()
    if isinstance(native, pl.Series):
        return native
    if column.implementation.is_pandas_like():
        return pandas.to_polars(native, name)
    try:
        return column.to_polars().alias(name)  # a slice of an Arrow column has lost its name
    except pandas.FAILURES as error:
        raise TableError(f"column {name!r} cannot be read: {error}") from error
