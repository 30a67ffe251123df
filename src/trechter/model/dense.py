"""A protocol as a matrix of exact integer weights: `weights[y, i]` out of 2^bits, one column per letter."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.errors import ProtocolError
from trechter.exact.matrices import Integers
from trechter.exact.rounding import WORD
from trechter.model.certificate import Certificate
from trechter.model.heatmap import protocol_html
from trechter.model.joint import Joint, quotient
from trechter.model.kernel import Kernel
from trechter.model.letters import values_of
from trechter.model.outputs import Output, cell, output_from_json, output_to_json, show
from trechter.model.protocol import Protocol, best_ratio, check_names
from trechter.model.randomness import Randomness
from trechter.model.spec import Spec
from trechter.tables import OutputColumn

MOST_BITS = 14_000  # weights are written as text, and Python reads integers of at most 4300 digits


@dataclass(frozen=True, eq=False, repr=False)
class DenseProtocol(Protocol):
    """A matrix; `outputs` say what each row means, one entry per released column if they are tuples."""

    kind = "dense"

    integers: Integers
    bits: int
    outputs: tuple[Output, ...]
    secret: tuple[Attribute, ...]
    release: tuple[Attribute, ...]
    reads: str = "x"
    released: tuple[str, ...] = ("Y",)
    promise: Spec | None = None
    certificate: Certificate | None = field(default=None, compare=False)
    parents: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "integers", _frozen(self.integers))
        check_weights(self.integers, self.bits)
        b, n = self.integers.shape
        if n != len(self.inputs):
            raise ProtocolError(f"a matrix of {n} columns for {len(self.inputs)} inputs: each needs one column")
        if b != len(self.outputs):
            raise ProtocolError(f"a matrix of {b} rows for {len(self.outputs)} outputs: each needs one row")
        check_names(self)

    @classmethod
    def from_matrix(cls, matrix: Any, joint: Joint, reads: str = "x", bits: int = 48) -> DenseProtocol:
        """A matrix (b × n) of probabilities, rounded to integers; outputs are numbered, or the values if b = a."""
        weights = nearest(np.asarray(matrix, np.float64), bits)
        values = values_of(joint.release)
        outputs: tuple[Output, ...] = values if len(weights) == len(values) else tuple(range(len(weights)))
        names = tuple(a.name for a in joint.release) if outputs is values else ("Y",)
        return cls(weights, bits, outputs, joint.secret, joint.release, reads, names)

    @property
    def weights(self) -> NDArray[np.object_]:
        """Exact Python integers; every column sums to 2^bits."""
        return self.integers.astype(object)

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The same as floats; columns sum to 1."""
        return quotient(self.integers, 1 << self.bits)

    @cached_property
    def inputs(self) -> tuple[Any, ...]:
        """The letters that are read, in the order of the columns; the secret comes first if it is read."""
        return values_of(self.input_attributes)

    def products(self, table: NDArray[Any]) -> NDArray[np.float64]:
        """table · Qᵀ."""
        return np.asarray(table @ self.matrix.T)

    def ratios(self, over: NDArray[np.float64], under: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest F·w / G·w, from the products."""
        return best_ratio(self.products(over), self.products(under))

    def kernel(self) -> Callable[[NDArray[np.intp], Randomness], NDArray[Any]]:
        """The sampler of exactly these integers."""
        return Kernel(self.integers, self.bits)

    def columns(self) -> tuple[OutputColumn, ...]:
        """The released columns."""
        return columns_of(self.released, self.outputs)

    def body(self) -> dict[str, Any]:
        """Outputs and weights; weights are decimal strings, column by column."""
        columns = [[str(w) for w in column] for column in self.integers.T.tolist()]
        outputs = [output_to_json(o) for o in self.outputs]
        content = {"released": list(self.released), "outputs": outputs, "bits": self.bits, "weights": columns}
        return content | ({"composed": list(self.parents)} if self.parents else {})

    def certified(self, certificate: Certificate) -> Self:
        """The same protocol with the verdict on it at hand."""
        return replace(self, certificate=certificate)

    @classmethod
    def from_body(cls, data: dict[str, Any], **common: Any) -> Self:
        """Inverse of `body`."""
        match data:
            case {"released": [*released], "outputs": [*outputs], "bits": int(bits), "weights": [*columns]}:
                meanings = tuple(output_from_json(o) for o in outputs)
                weights, parents = parse_weights(columns, bits), tuple(map(str, data.get("composed", ())))
                return cls(weights, bits, meanings, released=tuple(released), parents=parents, **common)
        raise ProtocolError("a dense protocol needs released columns, outputs, bits and weights")

    def _repr_html_(self) -> str:
        badge = self.certificate.badge() if self.certificate else ""
        return badge + protocol_html([show(o) for o in self.outputs], [show(i) for i in self.inputs], self.matrix)


def _frozen(integers: Integers) -> Integers:
    """A copy that nobody can change once it is certified."""
    own = integers.copy()
    own.setflags(write=False)
    return own


def check_weights(integers: Integers, bits: int) -> None:
    """Weights are non-negative and every column sums to 2^bits exactly."""
    if not 1 <= bits <= MOST_BITS:
        raise ProtocolError(f"bits = {bits}: weights are integers over 2^bits, with 1 ≤ bits ≤ {MOST_BITS}")
    if integers.ndim != 2 or 0 in integers.shape:
        raise ProtocolError(f"weights of shape {integers.shape}: expected (outputs, inputs), at least one of each")
    if np.any(integers < 0):
        raise ProtocolError(f"weight {integers[integers < 0][0]} is negative")
    for i, column in enumerate(integers.T.tolist()):  # Python's sums do not wrap around
        if sum(column) != 1 << bits:
            raise ProtocolError(f"column {i} sums to {sum(column)}, not to 2^{bits} = {1 << bits}")


def parse_weights(columns: Sequence[Sequence[str]], bits: int) -> Integers:
    """Weights from decimal strings."""
    if any(not isinstance(column, list) or not all(map(is_weight, column)) for column in columns):
        raise ProtocolError("weights must be decimal digits as text, in one list for each input")
    if len({len(column) for column in columns}) > 1:
        raise ProtocolError("the columns of the weights differ in length")
    integers = np.array([[int(w) for w in column] for column in columns], object).T
    fits = bits <= WORD and integers.size > 0 and int(integers.max()) <= 1 << WORD
    return integers.astype(np.int64) if fits else integers


def is_weight(text: object) -> bool:
    """Whether it is text of plain digits, no longer than Python reads."""
    return isinstance(text, str) and re.fullmatch("[0-9]{1,4300}", text) is not None


def nearest(matrix: NDArray[np.float64], bits: int) -> Integers:
    """Integers over 2^bits near a float matrix; the largest entry of each column takes what rounding leaves."""
    if matrix.ndim != 2 or not np.all(np.isfinite(matrix)) or np.any(matrix < 0):
        raise ProtocolError("a matrix of probabilities has two axes and finite entries ≥ 0")
    if np.any(abs(matrix.sum(axis=0) - 1) > 1e-9):
        worst = int(np.argmax(abs(matrix.sum(axis=0) - 1)))
        raise ProtocolError(f"column {worst} sums to {float(matrix[:, worst].sum())!r}, not to 1")
    if bits <= WORD:
        weights: Integers = np.floor(np.ldexp(matrix, bits)).astype(np.int64)
    else:
        weights = np.vectorize(lambda q: int(Fraction(q) * (1 << bits)), otypes=[object])(matrix)
    largest, columns = matrix.argmax(axis=0), np.arange(matrix.shape[1])
    weights[largest, columns] += (1 << bits) - weights.sum(axis=0)
    return weights


def columns_of(released: Sequence[str], outputs: Sequence[Output]) -> tuple[OutputColumn, ...]:
    """The released columns of outputs that have a cell for each."""
    parts = [[o] if len(released) == 1 else list(o) for o in outputs]  # type: ignore[arg-type]
    return tuple(_column(name, [p[j] for p in parts]) for j, name in enumerate(released))


def _column(name: str, parts: Sequence[Output]) -> OutputColumn:
    cells = [cell(part) for part in parts]
    values = tuple(dict.fromkeys(cells))
    places = {value: code for code, value in enumerate(values)}
    return OutputColumn(name, values, np.array([places[c] for c in cells]))
