"""Parquet files: read in batches; written as batches come, without the metadata of any input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Full, Queue
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from trechter.tables.engine import Engine, Step, batches, reading

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
        return pl.concat(self.run(names, step))


def write(path: Path, parts: Iterator[pl.DataFrame], name: str) -> None:
    """Write batches as they come; the first one gives the schema.

    The writer pulls from a thread of its own, so that Ctrl-C reaches this one and is not held up by it.
    """
    feed: Queue[pl.DataFrame | None] = Queue(4)
    first = next(parts)
    source = register_io_source(lambda *_: _pull(feed), schema=first.schema)
    with ThreadPoolExecutor(1) as pool:
        sink = pool.submit(source.sink_parquet, path)

        def offer(part: pl.DataFrame | None) -> None:
            while not sink.done():
                try:
                    return feed.put(part, timeout=0.1)
                except Full:
                    continue

        try:
            offer(first)
            for part in parts:
                offer(part)
        finally:
            offer(None)
        sink.result()


def _pull(feed: Queue[pl.DataFrame | None]) -> Iterator[pl.DataFrame]:
    while (part := feed.get()) is not None:
        yield part
