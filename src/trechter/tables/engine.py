"""What an engine has to offer: the columns it holds, and its rows as record batches that pass through a step.

A record batch is a small polars DataFrame. A step turns one into another (codes into counts, values into released
values); it never sees the table, so an engine is free to run steps where the data is. Whatever is done to values is
shared by all engines; one engine is one file with a class that has these members, and one line in `ENGINES`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from trechter.errors import TableError, reason

Step = Callable[[pl.DataFrame], pl.DataFrame]

BATCH = 1 << 18


class Engine(ABC):
    """An open table."""

    format: str
    columns: tuple[str, ...]
    textual = False  # cells are text that has yet to be given a type
    path: Path | None = None

    @classmethod
    @abstractmethod
    def open(cls, source: Any) -> Engine | None:
        """The table, or None if it is of another kind."""

    @abstractmethod
    def run(self, names: Sequence[str], step: Step) -> Iterator[pl.DataFrame]:
        """What the step makes of each record batch of these columns, in the order of the rows."""

    @abstractmethod
    def collect(self, names: Sequence[str], step: Step) -> Any:
        """The same, as one table of the type that was given."""


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Says which table could not be read."""
    try:
        yield
    except FileNotFoundError as error:
        raise TableError(f"cannot read {what}: {reason(error)}") from None
    except (OSError, EOFError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise TableError(f"cannot read {what}: {reason(error)}; it may be damaged or cut short") from error


def batches(rows: pl.LazyFrame, names: Sequence[str], what: str) -> Iterator[pl.DataFrame]:
    """Record batches of some columns, read as they are asked for; one without rows if there are none."""
    with reading(what):
        # by_name, because a plain string that looks like a regular expression would be one
        wanted = rows.select(cs.by_name(*names))
        found = iter(wanted.collect_batches(chunk_size=BATCH, maintain_order=True))
    batch = pl.DataFrame()
    while True:
        with reading(what):
            following = next(found, None)
        if following is None:
            break
        batch = following
        yield batch
    if not batch.width:
        with reading(what):
            yield wanted.head(0).collect()
