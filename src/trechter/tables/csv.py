"""CSV files: UTF-8, one header line, the same number of fields in each line, commas (tabs in .tsv) between them.

Cells are read as text and given a type by the shared code. An empty cell is null, with or without quotes. Polars fills
up lines that are too short, silently; a file that was cut short would go unnoticed. Such a line has an empty last
cell, so the last column is always read along, and the first empty cell in it has the shape of the file checked.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import polars as pl

from trechter.errors import TableError
from trechter.tables.engine import Engine, Step, batches, collected
from trechter.tables.shape import count_records

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


class Csv(Engine):
    """A CSV file, perhaps compressed with gzip."""

    format = "csv"
    textual = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self._separator = _separator(path.name)
        self.columns = _header(path, self._separator)
        self._rows = pl.scan_csv(path, separator=self._separator, infer_schema=False, glob=False)
        self._check_header()

    @classmethod
    def open(cls, source: Any) -> Csv | None:
        """The file, if its name ends as such files do."""
        return cls(source) if isinstance(source, Path) and source.name.lower().endswith(SUFFIXES) else None

    def run(self, names: Sequence[str], step: Step) -> Iterator[pl.DataFrame]:
        """What the step makes of each batch."""
        return (step(batch.select(_nulled(batch[n]) for n in names)) for batch in self._batches(names))

    def collect(self, names: Sequence[str], step: Step) -> pl.DataFrame:
        """A polars DataFrame."""
        return collected(self.run(names, step))
