"""Unary encodings: a row says of every value x' whether it has it, and lies about each by itself.

    bit x' of the output is 1 with probability p if x' = x, and with probability q if it is not

The outputs are all sets y of values, 2^a of them, and none is ever written down: p and q are integers over 2^places, and with
u = p(1 − q) and v = q(1 − p) a set is drawn with

    P(y | x) ∝ u if x ∈ y, v if not,   so   F·w_y / G·w_y = (v F(X) + (u − v) F(y)) / (v G(X) + (u − v) G(y))

for any measures F and G on the values. It is largest for one of the a prefixes of the values in the order of F/G.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.errors import ProtocolError
from trechter.model.certificate import Certificate
from trechter.model.dense import DenseProtocol, is_weight
from trechter.model.joint import quotient
from trechter.model.kernel import CHUNK, Kernel, check_codes
from trechter.model.letters import values_of
from trechter.model.outputs import ValueSet
from trechter.model.protocol import Protocol, best_ratio, check_names
from trechter.model.randomness import Randomness
from trechter.model.spec import Spec
from trechter.tables import OutputColumn

MOST_VALUES = 12  # with more of them the 2^a outputs are not listed
MOST_PLACES = 1000  # so that ratios of p and q are floats


@dataclass(frozen=True, eq=False, repr=False)
class UnaryProtocol(Protocol):
    """p and q as integers over 2^places; released is a column of zeros and ones for each value."""

    kind = "unary"

    p: int
    q: int
    places: int
    secret: tuple[Attribute, ...]
    release: tuple[Attribute, ...]
    reads: str = "x"
    promise: Spec | None = None
    certificate: Certificate | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.places <= MOST_PLACES:
            raise ProtocolError(f"places = {self.places}: p and q are integers over 2^places, 1 ≤ places ≤ {MOST_PLACES}")
        for name, share in (("p", self.p), ("q", self.q)):
            if not 0 <= share <= 1 << self.places:
                raise ProtocolError(f"{name} = {share} over 2^{self.places} is no probability")
        if self.reads != "x":
            raise ProtocolError(f"a unary encoding reads x, not {self.reads!r}")
        check_names(self)
        if len(set(self.released)) < len(self.released):
            raise ProtocolError("two values give columns of the same name; rename an attribute")

    @property
    def shares(self) -> tuple[float, float, float, float]:
        """p, q, 1 − p and 1 − q as floats, each to its last digit."""
        whole = 1 << self.places
        return self.p / whole, self.q / whole, (whole - self.p) / whole, (whole - self.q) / whole

    @property
    def listed(self) -> bool:
        """Whether the values are few enough to list all outputs."""
        return len(self.inputs) <= MOST_VALUES

    @cached_property
    def inputs(self) -> tuple[Any, ...]:
        """The values of X."""
        return values_of(self.release)

    @cached_property
    def released(self) -> tuple[str, ...]:
        """The names of the released columns, such as `X=a`; of several attributes `X1=a & X2=b`."""
        parts = [[f"{a.name}={text}" for text in a.labels] for a in self.release]
        return tuple(" & ".join(part) for part in product(*parts))

    @property
    def bits(self) -> int:
        """The weights of listed outputs are integers over 2^bits."""
        return self.places * len(self.inputs)

    @cached_property
    def outputs(self) -> tuple[ValueSet, ...]:
        """All sets, if they are few; bit x of its number says whether x is in a set."""
        return tuple(ValueSet(tuple(v for v, has in zip(self.inputs, row, strict=True) if has)) for row in self.members())

    @property
    def weights(self) -> NDArray[np.object_]:
        """Exact Python integers (2^a × a), if that is small; every column sums to 2^bits."""
        whole, members = 1 << self.places, self.members().astype(int)
        other, own = (np.array([whole - share, share], object)[members] for share in (self.q, self.p))
        each = np.arange(len(self.inputs))
        return np.stack([np.where(each == x, own, other).prod(axis=1) for x in each], axis=1)

    @property
    def integers(self) -> NDArray[np.object_]:
        """The same, under the name that it has where a matrix is kept."""
        return self.weights

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The same as floats."""
        return quotient(self.weights, 1 << self.bits)

    def explicit(self) -> DenseProtocol:
        """The same protocol as a matrix whose outputs are sets, if they are few."""
        return DenseProtocol(self.weights, self.bits, self.outputs, self.secret, self.release, promise=self.promise)

    def products(self, table: NDArray[Any]) -> NDArray[np.float64]:
        """table · Qᵀ, if the outputs are few."""
        return np.asarray(table @ self.matrix.T)

    def ratios(self, over: NDArray[np.float64], under: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest F·w / G·w for each pair of rows F and G, by prefixes."""
        outside, gain = self._outside()
        if gain == 0:
            return best_ratio(over.sum(axis=1, keepdims=True), under.sum(axis=1, keepdims=True))
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-np.nan_to_num(over / under, nan=0.0), axis=1, kind="stable")
        base = outside / gain
        tops, bottoms = (
            base * table.sum(axis=1, keepdims=True) + np.cumsum(np.take_along_axis(table, order, axis=1), axis=1)
            for table in (over, under)
        )
        return best_ratio(tops, bottoms)

    def kernel(self) -> Callable[[NDArray[np.intp], Randomness], NDArray[Any]]:
        """The sampler of exactly these integers."""
        return UnaryKernel(self.p, self.q, self.places, len(self.inputs))

    def columns(self) -> tuple[OutputColumn, ...]:
        """The released columns."""
        return self._columns

    @cached_property
    def _columns(self) -> tuple[OutputColumn, ...]:
        return tuple(map(OutputColumn.flag, self.released))

    def body(self) -> dict[str, Any]:
        """p and q as text."""
        return {"places": self.places, "p": str(self.p), "q": str(self.q)}

    @classmethod
    def from_body(cls, data: dict[str, Any], **common: Any) -> Self:
        """Inverse of `body`."""
        match data:
            case {"places": places, "p": p, "q": q} if type(places) is int and is_weight(p) and is_weight(q):
                return cls(int(p), int(q), places, **common)
        raise ProtocolError("a unary encoding needs places, and p and q as decimal digits in text")

    def certified(self, certificate: Certificate) -> Self:
        """The same protocol with the verdict on it at hand."""
        return replace(self, certificate=certificate)

    def _outside(self) -> tuple[int, int]:
        """v and u − v, u = p(1 − q), v = q(1 − p), times a constant; a set and its complement change places if p < q."""
        whole = 1 << self.places
        low, high = sorted((self.q * (whole - self.p), self.p * (whole - self.q)))
        return low, high - low

    def members(self) -> NDArray[np.bool_]:
        """members[y, x]: whether set y has x; if the sets are few."""
        a = len(self.inputs)
        if not self.listed:
            raise ProtocolError(
                f"a unary encoding of {a:,} values has 2^{a:,} outputs, which are not listed beyond {MOST_VALUES} values; "
                "its level, its informations and what it draws need no list"
            )
        return np.asarray(np.arange(2**a)[:, None] >> np.arange(a) & 1 == 1)

    def _repr_html_(self) -> str:
        badge = self.certificate.badge() if self.certificate else ""
        p, q, _, _ = self.shares
        return (
            f"{badge}<p>One column of zeros and ones for each of {len(self.inputs):,} values: 1 with probability "
            f"{p:.6g} for the value that a row has, and {q:.6g} for every other.</p>"
        )


class UnaryKernel:
    """(codes, randomness) → a row of bits for each code: every bit is a draw of its own, from exactly p or q."""

    def __init__(self, p: int, q: int, places: int, values: int) -> None:
        whole = 1 << places
        self.values = values
        self._kernel = Kernel(np.array([[whole - q, whole - p], [q, p]], object), places)

    def __call__(self, codes: NDArray[Any], random: Randomness) -> NDArray[np.uint8]:
        """One row for each code."""
        drawn = np.empty((len(codes), self.values), np.uint8)
        rows = max(1, CHUNK // self.values)
        for begin in range(0, len(codes), rows):
            piece = np.asarray(codes[begin : begin + rows], np.intp)
            check_codes(piece, self.values, begin)
            has = np.zeros((len(piece), self.values), np.uint8)
            has[np.arange(len(piece)), piece] = 1
            drawn[begin : begin + rows] = self._kernel(has.ravel(), random).reshape(has.shape)
        return drawn
