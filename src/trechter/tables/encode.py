"""From values to codes, a column at a time; several columns are flattened in C order.

    code = (…(code₁·|X₂| + code₂)·|X₃| + …),   codeⱼ the position of the cell in the values of attribute j

A cell that has no position is an error, unless null is a value (for nulls) or there is a catch-all (for all others).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import cast
from unicodedata import normalize

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.alphabet import Attribute, Value
from trechter.alphabet.attribute import shorten
from trechter.alphabet.values import Edge, bins
from trechter.errors import SchemaError
from trechter.tables.kinds import DTYPES, as_kind, is_null

Lookup = Callable[[pl.Series], pl.Series]

NONE = 2**32 - 1  # the code of a cell that has none
SHOWN = 5


class UnseenError(Exception):
    """A batch has cells without a code, in the column of this encoder."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder.attribute.name)
        self.encoder = encoder


class Encoder:
    """The codes of one attribute."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute
        plain = [(code, v) for code, v in enumerate(attribute.values) if v is not None]
        edges = attribute.edges
        self._lookup = _binned(attribute.kind, edges, plain) if edges else _listed(attribute.kind, plain)
        self._null = attribute.values.index(None) if None in attribute.values else NONE
        self._other = NONE if attribute.other is None else attribute.code(attribute.other)

    def __call__(self, column: pl.Series) -> NDArray[np.uint32]:
        """The code of each cell, NONE where there is none."""
        found = self._lookup(as_kind(column, self.attribute.kind))
        if not found.null_count():
            return found.to_numpy()
        codes = found.fill_null(NONE).to_numpy(writable=True)
        without, null = codes == NONE, is_null(column).to_numpy()
        codes[without & null] = self._null
        codes[without & ~null] = self._other
        return codes


class Encoding:
    """The flat codes of several attributes."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.encoders = [Encoder(a) for a in attributes]
        self.names = [a.name for a in attributes]

    def __call__(self, batch: pl.DataFrame) -> NDArray[np.intp]:
        """The flat code of each row; raises UnseenError if there is a cell without one."""
        flat = np.zeros(batch.height, np.intp)
        for encoder in self.encoders:
            codes = encoder(batch[encoder.attribute.name])
            if (codes == NONE).any():
                raise UnseenError(encoder)
            flat *= len(encoder.attribute)
            flat += codes
        return flat


def without_code(encoder: Encoder, batch: pl.DataFrame) -> pl.DataFrame:
    """The cells of a batch that have no code, as text, and how often each occurs."""
    column = batch[encoder.attribute.name]
    cells = column.alias("cell").filter(pl.Series(encoder(column) == NONE))
    cells = cells.fill_nan(None) if cells.dtype.is_float() else cells
    return cells.cast(pl.String).to_frame().group_by("cell").len("rows")


def unseen(attribute: Attribute, found: Iterable[pl.DataFrame]) -> SchemaError:
    """The error that names the offending cells."""
    rows: Counter[str | None] = Counter()
    for part in found:
        rows.update(dict(part.rows()))
    nulls = rows.pop(None, 0)
    if nulls and None not in attribute.values:
        what = plural(nulls, "empty cell")
        advice = 'declare null = "value" to make them a category of their own, or leave those rows out'
    else:
        what = f"{plural(rows.total(), 'cell')} outside its domain: {examples(rows)}"
        advice = (
            f'its values are {shorten(attribute.labels, 6)}; add what is missing to the schema, or declare unseen = "other"'
        )
        alike = {normalize("NFC", name) for name in attribute.labels}
        if any(normalize("NFC", str(cell)) in alike for cell in rows):
            advice += "; some differ only in how Unicode spells their letters: write table and schema in one form, such as NFC"
    return SchemaError(f"column {attribute.name!r} has {what}; {advice}")


def examples(rows: Counter[str | None]) -> str:
    """The most frequent cells, and how many more there are."""
    shown = [f"{cell!r} ({plural(n, 'row')})" for cell, n in rows.most_common(SHOWN)]
    rest = len(rows) - len(shown)
    return ", ".join(shown) + (f", and {rest} more" if rest else "")


def plural(n: int, what: str) -> str:
    """So many of something."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _listed(kind: str, plain: Sequence[tuple[int, Value]]) -> Lookup:
    """Positions in a list of values."""
    codes = pl.Series([code for code, _ in plain], dtype=pl.UInt32)
    values = pl.Series([v for _, v in plain], dtype=DTYPES[kind])
    return lambda column: column.replace_strict(values, codes, default=None)


def _binned(kind: str, edges: Sequence[Edge], plain: Sequence[tuple[int, Value]]) -> Lookup:
    """Positions among bins: bin j holds what has j edges at or below it; the last one holds its upper edge too."""
    if tuple(v for _, v in plain) != bins(tuple(edges)):
        raise SchemaError(f"the bins {shorten([str(v) for _, v in plain])} do not follow each other")
    # No integer is infinite, so such an edge is below all of them, or above.
    finite = [e for e in edges if kind != "integer" or not math.isinf(cast(float, e))]
    cuts = pl.Series(finite, dtype=DTYPES[kind])
    codes = pl.Series([None, *(code for code, _ in plain), None], dtype=pl.UInt32)
    codes = codes[1:] if finite[0] != edges[0] else codes

    def place(column: pl.Series) -> pl.Series:
        below = cuts.search_sorted(column, side="right")
        top = (column == edges[-1]).fill_null(False).cast(pl.UInt32)
        return codes.gather(below - top).set(column.is_null(), None)

    return place
