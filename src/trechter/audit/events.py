"""The conditions P(y|A) ≤ e^ε P(y|B) that a notion is made of, for events A and B, which are sets of cells (s, x).

    LDP   A = {s}, B = {s'}             LIP   A = {s} and B everything, and the other way round

and for side channels the same inside each slice x^J. The cells of a condition that agree in what they are part of and in
Q(y|s,x) count as one: only how much mass lies there matters, in every set of distributions that is known here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from trechter.audit.definitions import DEFINITIONS, slices
from trechter.errors import RequestError
from trechter.exact.matrices import Integers
from trechter.model.joint import Joint
from trechter.model.over import Region
from trechter.model.sparse_weights import SparseWeights
from trechter.model.spec import Spec

Amount = tuple[int, ...]  # cells, rows counted, and bounds of their probability over a common denominator
Part = dict[int, Amount]  # how much lies where a row has which weight


@dataclass(frozen=True)
class Group:
    """Cells that count as one."""

    weight: int
    in_a: bool
    in_b: bool
    amount: Amount


@dataclass(frozen=True)
class Pair:
    """Two events by number; `inside`: A is a part of B, `around`: B is a part of A."""

    a: int
    b: int
    inside: bool = False
    around: bool = False


@dataclass(frozen=True)
class Events:
    """Sets of cells, and which pairs of them a notion compares."""

    cells: list[NDArray[np.intp]]
    pairs: list[Pair]


def events(joint: Joint, spec: Spec, reads: str, protected: NDArray[np.intp] | None = None) -> Events:
    """The events of a notion; `protected` is the protected value of each cell, if not the secret."""
    c, a = joint.exact.shape
    s, x = np.divmod(np.arange(c * a), a)
    values = protected if protected is not None else s if spec.protect == "s" else x
    axes = [axis.tolist() for axis in np.unravel_index(x, joint.shape[1:])]
    found = Events([], [])
    side_channels, ldp = DEFINITIONS[spec.name][1], spec.name.endswith("ldp")
    for chosen in slices(axes, reads) if side_channels else [list(range(c * a))]:
        inside = np.array(chosen)
        each = [inside[values[inside] == v] for v in np.unique(values[inside])]
        first = len(found.cells)
        found.cells.extend(each if ldp else [*each, inside])
        if len(each) > 1:
            found.pairs.extend(_pairs(range(first, first + len(each)), ldp))
    return found


def _pairs(numbers: range, ldp: bool) -> Iterator[Pair]:
    if ldp:
        yield from (Pair(a, b) for a, b in permutations(numbers, 2))
    else:
        for e in numbers:
            yield Pair(e, numbers.stop, inside=True)
            yield Pair(numbers.stop, e, around=True)


class Amounts:
    """How much lies in each cell."""

    def __init__(self, region: Region) -> None:
        self.region = region
        bounds = [*region.low, *region.high]
        self.whole = int(np.lcm.reduce([Fraction(v).denominator for v in bounds] or [1], dtype=object))
        columns = [[1] * len(region.counts), list(region.counts)]
        if bounds:
            columns += [[int(v * self.whole) for v in side] for side in (region.low, region.high)]
        self.columns = np.array(columns, object)
        self.all: Amount = tuple(self.columns.sum(axis=1).tolist())

    def rest(self, found: Events) -> list[Amount]:
        """What lies in neither event of each pair."""
        sizes = [tuple(self.columns[:, cells].sum(axis=1).tolist()) for cells in found.cells]
        without = [_minus(self.all, sizes[p.b if p.inside else p.a]) for p in found.pairs]
        return [m if p.inside or p.around else _minus(m, sizes[p.b]) for p, m in zip(found.pairs, without, strict=True)]

    def parts(self, weights: Integers | SparseWeights, found: Events, letters: NDArray[np.intp]) -> list[list[Part]]:
        """How much lies in each event, by the weight that an output has there, for every output; a cell's letter is given."""
        if isinstance(weights, SparseWeights):
            return self._sparse(weights, found, letters)
        return [[self._part(row[letters[cells]], cells) for cells in found.cells] for row in weights if row.any()]

    def _part(self, row: Integers, cells: NDArray[np.intp]) -> Part:
        weights, at = np.unique(row, return_inverse=True)
        sums = np.zeros((len(weights), len(self.columns)), object)
        np.add.at(sums, at, self.columns[:, cells].T)
        return {int(w): tuple(amount) for w, amount in zip(weights.tolist(), sums.tolist(), strict=True)}

    def _sparse(self, weights: SparseWeights, found: Events, letters: NDArray[np.intp]) -> list[list[Part]]:
        """Letters of the background are counted at once."""
        order = np.argsort(weights.output, kind="stable")
        start = np.searchsorted(weights.output[order], np.arange(weights.outputs + 1))
        entries = list(zip(weights.letter[order].tolist(), weights.weight[order].tolist(), strict=True))
        events = [self._by_letter(cells, letters, weights) for cells in found.cells]
        return [
            [_over_background(entries[start[y] : start[y + 1]], shared, shared * weights.times, *event) for event in events]
            for y, shared in enumerate(weights.background.tolist())
            if shared or start[y] < start[y + 1]
        ]

    def _by_letter(
        self, cells: NDArray[np.intp], letters: NDArray[np.intp], weights: SparseWeights
    ) -> tuple[dict[int, Amount], Amount, Amount]:
        """What lies in each letter of an event, in those with entries, and in those without."""
        found, at = np.unique(letters[cells], return_inverse=True)
        sums = np.zeros((len(found), len(self.columns)), object)
        np.add.at(sums, at, self.columns[:, cells].T)
        named, other = (tuple(sums[weights.named[found] == has].sum(axis=0).tolist()) for has in (True, False))
        return dict(zip(found.tolist(), map(tuple, sums.tolist()), strict=True)), named, other


