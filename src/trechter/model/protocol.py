"""A protocol Q: for each input letter, a distribution over outputs; what is certified is exactly what is drawn.

A protocol may be a matrix or implicit (a unary encoding has 2^a outputs), so this is only what all of them can do.
The file is `protocol.json`: labels, outputs, the promise, the exact weights or parameters, and a hash over all of it.
"""

from __future__ import annotations

import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.errors import ProtocolError, TrechterError, TrechterWarning, expect
from trechter.model.files import content_hash, read_json, write_atomically
from trechter.model.joint import Joint
from trechter.model.randomness import Randomness, randomness
from trechter.model.spec import Spec
from trechter.tables import OutputColumn, open_table

FORMAT = "trechter-protocol"
VERSION = 1
EXAMPLE = "tr.design(joint, notion).protocol"


class Protocol(ABC):
    """What reads a row and draws its output."""

    KINDS: ClassVar[dict[str, type[Protocol]]] = {}
    kind: ClassVar[str]

    secret: tuple[Attribute, ...]
    release: tuple[Attribute, ...]
    reads: str
    promise: Spec | None
    parents: tuple[str, ...] = ()  # the hashes of what it was composed of

    def __init_subclass__(cls) -> None:
        Protocol.KINDS[cls.kind] = cls

    @property
    @abstractmethod
    def matrix(self) -> NDArray[np.float64]:
        """P(output | letter) as floats, if it has a matrix of reasonable size."""

    @abstractmethod
    def products(self, table: NDArray[Any]) -> NDArray[np.float64]:
        """Σ_i table[k, i] P(output y | letter i) for every k and y: all that most figures need of a protocol."""

    @abstractmethod
    def ratios(self, over: NDArray[np.float64], under: NDArray[np.float64]) -> NDArray[np.float64]:
        """For each pair of rows F and G the largest F·w / G·w of any output w, at least 1: levels need no more."""

    @abstractmethod
    def kernel(self) -> Callable[[NDArray[np.intp], Randomness], NDArray[Any]]:
        """The sampler: letter codes to output codes, one for each row, or one for each row and released column."""

    @abstractmethod
    def columns(self) -> tuple[OutputColumn, ...]:
        """The released columns: what each output shows in them."""

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """What is particular to this kind of protocol, for its file."""

    @classmethod
    @abstractmethod
    def from_body(cls, data: dict[str, Any], **common: Any) -> Self:
        """Inverse of `body`; `common` is what all kinds share."""

    @property
    def input_attributes(self) -> tuple[Attribute, ...]:
        """The columns that are read, the secret first if it is."""
        return self.release if self.reads == "x" else self.secret + self.release

    def sanitise(self, table: Any, *, rng: Callable[[int], bytes] | None = None, insecure_seed: int | None = None) -> Any:
        """The same type of table with the released columns only, rows in place."""
        random, kernel, source = randomness(rng, insecure_seed), self.kernel(), open_table(table)
        dropped = source.dropped([a.name for a in self.input_attributes])
        if dropped:
            warnings.warn(left_out(dropped), TrechterWarning, stacklevel=2)
        return source.sanitise(self.input_attributes, lambda codes: kernel(codes, random), self.columns())

    def to_json(self) -> dict[str, Any]:
        """The content of `protocol.json`."""
        content = {"format": FORMAT, "version": VERSION, "kind": self.kind, "reads": self.reads}
        content |= {"secret": [a.to_json() for a in self.secret], "release": [a.to_json() for a in self.release]}
        content |= {"promise": self.promise.to_json() if self.promise else None} | self.body()
        return content | {"hash": content_hash(content)}

    @cached_property
    def digest(self) -> str:
        """The hash in the file; protocols with the same are equal."""
        return str(self.to_json()["hash"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Protocol) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        secret, release = (" × ".join(a.name for a in role) for role in (self.secret, self.release))
        promise = f", {self.promise}" if self.promise else ""
        return f"Protocol({self.kind}, reads {self.reads}: {release} towards {secret}{promise}, hash {self.digest[:12]})"

    def save(self, path: str | Path) -> None:
        """Write `protocol.json`, whole or not at all."""
        write_atomically(path, json.dumps(self.to_json(), ensure_ascii=False, indent=1) + "\n")

    @staticmethod
    def load(path: str | Path) -> Protocol:
        """Read `protocol.json`; a file that was changed by hand is refused."""
        return Protocol.from_json(read_json(path, FORMAT, VERSION, ProtocolError), path)

    @staticmethod
    def from_json(content: dict[str, Any], path: str | Path) -> Protocol:
        """Inverse of `to_json`; what is wrong is said of the file that it stands in."""
        data = dict(content)
        kind = Protocol.KINDS.get(str(data.get("kind")))
        if kind is None:
            raise ProtocolError(f"{path}: unknown kind of protocol {data.get('kind')!r}")
        stated = data.pop("hash", None)
        if stated != content_hash(data):
            raise ProtocolError(f"{path}: the content does not match its hash; the file was changed after it was made")
        try:
            return kind.from_body(data, **_common(data, path))
        except TrechterError:
            raise
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise ProtocolError(f"{path} is malformed: {error!r}") from None


def check_names(protocol: Protocol) -> None:
    """There is something to release, all columns have names of their own, and no two outputs look the same."""
    names = [a.name for a in protocol.secret + protocol.release]
    columns = protocol.columns()
    if len(set(names)) < len(names) or not protocol.release or not columns:
        raise ProtocolError(f"a protocol needs columns to release and names that differ, got {names}")
    if len(set(zip(*(c.codes.tolist() for c in columns), strict=True))) < len(columns[0].codes):
        raise ProtocolError("two outputs look the same in the released table; merge their rows or rename one")


def best_ratio(over: NDArray[np.float64], under: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest over / under of each row, at least 1; what is 0 / 0 asks for nothing."""
    ratios = np.divide(over, under, out=np.where(over > 0, np.inf, 1.0), where=under > 0)
    return np.asarray(ratios.max(axis=1, initial=1.0))


def check_pair(protocol: object, joint: object) -> None:
    """A protocol and a joint, each in its place: some functions take the one first, some the other."""
    expect(protocol, Protocol, EXAMPLE)
    expect(joint, Joint, "tr.Joint(counts)")


def left_out(columns: Sequence[str]) -> str:
    """What is said of columns that do not come out."""
    names = ", ".join(name or "(a column without a name)" for name in columns)
    return f"left out, because the protocol does not cover them: {names}"


def _common(data: dict[str, Any], path: str | Path) -> dict[str, Any]:
    try:
        return {
            "secret": tuple(Attribute.from_json(a) for a in data["secret"]),
            "release": tuple(Attribute.from_json(a) for a in data["release"]),
            "reads": data["reads"],
            "promise": Spec.from_json(data["promise"]) if data["promise"] else None,
        }
    except KeyError as error:
        raise ProtocolError(f"{path}: {error} is missing") from None
