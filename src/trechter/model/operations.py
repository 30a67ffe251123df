"""New protocols from old: products, compositions, marginals; all exact."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as every
from typing import Any

import numpy as np

from trechter.errors import ProtocolError
from trechter.exact.matrices import Integers
from trechter.model.dense import DenseProtocol
from trechter.model.outputs import Output


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


def compose(first: DenseProtocol, second: DenseProtocol) -> DenseProtocol:
    """The protocol of two independent releases of the same X: both outputs are seen."""
    if (first.reads, first.input_attributes) != (second.reads, second.input_attributes):
        raise ProtocolError("composed protocols must read the same columns with the same values")
    check_secrets([first, second])
    weights = first.weights[:, None, :] * second.weights[None, :, :]
    return DenseProtocol(
        weights.reshape(-1, weights.shape[-1]),
        first.bits + second.bits,
        tuple(_joined(parts) for parts in every(_parts(first), _parts(second))),
        first.secret,
        first.release,
        first.reads,
        _distinct([*first.released, *second.released]),
    )


def marginal(protocol: DenseProtocol, names: str | Sequence[str]) -> DenseProtocol:
    """What a reader of some released columns only has seen: outputs that agree there are added up."""
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


def check_secrets(protocols: Sequence[DenseProtocol]) -> None:
    """Protocols that are put together protect the same secret."""
    if any(p.secret != protocols[0].secret for p in protocols):
        names = [", ".join(a.name for a in p.secret) for p in protocols]
        raise ProtocolError(f"the protocols protect different secrets: {'; '.join(names)}")


def sum_rows(weights: Integers, chosen: Sequence[bool]) -> Integers:
    """The sum of the chosen rows."""
    return np.asarray(weights[np.flatnonzero(chosen)].sum(axis=0))


def _parts(protocol: DenseProtocol) -> list[tuple[Output, ...]]:
    if len(protocol.released) == 1:
        return [(o,) for o in protocol.outputs]
    return [tuple(o) for o in protocol.outputs]  # type: ignore[arg-type]


def _joined(parts: Sequence[tuple[Output, ...]]) -> Any:
    """One cell per released column; a single cell stands alone."""
    cells = tuple(cell for part in parts for cell in part)
    return cells if len(cells) > 1 else cells[0]


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Names with a number where they would repeat."""
    totals = {name: list(names).count(name) for name in names}
    seen = dict.fromkeys(names, 0)
    result = []
    for name in names:
        seen[name] += 1
        result.append(name if totals[name] == 1 else f"{name}_{seen[name]}")
    return tuple(result)
