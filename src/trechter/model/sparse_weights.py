"""Integer weights over 2^bits of which each letter has few of its own, over a background that all letters share.

    W[y, i] = background[y] + Σ entries (y, i, w)          for a letter i that some entry names
    W[y, i] = background[y] · 2^bits / G                   for any other letter,  G = Σ background

Every column sums to 2^bits. So b outputs over n letters take b + O(entries) numbers instead of b·n, and a letter that never
occurs, of which nothing is known, costs nothing: it draws from the background alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.errors import ProtocolError
from trechter.exact.rounding import WORD
from trechter.model.kernel import CHUNK, check_codes
from trechter.model.randomness import Randomness

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Words = NDArray[np.int64]
MOST_CELLS = 50_000_000  # a matrix with more entries is not made


@dataclass(frozen=True, eq=False)
class SparseWeights:
    """Weights of `len(background)` outputs and `inputs` letters; entries in the order of their letters, then outputs."""

    background: Words
    output: Index
    letter: Index
    weight: Words
    inputs: int
    bits: int = WORD

    def __post_init__(self) -> None:
        for name, dtype in (("background", np.int64), ("output", np.intp), ("letter", np.intp), ("weight", np.int64)):
            own = np.array(getattr(self, name), dtype)  # a copy that nobody can change once it is certified
            own.setflags(write=False)
            object.__setattr__(self, name, own)
        self._check_entries()
        self._check_sums()

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return len(self.background)

    @cached_property
    def shared(self) -> int:
        """G: what the background sums to."""
        return sum(self.background.tolist())

    @cached_property
    def start(self) -> Index:
        """The entries of letter i lie from start[i] to start[i + 1]."""
        return np.searchsorted(self.letter, np.arange(self.inputs + 1))

    @cached_property
    def named(self) -> NDArray[np.bool_]:
        """Which letters have entries."""
        return np.diff(self.start) > 0

    @cached_property
    def times(self) -> int:
        """How often the background is counted for a letter without entries: 2^bits / G."""
        return 1 if self.named.all() else (1 << self.bits) // self.shared

    def products(self, table: Any) -> Array:
        """Σ_i table[k, i] Q[y, i] for every k and y, in floats, Q = W / 2^bits."""
        table = np.asarray(table, np.float64)
        whole = float(1 << self.bits)
        common = (table * np.where(self.named, 1.0, float(self.times))).sum(axis=1)
        own = self.weight / whole
        sums = [np.bincount(self.output, own * row[self.letter], self.outputs) for row in table]
        return np.asarray(np.array(sums).reshape(len(table), self.outputs) + common[:, None] * (self.background / whole))

    def dense(self) -> Words:
        """All weights as a matrix (outputs × inputs)."""
        if self.outputs * self.inputs > MOST_CELLS:
            raise ProtocolError(
                f"{self.outputs:,} outputs × {self.inputs:,} inputs are too many for a matrix; "
                "use the entries of the protocol, or its products with a table"
            )
        matrix = self.background[:, None] * np.where(self.named, 1, self.times)
        matrix[self.output, self.letter] += self.weight
        return matrix

    def _check_entries(self) -> None:
        if not 1 <= self.bits <= WORD:
            raise ProtocolError(f"bits = {self.bits}: sparse weights are integers over 2^bits, with 1 ≤ bits ≤ {WORD}")
        if not len(self.background) or self.inputs < 1:
            raise ProtocolError("a protocol needs at least one output and one input")
        if not len(self.output) == len(self.letter) == len(self.weight):
            raise ProtocolError(
                f"{len(self.output)} outputs, {len(self.letter)} letters and {len(self.weight)} weights of entries"
            )
        for name, found, most in (("output", self.output, self.outputs), ("input", self.letter, self.inputs)):
            wrong = found[(found < 0) | (found >= most)]
            if len(wrong):
                raise ProtocolError(f"an entry names {name} {wrong[0]}, but there are {most}, counted from 0")
        for wrong in (self.background[self.background < 0], self.weight[self.weight <= 0]):
            if len(wrong):
                raise ProtocolError(f"weight {wrong[0]} is negative, or 0 where an entry must say more than the background")
        step, same = np.diff(self.letter), np.diff(self.output)
        if np.any((step < 0) | ((step == 0) & (same <= 0))):
            k = int(np.flatnonzero((step < 0) | ((step == 0) & (same <= 0)))[0]) + 1
            raise ProtocolError(
                f"the entry of output {self.output[k]} for input {self.letter[k]} is a repeat or out of order: entries are "
                "sorted by input, then by output, each once"
            )

    def _check_sums(self) -> None:
        """Every column sums to 2^bits, in arithmetic that cannot wrap around."""
        whole = 1 << self.bits
        if max(self.background.max(), self.weight.max(initial=0)) > whole or self.shared > whole:
            raise ProtocolError(f"the weights that all inputs share sum to {self.shared}, more than 2^{self.bits} = {whole}")
        half = self.weight >> 31, self.weight & (2**31 - 1)
        high, low = (np.diff(np.append(0, np.cumsum(part))[self.start]) for part in half)
        room = whole - self.shared
        wrong = self.named & ((high + (low >> 31) != room >> 31) | (low & (2**31 - 1) != room & (2**31 - 1)))
        if wrong.any():
            i = int(np.argmax(wrong))
            found = self.shared + sum(self.weight[self.start[i] : self.start[i + 1]].tolist())
            raise ProtocolError(f"column {i} sums to {found}, not to 2^{self.bits} = {whole}")
        if not self.named.all() and (self.shared == 0 or whole % self.shared):
            i = int(np.argmin(self.named))
            raise ProtocolError(
                f"input {i} has no entries, so it draws from the background alone; its sum must be a power of two, "
                f"not {self.shared}"
            )


class SparseKernel:
    """(codes, randomness) → outputs, drawn from exactly these weights.

    Each row draws its own U, uniform on 0, …, 2^bits − 1, from one word of 64 bits. Laid end to end, the entries of letter i
    fill 0, …, 2^bits − G − 1, and the background fills the last G places; what lies at U is released. For a letter without
    entries every place of the background is 2^bits / G wide. So output y is released for exactly W[y, i] of the values of U.
    """

    def __init__(self, weights: SparseWeights) -> None:
        self._weights = weights
        self._start, self._stretch = weights.start, np.where(weights.named, 0, weights.bits - weights.shared.bit_length() + 1)
        self._room = np.where(weights.named, (1 << weights.bits) - weights.shared, 0)
        ends = np.append(np.uint64(0), np.cumsum(weights.weight.view(np.uint64)))  # wraps around, its differences do not
        self._upper = ends[1:] - ends[weights.start[weights.letter]]
        self._shared = np.cumsum(weights.background)
        self._halvings = int(np.diff(weights.start).max()).bit_length()

    def __call__(self, codes: NDArray[Any], random: Randomness) -> NDArray[Any]:
        """One output for each code."""
        drawn = np.empty(len(codes), np.min_scalar_type(self._weights.outputs - 1))
        for begin in range(0, len(codes), CHUNK):
            piece = np.asarray(codes[begin : begin + CHUNK], np.intp)
            check_codes(piece, self._weights.inputs, begin)
            drawn[begin : begin + CHUNK] = self._draw(piece, random)
        return drawn

    def _draw(self, codes: Index, random: Randomness) -> Index:
        u = (random.integers(len(codes), np.uint64, "sparse") >> np.uint64(64 - self._weights.bits)).astype(np.int64)
        found = np.empty(len(codes), np.intp)
        own = u < self._room[codes]
        found[own] = self._weights.output[self._entry(codes[own], u[own].view(np.uint64))]
        rest = codes[~own]
        found[~own] = np.searchsorted(self._shared, (u[~own] - self._room[rest]) >> self._stretch[rest], side="right")
        return found

    def _entry(self, codes: Index, u: NDArray[np.uint64]) -> Index:
        """The only entry k of each letter with upper[k − 1] ≤ U < upper[k], by halving."""
        low, high = self._start[codes], self._start[codes + 1] - 1
        for _ in range(self._halvings):
            middle = (low + high) >> 1
            beyond = self._upper[middle] <= u
            low, high = np.where(beyond, np.minimum(middle + 1, high), low), np.where(beyond, high, middle)
        return low
