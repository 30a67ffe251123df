"""CSV files: UTF-8, one header line, the same number of fields in each line, commas (tabs in .tsv) between them.

Cells are read as text and given a type by the shared code. An empty cell is null, with or without quotes. Polars fills
up lines that are too short without a word, so a file that was cut short would go unnoticed. But such a line has an
empty last cell: the last column is always read along, and the first empty cell in it has the whole file's shape checked.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from trechter.errors import TableError, reason
from trechter.tables.engine import Engine, Step, batches, reading
from trechter.tables.shape import even_records, records

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


class Csv(Engine):
    """A CSV file, perhaps compressed with gzip."""

    format = "csv"
    textual = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self._separator = _separator(path.name)
        self.columns = _header(path, self._separator)
        with reading(str(path)):
            rows = pl.scan_csv(path, separator=self._separator, infer_schema=False, glob=False)
            names = rows.collect_schema().names()
        if names != [name.replace('"', '""') for name in self.columns]:  # polars leaves the quotes in a header doubled
            raise TableError(
                f"cannot read {path}: its header is unclear; end each line with a line feed, and write a name that has "
                'quotes as "the ""name"""'
            )
        self._rows = rows.rename(dict(zip(names, self.columns, strict=True)))

    @classmethod
    def open(cls, source: Any) -> Csv | None:
        """The file, if its name ends as such files do."""
        return cls(source) if isinstance(source, Path) and source.name.lower().endswith(SUFFIXES) else None

    def run(self, names: Sequence[str], step: Step) -> Iterator[pl.DataFrame]:
        """What the step makes of each batch."""
        return (step(batch.select(_nulled(batch[n]) for n in names)) for batch in self._batches(names))

    def collect(self, names: Sequence[str], step: Step) -> pl.DataFrame:
        """A polars DataFrame."""
        return pl.concat(self.run(names, step))

    def _batches(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        last, seen = self.columns[-1], 0
        try:
            for batch in batches(self._rows, tuple(dict.fromkeys((*names, last))), str(self.path)):
                suspect = batch[last].null_count() and len(self.columns) > 1
                yield batch.head(max(0, self._records - seen)) if suspect else batch
                seen += batch.height
        except TableError:
            self._read_lines()  # says in which line, if the lines are to blame
            raise

    @cached_property
    def _records(self) -> int:
        """The number of rows; raises if a line has more or fewer fields than the header."""
        assert self.path is not None
        with _opened(self.path) as file:
            found = even_records(file, self._separator, len(self.columns))
        return (self._read_lines() if found is None else found) - 1

    def _read_lines(self) -> int:
        assert self.path is not None
        with _opened(self.path) as file, _text(file) as lines:
            return records(lines, self._separator, len(self.columns), str(self.path))


def write(path: Path, parts: Iterator[pl.DataFrame], name: str) -> None:
    """Write batches as they come; `name` is the one that the file will get."""
    with path.open("wb") as file, _compressed(file, name) as out:
        for i, part in enumerate(parts):
            # An empty line would be skipped by many readers, so a single column quotes its nulls.
            lone = part.width == 1 and part.to_series().null_count() > 0
            style: Any = "always" if lone else "necessary"
            part.write_csv(out, include_header=i == 0, separator=_separator(name), quote_style=style)


def _separator(name: str) -> str:
    return "\t" if name.lower().removesuffix(".gz").endswith(".tsv") else ","


def _nulled(column: pl.Series) -> pl.Series:
    empty = column.alias("") == ""
    return column.set(empty, None) if empty.any() else column


def _header(path: Path, separator: str) -> tuple[str, ...]:
    with _opened(path) as file, _text(file) as lines:
        names = next((row for row in csv.reader(lines, delimiter=separator) if row), [])
    if not names:
        raise TableError(f"{path} is empty; it needs a header line with the names of the columns")
    if len(names) == 1 and separator == "," and ";" in names[0]:
        raise TableError(f"{path} has ';' between its fields ({names[0]!r}); save it with commas")
    if len(names) == 1 and separator == "," and "\t" in names[0]:
        raise TableError(f"{path} has tabs between its fields ({names[0]!r}); give it a name that ends in .tsv")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TableError(f"{path} has several columns named {twice[0]!r}; rename them")
    return tuple(names)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked; whatever goes wrong while they are read is a TableError."""
    try:
        with path.open("rb") as raw:
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if _is_gzip(path.name) else raw
    except FileNotFoundError as error:
        raise TableError(f"cannot read {path}: {reason(error)}") from None
    except UnicodeDecodeError as error:
        raise TableError(f"cannot read {path}: it is not UTF-8 text ({error.reason}); save it as UTF-8") from None
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise TableError(f"cannot read {path}: {reason(error)}; it may be damaged or cut short") from error


def _text(file: IO[bytes]) -> IO[str]:
    return io.TextIOWrapper(file, encoding="utf-8-sig", newline="")


def _is_gzip(name: str) -> bool:
    return name.lower().endswith(".gz")


def _compressed(file: IO[bytes], name: str) -> IO[bytes]:
    """Packed if the name says so, without the name and the time that gzip would add."""
    return cast(IO[bytes], gzip.GzipFile("", "wb", 6, file, 0)) if _is_gzip(name) else file
