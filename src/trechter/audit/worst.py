"""Where the worst case of a matrix is: which output says most, about which protected value, and what is known beside it.

The level itself is `certify`'s; here the same definitions are asked row by row, so that the place can be named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from trechter.audit.certify import counted
from trechter.audit.definitions import DEFINITIONS, slices
from trechter.exact import product
from trechter.exact.matrices import Integers
from trechter.model.joint import Joint
from trechter.model.spec import Spec


@dataclass(frozen=True)
class Worst:
    """e^level (None is ∞), the output, the protected value (for LDP: the likelier, then the less likely one), and which
    attributes are known to have which value; no output where nothing is said at all."""

    ratio: Fraction | None
    output: int | None = None
    who: tuple[int, ...] = ()
    known: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Movement:
    """A protected value's probability before, and the least and the most that an output leads to, with that output."""

    prior: Fraction
    least: Fraction
    least_at: int
    most: Fraction
    most_at: int


def worst_case(weights: Integers, reads: str, joint: Joint, spec: Spec) -> Worst:
    """The largest ratio that the notion bounds by e^ε, and where it is."""
    counts, attributes = counted(reads, joint, spec)
    definition, side_channels = DEFINITIONS[spec.name]
    every, worst = range(counts.shape[1]), Worst(Fraction(1))
    for chosen in slices(attributes, reads) if side_channels else [list(every)]:
        part = counts[:, chosen]
        sums = part.sum(axis=1).tolist()
        for y, row in enumerate(product(weights[:, chosen], part.T).tolist()):
            for over, under in definition([row], sums):
                if under == 0 or over * _finite(worst).denominator > under * _finite(worst).numerator:
                    ratio = Fraction(over, under) if under else None
                    worst = Worst(ratio, y, _who(spec.name, row, sums), agreed(attributes, chosen))
                if under == 0:
                    return worst
    return worst


def _finite(worst: Worst) -> Fraction:
    """Its ratio, where it is finite."""
    assert worst.ratio is not None
    return worst.ratio


def movements(weights: Integers, reads: str, joint: Joint) -> list[Movement | None]:
    """For each secret value how far one output can move its probability; None for one that never occurs."""
    counts, _ = counted(reads, joint, Spec("lip", None))
    drawn = product(weights, counts.T)
    totals, whole = drawn.sum(axis=1).tolist(), int(counts.sum())
    found: list[Movement | None] = []
    for s, size in enumerate(counts.sum(axis=1).tolist()):
        after = {y: Fraction(int(drawn[y, s]), total) for y, total in enumerate(totals) if total}
        least, most = min(after, key=after.__getitem__), max(after, key=after.__getitem__)
        found.append(Movement(Fraction(size, whole), after[least], least, after[most], most) if size else None)
    return found


def _who(name: str, row: Sequence[int], sums: Sequence[int]) -> tuple[int, ...]:
    given = {s: Fraction(part, size) for s, (part, size) in enumerate(zip(row, sums, strict=True)) if size}
    low, high = min(given, key=given.__getitem__), max(given, key=given.__getitem__)
    if name.endswith("ldp"):
        return high, low
    whole = Fraction(sum(row), sum(sums))
    return (low,) if given[low] == 0 or whole / given[low] > given[high] / whole else (high,)


def agreed(attributes: Sequence[Sequence[int]], chosen: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The attributes in which the letters agree although not all letters do."""
    values: list[Any] = [{axis[i] for i in chosen} for axis in attributes]
    return tuple((j, min(v)) for j, v in enumerate(values) if len(v) == 1 and len(set(attributes[j])) > 1)
