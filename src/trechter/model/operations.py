"""New protocols from old: products, compositions, marginals; all exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count
from itertools import product as every
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.alphabet.attribute import shorten
from trechter.errors import ProtocolError, expect
from trechter.exact.matrices import Integers
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.outputs import Output
from trechter.model.protocol import EXAMPLE, Protocol
from trechter.model.unary import UnaryProtocol

MOST_ENTRIES = 4_000_000  # of a composition's matrix, each a Python integer


def product(protocols: Sequence[DenseProtocol]) -> DenseProtocol:
    """Protocols of different attributes, drawn independently: Q(y¹y²… | x¹x²…) = Π Qʲ(yʲ | xʲ)."""
    names = [a.name for p in protocols for a in p.release]
    if len(set(names)) < len(names) or any(p.reads != "x" for p in protocols):
        raise ProtocolError(f"a product needs protocols of different attributes that read x only, got {names}")
    check_secrets(protocols)
    weights = np.array([[1]], object)
    for protocol in protocols:
        weights = np.kron(weights, protocol.weights)
    return DenseProtocol(
        weights,
        sum(p.bits for p in protocols),
        tuple(_joined(parts) for parts in every(*(_parts(p) for p in protocols))),
        protocols[0].secret,
        tuple(a for p in protocols for a in p.release),
        released=_distinct([name for p in protocols for name in p.released]),
    )


def compose(first: Protocol, *more: Protocol, joint: Joint | None = None) -> DenseProtocol:
    """Independent releases of the same rows are one protocol: Q(y¹y²… | i) = Π Qᵏ(yᵏ | what k reads of i).

    It reads the columns of all of them, and the secret if one does; or the columns of a joint, in its order.
    """
    protocols = (first, *more)
    for protocol in protocols:
        expect(protocol, Protocol, EXAMPLE)
    if joint is None:
        check_secrets(protocols)
    secret = joint.secret if joint else first.secret
    release = joint.release if joint else _union(protocols)
    reads = reads_of(protocols, secret)
    letters = math.prod(len(a) for a in (secret + release if reads == "sx" else release))
    weights, bits = np.ones((1, letters), object), 0
    for protocol in protocols:
        own, bits = exact_weights(protocol), bits + protocol.bits  # type: ignore[attr-defined]
        _check_size(len(weights) * len(own), letters)
        own = own[:, columns_read(protocol, secret, release, reads)].astype(object)
        weights = (weights[:, None, :] * own[None, :, :]).reshape(-1, letters)
    outputs = tuple(_joined(parts) for parts in every(*map(_parts, protocols)))
    released = _distinct([column.name for p in protocols for column in p.columns()])
    parents = tuple(digest for p in protocols for digest in (p.parents or (p.digest,)))
    return DenseProtocol(weights, bits, outputs, secret, release, reads, released, parents=parents)


def reads_of(protocols: Sequence[Protocol], secret: Sequence[Attribute]) -> str:
    """What protocols read together of a table with this secret: "sx" if one of them reads a secret column."""
    names = {a.name for a in secret}
    return "sx" if any(a.name in names for p in protocols for a in p.input_attributes) else "x"


def columns_read(
    protocol: Protocol, secret: Sequence[Attribute], release: Sequence[Attribute], reads: str
) -> NDArray[np.intp]:
    """The column of a protocol that each letter of a table draws from; letters are x, or (s, x), in C order."""
    table = {a.name: a for a in ((*secret, *release) if reads == "sx" else release)}
    sizes = [len(a) for a in table.values()]
    codes = dict(zip(table, np.unravel_index(np.arange(math.prod(sizes)), sizes), strict=True))
    for attribute in protocol.input_attributes:
        if attribute.name not in table:
            raise ProtocolError(f"a protocol reads {attribute.name!r}, but the columns here are {', '.join(table)}")
        if attribute != table[attribute.name]:
            raise ProtocolError(
                f"the values of {attribute.name!r} are not the same everywhere, {shorten(attribute.labels)} here and "
                f"{shorten(table[attribute.name].labels)} there: use one schema for all releases of a table"
            )
    own = protocol.input_attributes
    return np.ravel_multi_index([codes[a.name] for a in own], [len(a) for a in own])


def exact_weights(protocol: Protocol) -> Integers:
    """The whole matrix as integers over 2^bits."""
    integers: Integers | None = getattr(protocol, "integers", None)
    if integers is None:
        raise ProtocolError(f"a protocol of kind {protocol.kind!r} has no matrix of integers, so it cannot be composed")
    return integers


def marginal(protocol: DenseProtocol, names: str | Sequence[str]) -> DenseProtocol:
    """What a reader of some released columns only has seen: outputs that agree there are added up."""
    expect(protocol, Protocol, EXAMPLE)
    wanted = [names] if isinstance(names, str) else list(names)
    missing = [name for name in wanted if name not in protocol.released]
    if missing:
        raise ProtocolError(f"{missing[0]!r} is not a released column; those are {', '.join(protocol.released)}")
    kept = [protocol.released.index(name) for name in wanted]
    seen = [tuple(part[j] for j in kept) for part in _parts(protocol)]
    outputs = list(dict.fromkeys(seen))
    weights = np.array([sum_rows(protocol.weights, [s == o for s in seen]) for o in outputs], object)
    plain = tuple(_joined([o]) for o in outputs)
    common: dict[str, Any] = {"secret": protocol.secret, "release": protocol.release, "reads": protocol.reads}
    return DenseProtocol(weights, protocol.bits, plain, released=tuple(wanted), **common)


def check_secrets(protocols: Sequence[Protocol]) -> None:
    """Protocols that are put together protect the same secret."""
    if any(p.secret != protocols[0].secret for p in protocols):
        names = [", ".join(a.name for a in p.secret) for p in protocols]
        raise ProtocolError(f"the protocols protect different secrets: {'; '.join(names)}")


def sum_rows(weights: Integers, chosen: Sequence[bool]) -> Integers:
    """The sum of the chosen rows."""
    return np.asarray(weights[np.flatnonzero(chosen)].sum(axis=0))


def _union(protocols: Sequence[Protocol]) -> tuple[Attribute, ...]:
    """All columns that are read but the secret, in the order in which they are first named."""
    found: dict[str, Attribute] = {}
    for attribute in (a for p in protocols for a in p.release):
        found.setdefault(attribute.name, attribute)
    return tuple(found.values())


def _check_size(outputs: int, letters: int) -> None:
    if outputs * letters > MOST_ENTRIES:
        raise ProtocolError(
            f"the composition has {outputs:,} outputs × {letters:,} inputs, too many for a matrix; "
            "trechter.audit.certify_together judges it without one"
        )


def _parts(protocol: Any) -> list[tuple[Output, ...]]:
    if isinstance(protocol, UnaryProtocol):
        return [tuple(row) for row in protocol.members().astype(int).tolist()]
    if len(protocol.columns()) == 1:
        return [(o,) for o in protocol.outputs]
    return [tuple(o) for o in protocol.outputs]


def _joined(parts: Sequence[tuple[Output, ...]]) -> Any:
    """One cell per released column; a single cell stands alone."""
    cells = tuple(cell for part in parts for cell in part)
    return cells if len(cells) > 1 else cells[0]


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names with a number where they would repeat."""
    once = {name for name in names if list(names).count(name) == 1}
    result: list[str] = []
    for name in names:
        numbered = (f"{name}_{k}" for k in count(1))
        result.append(name if name in once else next(n for n in numbered if n not in once and n not in result))
    return tuple(result)
