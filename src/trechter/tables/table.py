"""A table, whatever holds its rows: learn domains, count, and draw a released value for each row.

    rows → record batches → codes → counts                     (infer, count)
    rows → record batches → codes → kernel → outputs → rows    (sanitise, sanitise_to)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
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
from trechter.tables.frame import Frame, Lazy
from trechter.tables.infer import NoCategoriesError, distinct, learn
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

    def sanitise(
        self, attributes: Sequence[Attribute], kernel: Kernel, outputs: Sequence[OutputColumn]
    ) -> Any:
        """A table of the given type with the released columns only, rows in place; a polars DataFrame for a file."""
        encoding, decoder = Encoding(attributes), Decoder(outputs)
        ...
