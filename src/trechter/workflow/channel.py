"""From outputs to values: what estimates rest on, kept for what may be asked later.

The letters of a protocol are all combinations of what it reads; the cells are those of the columns that were asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.errors import RequestError
from trechter.estimation.imputation import impute
from trechter.estimation.likelihood import most_likely
from trechter.estimation.posterior import given
from trechter.model.kinds import UnaryProtocol
from trechter.model.protocol import Protocol
from trechter.tables import OutputColumn, open_table
from trechter.tables.decode import Decoder

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Releases = tuple[tuple[Any, Protocol], ...]

TOO_MANY = "there are too many outputs for this: it is not done for unary encodings of so many values"


@dataclass(frozen=True, eq=False)
class Channel:
    """Tables with their protocols; which letters are `absent`, and of the others the `cell`, whether the outputs tell all
    their shares (`full`), P(output | letter) and the counts of outputs, if these are few enough."""

    releases: Releases
    absent: NDArray[np.bool_]
    cell: Index
    cells: int
    full: bool
    matrix: Array | None
    counts: NDArray[np.int64] | None

    @property
    def likelihood(self) -> tuple[Array, NDArray[np.int64]]:
        """The matrix and the counts."""
        if self.matrix is None or self.counts is None:
            raise RequestError(TOO_MANY)
        return self.matrix, self.counts

    def summed(self, p: Array) -> Array:
        """Shares of cells from shares of letters."""
        return np.bincount(self.cell, p, self.cells).astype(np.float64)

    def told(self, values: pl.DataFrame, prior: Sequence[float] | None) -> pl.DataFrame:
        """P(cell | output), a line each."""
        protocol = self.only()
        matrix = self._matrix(protocol)
        if prior is None:
            self._check_full("give the shares of letters as a prior")
            matrix_seen, counts = self.likelihood
            p, _ = most_likely(matrix_seen, counts.astype(np.float64))
        else:
            p = _checked(prior, self.absent)
        odds = np.stack([self.summed(row) for row in given(matrix, p)])
        shown = Decoder(protocol.columns())(np.repeat(_every(protocol), self.cells, axis=0))
        values = values.rename({name: f"{name} (true)" for name in values.columns if name in shown.columns})
        return pl.concat([shown, pl.concat([values] * len(matrix))], how="horizontal").with_columns(probability=odds.ravel())

    def imputed(self, values: pl.DataFrame, copies: int, random: np.random.Generator) -> pl.DataFrame:
        """Released rows and imputed values."""
        self._check_full("nothing is imputed, because the prior alone would decide what")
        protocol, source = self.only(), open_table(self.releases[0][0])
        matrix, columns = self._matrix(protocol), protocol.columns()
        unary = isinstance(protocol, UnaryProtocol)
        outputs = source.bit_codes([c.name for c in columns]) if unary else source.output_codes(columns)
        shown = Decoder(columns)(_every(protocol)[outputs])
        for k, letters in enumerate(impute(matrix, outputs, copies, random)):
            drawn = values[self.cell[letters]]
            shown = shown.with_columns(drawn[name].alias(f"{name} (imputed {k + 1})") for name in drawn.columns)
        return shown

    def only(self) -> Protocol:
        """The protocol, if there is only one release."""
        if len(self.releases) > 1:
            raise RequestError("what single outputs say is told of one release at a time; estimate from that one alone")
        return self.releases[0][1]

    def _matrix(self, protocol: Protocol) -> Array:
        if isinstance(protocol, UnaryProtocol) and not protocol.listed:
            raise RequestError(TOO_MANY)
        return protocol.matrix[:, ~self.absent]

    def _check_full(self, advice: str) -> None:
        if not self.full:
            raise RequestError(f"the outputs do not tell how common each value is that the protocol read; {advice}")


def cells_of(letters: Sequence[Attribute], attributes: Sequence[Attribute]) -> Index:
    """The cell of each letter."""
    codes = dict(zip((a.name for a in letters), _codes(letters), strict=True))
    return np.ravel_multi_index([codes[a.name] for a in attributes], [len(a) for a in attributes])


def labelled(attributes: Sequence[Attribute], figures: Sequence[str] = ()) -> pl.DataFrame:
    """All combinations of values, in C order: a column for each attribute, called `… (value)` if a figure has its name."""
    columns = [OutputColumn(a.name, a.values, code) for a, code in zip(attributes, _codes(attributes), strict=True)]
    return pl.DataFrame([c.shown().alias(f"{c.name} (value)" if c.name in figures else c.name) for c in columns])


def _codes(attributes: Sequence[Attribute]) -> tuple[Index, ...]:
    sizes = [len(a) for a in attributes]
    return np.unravel_index(np.arange(math.prod(sizes)), sizes)


def _every(protocol: Protocol) -> NDArray[Any]:
    """Every output as a decoder takes it."""
    if isinstance(protocol, UnaryProtocol):
        return protocol.members().astype(np.intp)
    return np.arange(len(protocol.columns()[0].codes))


def _checked(prior: Sequence[float], absent: NDArray[np.bool_]) -> Array:
    p = np.asarray(prior, np.float64)
    if p.shape != absent.shape or not np.all(p >= 0) or not 0 < p[~absent].sum() < np.inf:
        raise RequestError(f"a prior has one share ≥ 0 for each of the {len(absent)} letters that are read, in C order")
    return np.asarray(p[~absent] / p[~absent].sum())
