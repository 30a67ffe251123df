"""Parquet files: read in batches of row groups; written without the metadata of any input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from trechter.tables.engine import Engine, Step, batches, collected, reading

SUFFIXES = (".parquet", ".pq")


class Parquet(Engine):
    """A Parquet file."""

    format = "parquet"

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(str(path)):
            self._rows = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            self.columns = tuple(self._rows.collect_schema().names())

    @classmethod
    def open(cls, source: Any) -> Parquet | None:
        """The file, if its name ends as such files do."""
        return cls(source) if isinstance(source, Path) and source.name.lower().endswith(SUFFIXES) else None

    def run(self, names: Sequence[str], step: Step) -> Iterator[pl.DataFrame]:
        """What the step makes of each batch."""
        return map(step, batches(self._rows, names, str(self.path)))

    def collect(self, names: Sequence[str], step: Step) -> pl.DataFrame:
        """A polars DataFrame."""
        return collected(self.run(names, step))


def write(path: Path, parts: Iterator[pl.DataFrame], schema: pl.Schema) -> None:
    """Write record batches as they come."""
    register_io_source(lambda *_: parts, schema=schema, is_pure=False).sink_parquet(path)
