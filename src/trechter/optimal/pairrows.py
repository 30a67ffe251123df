"""Rows that name at most two letters each: what an optimal protocol for a slab is made of.

Row k puts `weights[k, 0]` on letter `letters[k, 0]` and `weights[k, 1]` on `letters[k, 1]`; a row of one letter names it
twice, the second time with weight 0. b rows over n letters take 4b numbers instead of bn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.geometry.cone import Array

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PairRows:
    """b rows over `dimension` letters, of support one or two."""

    letters: Index
    weights: Array
    dimension: int

    def __len__(self) -> int:
        return len(self.letters)

    @classmethod
    def of(cls, first: Index, second: Index, mass_first: Array, mass_second: Array, p: Array) -> PairRows:
        """Rows from the mass that each puts on its two letters (w = mass / p), without those that are empty."""
        some = mass_first + mass_second > 0
        letters = np.stack([first, second], axis=1)[some]
        return cls(letters, np.stack([mass_first, mass_second], axis=1)[some] / p[letters], len(p))

    @classmethod
    def joined(cls, parts: Sequence[PairRows]) -> PairRows:
        """The rows of all parts, one after the other."""
        letters, weights = (np.concatenate(columns) for columns in zip(*((r.letters, r.weights) for r in parts), strict=True))
        return cls(letters, weights, parts[0].dimension)

    def scaled(self, factors: Array) -> PairRows:
        """Every row times its factor, without those whose factor is 0."""
        kept = factors != 0
        return PairRows(self.letters[kept], self.weights[kept] * factors[kept, None], self.dimension)

    def dense(self) -> Array:
        """The rows as a matrix (b × n)."""
        return np.asarray(self.spread(self.weights), np.float64)

    def spread(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Numbers for the two letters of each row as a matrix (b × n)."""
        rows = np.zeros((len(self), self.dimension), int).astype(numbers.dtype)
        np.add.at(rows, (np.arange(len(self))[:, None], self.letters), numbers)
        return rows

    def sums(self) -> Array:
        """Σ_y w_y, which is 1 for a protocol."""
        sums: Array = np.bincount(self.letters.ravel(), self.weights.ravel(), self.dimension).astype(np.float64)
        return sums

    def products(self, vector: Array) -> Array:
        """vector · w for every row."""
        return np.asarray((vector[self.letters] * self.weights).sum(axis=1))
