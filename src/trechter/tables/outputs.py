"""From released cells back to the outputs of a protocol: the inverse of `decode`.

A cell has a code among what its column shows; the codes of all columns together are one number, the key of an output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.alphabet.attribute import shorten
from trechter.errors import ProtocolError, TableError
from trechter.tables.decode import OutputColumn
from trechter.tables.encode import Encoding, examples, plural

OTHER = "is this the protocol that the table was released with?"


class Reading:
    """The output of each row of a batch; raises UnseenError if a cell shows what no output does."""

    def __init__(self, columns: Sequence[OutputColumn]) -> None:
        shown = {column.name: column.shown().to_list() for column in columns}
        attributes = [Attribute.of(name, dict.fromkeys(cells)) for name, cells in shown.items()]
        self.names = list(shown)
        self._encoding = Encoding(attributes)
        keys = self._encoding(pl.DataFrame([column.shown().alias(column.name) for column in columns]))
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        same = np.flatnonzero(np.diff(self._keys) == 0)
        if same.size:
            raise ProtocolError(f"outputs {self._order[same[0]]} and {self._order[same[0] + 1]} look the same in a table")

    def __call__(self, batch: pl.DataFrame) -> NDArray[np.intp]:
        """The number of the output that each row shows."""
        keys = self._encoding(batch)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        unknown = np.flatnonzero(self._keys[places] != keys)
        if unknown.size:
            cells = ", ".join(
                f"{name} = {cell!r}" for name, cell in batch.select(self.names).row(int(unknown[0]), named=True).items()
            )
            raise TableError(
                f"the protocol has no output with {cells} ({plural(unknown.size, 'row')} of this kind or alike); {OTHER}"
            )
        return np.asarray(self._order[places])


def unreleased(attribute: Attribute, found: Iterable[pl.DataFrame]) -> TableError:
    """The error that names cells which no output shows."""
    rows: Counter[str | None] = Counter()
    for part in found:
        rows.update(dict(part.rows()))
    return TableError(
        f"column {attribute.name!r} has {plural(rows.total(), 'cell')} that the protocol never releases: {examples(rows)}; "
        f"it releases {shorten(attribute.labels, 6)}: {OTHER}"
    )
