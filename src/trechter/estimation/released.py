"""What was released, as its reader sees it: how often each output stands there, and P(output | letter).

The letters are all combinations of what the protocols of the releases read. A release says

    counts[y],   matrix[y, i] = P(y | letter i),   weights[y, i] the same in exact integers over 2^bits.

Several releases are of different people from one population; their rows are put under each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.errors import ProtocolError, TableError
from trechter.exact.matrices import Integers
from trechter.model.operations import columns_read, exact_weights
from trechter.model.protocol import Protocol
from trechter.model.unary import UnaryProtocol
from trechter.tables import open_table

Array = NDArray[np.float64]

SPREAD = 5.0  # standard deviations of χ²
MOST_ENTRIES = 4_000_000  # of the matrix of all releases together


@dataclass(frozen=True, eq=False)
class Released:
    """Outputs of all releases, one after the other; `release[y]` says which one an output belongs to."""

    counts: NDArray[np.int64]
    release: NDArray[np.intp]
    matrix: Array
    weights: Integers

    def without(self, absent: NDArray[np.bool_]) -> Released:
        """The same, if it is known that some letters do not occur."""
        return Released(self.counts, self.release, self.matrix[:, ~absent], self.weights[:, ~absent])

    @property
    def unseen(self) -> NDArray[np.bool_]:
        """Letters whose outputs are distributed like those of all rows, within chance.

        So designs treat letters that did not occur when they were made: nothing was known of them.
        """
        sizes = np.bincount(self.release, self.counts)[self.release][:, None]
        expected, counts = self.matrix * sizes, np.broadcast_to(self.counts[:, None], self.matrix.shape)
        distance = np.divide((counts - expected) ** 2, expected, out=np.where(counts > 0, np.inf, 0.0), where=expected > 0)
        free = len(self.counts) - len(np.unique(self.release))
        return np.asarray(distance.sum(axis=0) <= free + SPREAD * np.sqrt(2 * free))

    @property
    def rows(self) -> int:
        """All rows."""
        return int(self.counts.sum())

    @property
    def pooled(self) -> tuple[Array, Array]:
        """P(release, output | letter) of a row taken at random from all of them, and its counts."""
        sizes = np.bincount(self.release, self.counts)
        return self.matrix * (sizes / sizes.sum())[self.release][:, None], self.counts.astype(np.float64)


def attributes_of(protocols: Sequence[Protocol]) -> tuple[Attribute, ...]:
    """Every column that some protocol reads, in the order in which they are first named."""
    found: dict[str, Attribute] = {}
    for attribute in (a for p in protocols for a in p.input_attributes):
        found.setdefault(attribute.name, attribute)
    return tuple(found.values())


def read(releases: Sequence[tuple[Any, Protocol]], letters: Sequence[Attribute]) -> Released:
    """Count the outputs of releases whose outputs are listed."""
    size = math.prod(len(a) for a in letters)
    columns = [p.columns() for _, p in releases]
    outputs = [
        len(p.outputs) if isinstance(p, UnaryProtocol) else len(c[0].codes)
        for (_, p), c in zip(releases, columns, strict=True)
    ]
    if sum(outputs) * size > MOST_ENTRIES:
        raise ProtocolError(
            f"{sum(outputs):,} outputs × {size:,} values are too many for a matrix, which estimates need; "
            f"it may have {MOST_ENTRIES:,} entries"
        )
    counts: list[NDArray[np.int64]] = []
    matrices, weights = [], []
    for table, protocol in releases:
        letter = columns_read(protocol, (), letters, "x")
        counts.append(counted(table, protocol))
        matrices.append(protocol.matrix[:, letter])
        weights.append(exact_weights(protocol)[:, letter].astype(object))
        _check(protocol, counts[-1], matrices[-1])
    release = np.repeat(np.arange(len(releases)), [len(n) for n in counts])
    return Released(np.concatenate(counts), release, np.concatenate(matrices), np.concatenate(weights))


def counted(table: Any, protocol: Protocol) -> NDArray[np.int64]:
    """How often each output of one release stands in it."""
    if isinstance(protocol, UnaryProtocol):
        counts = np.bincount(open_table(table).bit_codes(protocol.released), minlength=1 << len(protocol.inputs))
    else:
        counts = open_table(table).outputs(protocol.columns())
    if not counts.sum():
        raise TableError("the released table has no rows, so there is nothing to estimate from")
    return counts


def _check(protocol: Protocol, counts: NDArray[np.int64], matrix: Array) -> None:
    never = np.flatnonzero((counts > 0) & ~matrix.any(axis=1))
    if never.size:
        raise TableError(
            f"output {never[0]} occurs {counts[never[0]]} times, but the protocol never releases it: {protocol!r}"
        )