def _over_background(
    entries: list[tuple[int, int]], shared: int, alone: int, by_letter: dict[int, Amount], named: Amount, other: Amount
) -> Part:
    """What lies in an event, by weight: letters with an entry for this output, with entries for others only, and with none."""
    part: Part = {}
    for letter, weight in entries:
        if letter in by_letter:
            named = _minus(named, by_letter[letter])
            _add(part, shared + weight, by_letter[letter])
    _add(part, shared, named)
    _add(part, alone, other)
    return dict(sorted(part.items()))


def _add(part: Part, weight: int, amount: Amount) -> None:
    if amount[0]:
        part[weight] = tuple(u + v for u, v in zip(part[weight], amount, strict=True)) if weight in part else amount


def groups(pair: Pair, parts: Sequence[Part], rest: Amount) -> list[Group]:
    """The cells of a condition, grouped; `rest` is what lies in neither event."""
    a, b = parts[pair.a], parts[pair.b]
    if pair.inside:
        found = [Group(w, True, True, m) for w, m in a.items()]
        found += [Group(w, False, True, m) for w, m in _without(b, a).items()]
    elif pair.around:
        found = [Group(w, True, True, m) for w, m in b.items()]
        found += [Group(w, True, False, m) for w, m in _without(a, b).items()]
    else:
        found = [Group(w, True, False, m) for w, m in a.items()]
        found += [Group(w, False, True, m) for w, m in b.items()]
    return found + ([Group(0, False, False, rest)] if rest[0] else [])


def _without(whole: Part, part: Part) -> Part:
    rest = {w: _minus(m, part[w]) if w in part else m for w, m in whole.items()}
    return {w: m for w, m in rest.items() if m[0]}


def _minus(amount: Amount, other: Amount) -> Amount:
    return tuple(v - part for v, part in zip(amount, other, strict=True))


def check_seen(found: Events, parts: list[list[Part]], joint: Joint, spec: Spec) -> None:
    """Of a distribution given what never occurred nothing is known, which is harmless only where every row is constant."""
    for e in {e for pair in found.pairs for e in (pair.a, pair.b)}:
        cells = found.cells[e]
        if any(len(row[e]) > 1 for row in parts) and not sum(m[1] for m in parts[0][e].values()):
            raise RequestError(
                f"{_named(int(cells[0]), joint, spec)} never occurred in the counts (or not with some values of the others): "
                "every distribution given it is possible, and no promise over a set of distributions is of use. Leave it out "
                "of the schema, or merge it with another value"
            )


def _named(cell: int, joint: Joint, spec: Spec) -> str:
    attributes = joint.secret if spec.protect == "s" else joint.release
    place = divmod(cell, joint.exact.shape[1])[0 if spec.protect == "s" else 1]
    codes = np.unravel_index(place, [len(a) for a in attributes])
    return " and ".join(f"{a.name} = {a.labels[int(k)]!r}" for a, k in zip(attributes, codes, strict=True))
