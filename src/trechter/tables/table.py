"""A table, whatever holds its rows: learn domains, count, and draw a released value for each row.

rows → record batches → codes → counts                     (infer, count)
rows → record batches → codes → kernel → outputs → rows    (sanitise, sanitise_to)
released rows → record batches → outputs → counts          (outputs, bit_sums)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.alphabet.schema import unknown
from trechter.errors import TableError
from trechter.tables.count import Counts, check_size, tally, tally_weights, total, total_weights
from trechter.tables.csv import Csv
from trechter.tables.decode import Decoder, OutputColumn
from trechter.tables.edges import no_categories
from trechter.tables.encode import Encoding, UnseenError, unseen, without_code
from trechter.tables.engine import BATCH, Engine, Step
from trechter.tables.flags import flags, patterns, sums
from trechter.tables.frame import Frame, Lazy
from trechter.tables.infer import NoCategoriesError, distinct, learn
from trechter.tables.kinds import as_text
from trechter.tables.outputs import Reading, unreleased
from trechter.tables.parquet import Parquet
from trechter.tables.write import check_place, write

Kernel = Callable[[NDArray[np.intp]], NDArray[Any]]

ENGINES: tuple[type[Engine], ...] = (Csv, Parquet, Lazy, Frame)


class Table:
    """An open table."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.format = engine.format
        self.columns = engine.columns

    def infer(self, names: Sequence[str]) -> tuple[Attribute, ...]:
        """The domains of some columns, learned from the data."""
        try:
            return learn(names, self._run(names, distinct), self._engine.textual)
        except NoCategoriesError as error:
            raise no_categories(error.name, error.why, partial(self._run, [error.name])) from None

    def count(self, attributes: Sequence[Attribute], weight: str | None = None) -> Counts:
        """The rows, or their weight, of each combination of values."""
        check_size(attributes)
        encoding, shape = Encoding(attributes), tuple(len(a) for a in attributes)
        if weight is None:
            return total(self._encoded(encoding.names, partial(tally, encoding)), shape)
        step = partial(tally_weights, encoding, weight)
        return total_weights(self._encoded([*encoding.names, weight], step), shape)

    def codes(self, attributes: Sequence[Attribute]) -> NDArray[np.intp]:
        """The flat code of each row, in the order of the rows."""
        encoding = Encoding(attributes)
        parts = self._encoded(encoding.names, lambda batch: pl.DataFrame({"code": encoding(batch)}))
        return np.concatenate([part["code"].to_numpy() for part in parts])

    def texts(self, names: Sequence[str]) -> pl.DataFrame:
        """Some columns as text, in the order of the rows; whole floats are written as integers."""
        return pl.concat(self._run(names, lambda batch: batch.select(map(as_text, batch))))

    def sanitise(self, attributes: Sequence[Attribute], kernel: Kernel, outputs: Sequence[OutputColumn]) -> Any:
        """The released columns, rows in place, as a table of the type that was given; a file becomes a polars DataFrame."""
        encoding, decoder = Encoding(attributes), Decoder(outputs)
        self._check(encoding.names)
        with self._explained():
            names = tuple(dict.fromkeys(encoding.names))
            return self._engine.collect(names, lambda batch: decoder(_draw(encoding, kernel, decoder.outputs, batch)))

    def sanitise_to(
        self,
        path: str | os.PathLike[str],
        attributes: Sequence[Attribute],
        kernel: Kernel,
        outputs: Sequence[OutputColumn],
        permute: Callable[[int], NDArray[np.intp]] | None = None,
    ) -> int:
        """Write the released columns to a file of the format that its name says, and return the number of rows.

        Output codes are held in memory, mostly one byte a row, or a cell where columns are drawn by themselves; the file is
        begun when the last of them is drawn.
        Rows stay in place, or row i of the file is row permute(n)[i] of the table.
        """
        path, decoder, encoding = Path(path), Decoder(outputs), Encoding(attributes)
        check_place(path, self._engine.path)
        small = np.min_scalar_type(decoder.outputs - 1)

        def step(batch: pl.DataFrame) -> pl.DataFrame:
            return pl.DataFrame({"output": _draw(encoding, kernel, decoder.outputs, batch).astype(small)})

        drawn = np.concatenate([part["output"].to_numpy() for part in self._encoded(encoding.names, step)])
        if permute is not None:
            drawn = drawn[permute(len(drawn))]
        write(path, (decoder(drawn[i : i + BATCH]) for i in range(0, max(len(drawn), 1), BATCH)))
        return len(drawn)

    def outputs(self, columns: Sequence[OutputColumn]) -> NDArray[np.int64]:
        """How many rows show each output."""
        reading, found = Reading(columns), np.zeros(len(columns[0].codes), np.int64)
        for part in self._read(reading, partial(tally, reading)):
            found[part["code"].to_numpy()] += part["rows"].to_numpy()
        return found

    def output_codes(self, columns: Sequence[OutputColumn]) -> NDArray[np.intp]:
        """The output that each row shows, in the order of the rows."""
        reading = Reading(columns)
        return np.concatenate(
            [p["code"].to_numpy() for p in self._read(reading, lambda b: pl.DataFrame({"code": reading(b)}))]
        )

    def bit_sums(self, names: Sequence[str], groups: NDArray[np.intp]) -> NDArray[np.int64]:
        """Of columns of zeros and ones: for each group of them how many rows have 0, 1, … ones in it."""
        found = np.zeros((len(groups), groups.shape[1] + 1), np.int64)
        for batch in self._run(names, lambda batch: batch):
            found += sums(flags(batch), groups)
        return found

    def bit_codes(self, names: Sequence[str]) -> NDArray[np.intp]:
        """Of at most 62 columns of zeros and ones: each row as a binary number, the first column its last digit."""
        digits = 1 << np.arange(len(names))
        return np.concatenate([flags(batch) @ digits for batch in self._run(names, lambda batch: batch)])

    def bit_patterns(self, names: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The different rows of columns of zeros and ones, and how often each occurs."""
        whole = pl.concat(self._run(names, patterns)).group_by(pl.exclude("rows")).agg(pl.col("rows").sum())
        found = whole.to_numpy()
        return found[:, :-1].astype(np.uint8), found[:, -1].astype(np.int64)

    def dropped(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns that a release of some columns leaves out."""
        return tuple(c for c in self.columns if c not in names)

    def _run(self, names: Sequence[str], step: Step) -> Iterator[pl.DataFrame]:
        self._check(names)
        return self._engine.run(tuple(dict.fromkeys(names)), step)

    def _encoded(self, names: Sequence[str], step: Step) -> Iterator[pl.DataFrame]:
        with self._explained():
            yield from self._run(names, step)

    def _read(self, reading: Reading, step: Step) -> Iterator[pl.DataFrame]:
        try:
            yield from self._run(reading.names, step)
        except UnseenError as error:
            attribute = error.encoder.attribute
            raise unreleased(attribute, self._run([attribute.name], partial(without_code, error.encoder))) from None

    def _check(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self.columns:
                raise TableError("in the table, " + unknown("column", name, self.columns))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Reads the offending column once more, to say which cells have no code and how many there are."""
        try:
            yield
        except UnseenError as error:
            attribute = error.encoder.attribute
            cells = self._run([attribute.name], partial(without_code, error.encoder))
            raise unseen(attribute, cells) from None


def open_table(source: Any) -> Table:
    """A table from a path (.csv, .csv.gz, .tsv, .parquet) or from a pandas, polars or Arrow table."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | os.PathLike):
        source = Path(source)
        if os.path.isdir(source):
            raise TableError(f"cannot read {source}: it is a folder; name one file in it")
    for engine in ENGINES:
        found = engine.open(source)
        if found is not None:
            return Table(found)
    shown = f"a file named {source.name!r}" if isinstance(source, Path) else f"a {type(source).__name__}"
    raise TableError(
        f"{shown} is no table that can be read; give a path ending in .csv, .csv.gz, .tsv or .parquet, "
        "or a table of pandas, polars or Arrow"
    )


def _draw(encoding: Encoding, kernel: Kernel, outputs: int, batch: pl.DataFrame) -> NDArray[Any]:
    codes = encoding(batch)
    drawn = kernel(codes) if codes.size else codes
    if drawn.shape[:1] != codes.shape or (drawn.size and not 0 <= drawn.min() <= drawn.max() < outputs):
        raise ValueError(f"the kernel must draw one of {outputs} outputs for each of {codes.size} rows")
    return drawn
