"""A protocol of sparse integer weights, for alphabets whose matrix would not fit: few outputs of its own for each letter."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.errors import ProtocolError
from trechter.exact.rounding import WORD
from trechter.model.certificate import Certificate
from trechter.model.dense import columns_of, is_weight
from trechter.model.heatmap import heat_html
from trechter.model.letters import values_of
from trechter.model.outputs import Output, output_from_json, output_to_json, show
from trechter.model.protocol import Protocol, best_ratio, check_names
from trechter.model.randomness import Randomness
from trechter.model.sparse_weights import SparseKernel, SparseWeights
from trechter.model.spec import Spec
from trechter.tables import OutputColumn


@dataclass(frozen=True, eq=False, repr=False)
class SparseProtocol(Protocol):
    """Sparse weights; `outputs` say what each of them means, one entry per released column if they are tuples."""

    kind = "sparse"

    sparse: SparseWeights
    outputs: tuple[Output, ...]
    secret: tuple[Attribute, ...]
    release: tuple[Attribute, ...]
    reads: str = "x"
    released: tuple[str, ...] = ("Y",)
    promise: Spec | None = None
    certificate: Certificate | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        n, b = len(self.inputs), len(self.outputs)
        if self.sparse.inputs != n:
            raise ProtocolError(f"weights of {self.sparse.inputs} inputs for {n}: each needs a column")
        if self.sparse.outputs != b:
            raise ProtocolError(f"weights of {self.sparse.outputs} outputs for {b}: each needs a row")
        check_names(self)

    @property
    def bits(self) -> int:
        """Weights are integers over 2^bits."""
        return self.sparse.bits

    @property
    def integers(self) -> NDArray[np.int64]:
        """All weights as a matrix (b × n), if it has a reasonable size."""
        return self.sparse.dense()

    @property
    def weights(self) -> NDArray[np.object_]:
        """The same as Python integers; every column sums to 2^bits."""
        return self.integers.astype(object)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The same as floats; columns sum to 1."""
        return self.integers / float(1 << self.bits)

    @cached_property
    def inputs(self) -> tuple[Any, ...]:
        """The letters that are read, in the order of the columns; the secret comes first if it is read."""
        return values_of(self.input_attributes)

    def products(self, table: NDArray[Any]) -> NDArray[np.float64]:
        """Σ_i table[k, i] Q[y, i], without the matrix."""
        return self.sparse.products(table)

    def ratios(self, over: NDArray[np.float64], under: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest F·w / G·w, from the products."""
        return best_ratio(self.products(over), self.products(under))

    def kernel(self) -> Callable[[NDArray[np.intp], Randomness], NDArray[Any]]:
        """The sampler of exactly these integers."""
        return SparseKernel(self.sparse)

    def columns(self) -> tuple[OutputColumn, ...]:
        """The released columns."""
        return self._columns

    @cached_property
    def _columns(self) -> tuple[OutputColumn, ...]:
        return columns_of(self.released, self.outputs)

    def body(self) -> dict[str, Any]:
        """Outputs and weights: the background, and for each letter its entries [output, weight]; weights are text."""
        found, start = self.sparse, self.sparse.start.tolist()
        entries = [[y, str(w)] for y, w in zip(found.output.tolist(), found.weight.tolist(), strict=True)]
        return {
            "released": list(self.released),
            "outputs": [output_to_json(o) for o in self.outputs],
            "bits": self.bits,
            "background": [str(w) for w in found.background.tolist()],
            "weights": [entries[start[i] : start[i + 1]] for i in range(found.inputs)],
        }

    @classmethod
    def from_body(cls, data: dict[str, Any], **common: Any) -> Self:
        """Inverse of `body`."""
        match data:
            case {
                "released": [*released],
                "outputs": [*outputs],
                "bits": int(bits),
                "background": [*background],
                "weights": [*columns],
            }:
                meanings = tuple(output_from_json(o) for o in outputs)
                return cls(_parsed(background, columns, bits), meanings, released=tuple(released), **common)
        raise ProtocolError("a sparse protocol needs released columns, outputs, bits, a background and weights")

    def certified(self, certificate: Certificate) -> Self:
        """The same protocol with the verdict on it at hand."""
        same = copy.copy(self)  # what was checked once, and the hash, stay as they are
        object.__setattr__(same, "certificate", certificate)
        return same

    def _repr_html_(self) -> str:
        badge = self.certificate.badge() if self.certificate else ""
        equal = np.full(self.sparse.inputs, 1 / self.sparse.inputs)
        return badge + heat_html([show(o) for o in self.outputs], [show(i) for i in self.inputs], self.products, equal)


def _parsed(background: Sequence[Any], columns: Sequence[Any], bits: int) -> SparseWeights:
    """Weights from decimal strings; what does not fit a word is refused before it is made one."""
    for i, column in enumerate(columns):
        if not isinstance(column, list) or not all(isinstance(e, list) and len(e) == 2 and type(e[0]) is int for e in column):
            raise ProtocolError(f"column {i} is no list of pairs: the number of an output and its weight as text")
    entries = [e for column in columns for e in column]
    letter = np.repeat(np.arange(len(columns)), [len(column) for column in columns])
    outputs = [y if 0 <= y < len(background) else -1 for y, _ in entries]
    return SparseWeights(
        _words(background), np.array(outputs, np.intp), letter, _words([w for _, w in entries]), len(columns), bits
    )


def _words(texts: Sequence[Any]) -> NDArray[np.int64]:
    if not all(map(is_weight, texts)):
        raise ProtocolError("weights must be decimal digits as text")
    found = [int(text) for text in texts]
    if max(found, default=0) > 1 << WORD:
        raise ProtocolError(f"weight {max(found)} is above 2^{WORD}, the most that sparse weights can be")
    return np.array(found, np.int64)
