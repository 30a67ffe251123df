"""The conditions of a promise on the rows of one protocol: each exactly, and many of them in floats to search with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from trechter.audit.apart import Sides
from trechter.audit.events import Amounts, Group
from trechter.audit.worlds import Array, Cells


@dataclass(frozen=True)
class Condition:
    """The cells of one condition, grouped; `shift` makes weights at most 1."""

    found: list[Group]
    shift: int

    @classmethod
    def of(cls, found: list[Group]) -> Condition:
        """Weights are scaled by a power of two."""
        return cls(found, max(g.weight for g in found).bit_length())

    @property
    def settled(self) -> Fraction | None:
        """The ratio, where it is the same for all distributions: rows that are constant on A and on B."""
        a, b = {g.weight for g in self.found if g.in_a}, {g.weight for g in self.found if g.in_b}
        if a == {0}:
            return Fraction(0)
        if len(a) > 1 or len(b) > 1 or b == {0}:
            return None
        return Fraction(max(a), max(b))

    @property
    def exact(self) -> tuple[list[int], list[int], list[int]]:
        """Counts and bounds of the groups."""
        sides = [[g.amount[k] if k < len(g.amount) else 0 for g in self.found] for k in (1, 2, 3)]
        return sides[0], sides[1], sides[2]


class Batch:
    """Many conditions in floats, as rows of equal length; groups of no mass fill them up."""

    def __init__(self, conditions: Sequence[Condition], amounts: Amounts) -> None:
        wide = max(len(c.found) for c in conditions)
        rows = [[*c.found, *[c.found[0]] * (wide - len(c.found))] for c in conditions]
        real = np.arange(wide) < np.array([len(c.found) for c in conditions])[:, None]
        self.weight = np.array([[g.weight / (1 << c.shift) for g in row] for c, row in zip(conditions, rows, strict=True)])
        self.a = np.array([[g.in_a for g in row] for row in rows])
        self.b = np.array([[g.in_b for g in row] for row in rows])
        sides = [c.exact for c in conditions]
        units = (amounts.all[1], amounts.whole, amounts.whole)
        filled = [np.zeros(real.shape) for _ in units]
        for side, unit, into in zip(zip(*sides, strict=True), units, filled, strict=True):
            into[real] = [n / unit for row in side for n in row]
        self.cells = Cells(*filled)
        self.scale_a = 1 / np.maximum((self.cells.shares * self.a).sum(1), 1e-12)
        self.scale_b = 1 / np.maximum((self.cells.shares * self.b).sum(1), 1e-12)
        self.most = np.where(self.a, self.weight, 0).max(1)
        self.least = np.where(self.b, self.weight, np.inf).min(1)

    def ratio(self, p: Array, rows: Any = slice(None)) -> Array:
        """(P_A·w / P_A) / (P_B·w / P_B); 0 where nothing is asked."""
        weight, a, b = self.weight[rows], self.a[rows], self.b[rows]
        over, under = (p * weight * a).sum(1) * (p * b).sum(1), (p * weight * b).sum(1) * (p * a).sum(1)
        return np.asarray(np.divide(over, under, out=np.where(over > 0, np.inf, 0.0), where=under > 0))

    def sides(self, rows: Any, t: Array, bound: float) -> tuple[Array, Array]:
        """The values whose sums are both above 0 where the condition is broken."""
        weight, at = self.weight[rows], t[:, None]
        over = self.scale_a[rows][:, None] * np.where(self.a[rows], weight - at, 0)
        under = self.scale_b[rows][:, None] * np.where(self.b[rows], at - bound * weight, 0)
        return over, under

    def gradient(self, p: Array, rows: Any, bound: float) -> tuple[Array, list[tuple[Array, Array]]]:
        """The derivative of P(y|A) − E P(y|B) by P; and P(A), P(y|A), P(B), P(y|B)."""
        values, sums, weight = np.zeros_like(p), [], self.weight[rows]
        for side, factor in ((self.a[rows], 1.0), (self.b[rows], -bound)):
            mass, drawn = (p * side).sum(1), (p * weight * side).sum(1)
            given = np.divide(drawn, mass, out=np.zeros_like(mass), where=mass > 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                values += np.where(side & (mass > 0)[:, None], factor * (weight - given[:, None]) / mass[:, None], 0)
            sums.append((mass, given))
        return values, sums

    def shares(self, rows: Any) -> Sides:
        """What was counted in A and in B."""
        shares = self.cells.shares[rows]
        return Sides(self.weight[rows], shares * self.a[rows], shares * self.b[rows])
