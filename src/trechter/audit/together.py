"""What several releases of the same rows tell together, in integers, without the matrix of their composition.

    P(y¹ y² … | s) = Σ_i p(i|s) Q¹(y¹|i) Q²(y²|i) …          so the levels of the parts do not add up.

A notion compares sums of one row of weights with each other: rows that are proportional on the letters that occur say the
same, and one of them is judged for all. Where there are still too many rows, a bound takes their place: if Q(y|i) varies with
i by at most a factor r, one more release multiplies each of those sums by a number between m and r·m, whatever the notion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trechter.audit.certify import HasSpec, check_entries, check_shares, counted, facts_of, holds, judge, robust, spec_of
from trechter.audit.definitions import DEFINITIONS, Drawn, Sums, worst_ratio
from trechter.errors import ProtocolError
from trechter.exact import log_up, product
from trechter.exact.matrices import Integers
from trechter.model.certificate import Certificate
from trechter.model.joint import Joint
from trechter.model.operations import columns_read, reads_of
from trechter.model.protocol import Protocol
from trechter.model.sparse import SparseProtocol
from trechter.model.sparse_weights import SparseWeights
from trechter.model.spec import Spec
from trechter.model.unary import UnaryProtocol

ROW = 300  # what a row costs by itself, in products of integers
MOST_WORK = 500_000_000  # products of integers, about half a minute
MOST_KEPT = 5_000_000  # entries of rows that are kept
ABOUT_X = Spec("ldp", None, "x")
AT_ONCE = 100_000  # entries of rows that are multiplied together


class Level(NamedTuple):
    """e^level (None is ∞); exact, or an upper bound of it."""

    worst: Fraction | None
    exact: bool = True


def certify_together(protocols: Sequence[Protocol], joint: Joint, notion: HasSpec | Spec) -> Certificate:
    """The verdict on independent releases of the same rows, seen together."""
    spec = spec_of(notion)
    level = level_together(protocols, joint, spec)
    certificate = Certificate(spec, holds(level.worst, spec.epsilon), log_up(level.worst), level.worst)
    return certificate.with_facts(**facts_of(joint), composed=[p.digest for p in protocols], bound=not level.exact)


def level_together(protocols: Sequence[Protocol], joint: Joint, spec: Spec) -> Level:
    """e^level of all of them, exactly or as a bound."""
    if not protocols:
        return Level(Fraction(1))
    reads = reads_of(protocols, joint.secret)
    if len(protocols) == 1 and _is_alone(protocols[0], joint, spec):
        return Level(judge(protocols[0], _narrowed(joint, protocols[0]), spec))
    if robust(spec):
        raise ProtocolError(
            f"there is no judge for {spec} of several releases together: certify their composition, tr.compose, if it is small"
        )
    read = [columns_read(p, joint.secret, joint.release, reads) for p in protocols]
    letters = _letters(joint, spec, reads, read)
    known, vast = [], []
    for protocol, columns in zip(protocols, read, strict=True):
        rows = _rows(protocol, columns[letters.which])
        vast.append(_spread(protocol, columns[letters.which], joint)) if rows is None else known.append(rows)
    rows, last, rest = _fitting(known, letters)
    factors = vast + [_widest(factor) for factor in rest]
    worst = _worst(rows, last, letters)
    if not factors:
        return Level(worst)
    return Level(None if worst is None or None in factors else worst * prod(f for f in factors if f), False)


class Occurring(NamedTuple):
    """The letters that occur (which[k] stands for the k-th), with their counts by protected value, and attributes."""

    which: NDArray[np.intp]
    counts: Integers
    attributes: list[list[int]]
    notion: str
    reads: str

    @property
    def work(self) -> int:
        """What one row takes, in products of integers."""
        return (ROW + int(self.counts.size)) * (2 ** len(self.attributes) if DEFINITIONS[self.notion][1] else 1)


def _letters(joint: Joint, spec: Spec, reads: str, read: Sequence[NDArray[np.intp]]) -> Occurring:
    """Unless attributes matter one by one, letters that no protocol tells apart are added up."""
    counts, attributes = counted(reads, joint, spec)
    seen = np.flatnonzero((counts != 0).any(axis=0))
    if not DEFINITIONS[spec.name][1] and spec.protect == "s":
        _, first, alike = np.unique(np.array(read)[:, seen], axis=1, return_index=True, return_inverse=True)
        merged = np.zeros((len(counts), len(first)), object)
        np.add.at(merged.T, alike.ravel(), counts[:, seen].T)
        return Occurring(seen[first], merged, [[0] * len(first)], spec.name, reads)
    kept = [[axis[i] for i in seen] for axis in attributes]
    return Occurring(seen, counts[:, seen], kept, spec.name, reads)


def _fitting(factors: Sequence[Integers], letters: Occurring) -> tuple[Integers, Integers, list[Integers]]:
    """Rows, a last factor that each of them is to be multiplied by, and the factors that would be too much."""
    n = letters.counts.shape[1]
    none = np.ones((1, n), object)
    rows, last, rest = none, none, []
    for factor in sorted(factors, key=len):
        if len(rows) * len(last) * n <= MOST_KEPT:
            rows, last = directions(u * v for u in rows for v in last), none
        if len(last) == 1 and len(rows) * len(factor) * letters.work <= MOST_WORK:
            last = factor
        else:
            rest.append(factor)
    return rows, last, rest


def _worst(rows: Integers, last: Integers, letters: Occurring) -> Fraction | None:
    """e^level of the rows u·v, u of the first and v of the last."""

    def among(chosen: Any) -> tuple[Drawn, Sums]:
        part = letters.counts[:, chosen]
        return _drawn(rows[:, chosen], last[:, chosen], part), part.sum(axis=1).tolist()

    return worst_ratio(letters.notion, among, letters.attributes, letters.reads)


def _drawn(rows: Integers, last: Integers, counts: Integers) -> Iterator[Sequence[int]]:
    """Σ_i u[i] v[i] N[s, i] by s for every u and v, some u at a time."""
    c, n = counts.shape
    step = max(1, AT_ONCE // counts.size)
    for start in range(0, len(rows), step):
        weighted = (rows[start : start + step, None, :] * counts).reshape(-1, n)
        yield from product(last, weighted.T).reshape(-1, c).tolist()


def directions(rows: Iterable[Integers]) -> Integers:
    """The rows that are not proportional to each other, each as the smallest integers; an output nobody gets is left out."""
    found: dict[tuple[int, ...], None] = {}
    for row in rows:
        values = row.tolist()
        if divisor := gcd(*values):
            found[tuple(v // divisor for v in values)] = None
    kept: NDArray[np.object_] = np.array(list(found), dtype=np.object_)
    return kept


def _rows(protocol: Protocol, columns: NDArray[np.intp]) -> Integers | None:
    """The rows of a protocol on some letters; None if there are too many."""
    if isinstance(protocol, SparseProtocol) and protocol.sparse.outputs * protocol.sparse.inputs > MOST_KEPT:
        return None
    if isinstance(protocol, UnaryProtocol) and not protocol.listed:
        return None
    integers = getattr(protocol, "integers", None)
    if integers is None:
        return None
    check_shares(integers, 1 << protocol.bits)  # type: ignore[attr-defined]
    return directions(integers[:, columns].astype(object))


def _spread(protocol: Protocol, columns: NDArray[np.intp], joint: Joint) -> Fraction | None:
    """The largest Q(y|i)/Q(y|i') of a protocol that is too large for a matrix, or has none; None is ∞."""
    if isinstance(protocol, SparseProtocol):
        return _widest_entries(protocol.sparse, np.unique(columns))
    if not _is_among(protocol, joint):
        raise ProtocolError(f"protocols of kind {protocol.kind!r} that read the secret cannot be judged together with others")
    return judge(protocol, _narrowed(joint, protocol), ABOUT_X)


def _is_among(protocol: Protocol, joint: Joint) -> bool:
    """Whether it reads released columns of the joint only."""
    return protocol.reads == "x" and set(protocol.release) <= set(joint.release)


def _is_alone(protocol: Protocol, joint: Joint, spec: Spec) -> bool:
    """Whether the other columns do not matter, so that the judge of its own kind may decide."""
    if protocol.reads == "sx":
        return protocol.input_attributes == joint.secret + joint.release
    plain = spec.protect == "s" and not DEFINITIONS[spec.name][1]
    return protocol.release == joint.release or (plain and _is_among(protocol, joint))


def _narrowed(joint: Joint, protocol: Protocol) -> Joint:
    """The counts of the columns that a protocol releases, in its order."""
    axes = [joint.release.index(a) + 1 for a in protocol.release]
    others = [j for j in range(1, joint.counts.ndim) if j not in axes]
    counts = joint.counts.transpose([0, *axes, *others]).sum(axis=tuple(range(len(axes) + 1, joint.counts.ndim)))
    return Joint(counts, secret=joint.secret, release=protocol.release)


def _widest(rows: Integers) -> Fraction | None:
    if (rows == 0).any():
        return None
    return max(Fraction(max(row), min(row)) for row in rows.tolist())


def _widest_entries(weights: SparseWeights, columns: NDArray[np.intp]) -> Fraction | None:
    """The same of sparse weights: a letter without an entry for an output draws it with the weight of the background."""
    check_entries(weights)
    kept, named = np.isin(weights.letter, columns), weights.named[columns]
    own, output, entry = weights.background.astype(object), weights.output[kept], weights.weight[kept].astype(object)
    high, low = np.zeros(len(own), object), np.full(len(own), 1 << weights.bits, object)
    np.maximum.at(high, output, entry)
    np.minimum.at(low, output, entry)
    low[np.bincount(output, minlength=len(own)) < named.sum()] = 0
    ends = [own + high, own + low] if named.any() else []
    ends += [] if named.all() else [own * weights.times]
    pairs = [(max(values), min(values)) for values in zip(*ends, strict=True)]
    if any(over and not under for over, under in pairs):
        return None
    return max(Fraction(over, under) for over, under in pairs if under)
