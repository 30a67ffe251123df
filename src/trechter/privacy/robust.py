"""Robust: a notion that holds for every distribution in an uncertainty set F around the counts.

Every notion bounds ratios P(y|A) / P(y|B) of two events about (S, X); here the bound is for all P ∈ F. The condition on a row
w, `max_{P∈F} P(w|A) − e^ε P(w|B) ≤ 0`, is convex and homogeneous: a cone again, though not a polyhedron. It lies within the
cone at P̂, and each P ∈ F cuts it off from outside by one linear condition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trechter.errors import RequestError, expect
from trechter.model.joint import Joint
from trechter.model.letters import Letters, letters, values_of
from trechter.model.protocol import Protocol, check_pair
from trechter.privacy.notion import Conditions, Notion, PlainNotion
from trechter.sets import Around, Events, UncertaintySet, Worst

Array = NDArray[np.float64]
CLOSE = 1e-12  # of a level, where the search for the worst ends
MOST = 300  # of ε in floats: beyond that squares and roots overflow, and nothing changes
ROUNDS = 60
AT_ONCE = 4_000_000  # numbers held for one batch of rows


@dataclass(frozen=True, init=False, repr=False)
class Robust(Notion):
    """A notion for every P in F."""

    notion: PlainNotion
    set: UncertaintySet

    def __init__(self, notion: PlainNotion, *, over: UncertaintySet) -> None:
        expect(notion, PlainNotion, 'tr.LDP("0.5")')
        expect(over, UncertaintySet, "tr.ChiSquare(alpha=0.05)")
        object.__setattr__(self, "notion", notion)
        object.__setattr__(self, "set", over)
        object.__setattr__(self, "spec", replace(notion.spec, over=over.over))

    def conditions(self, letters: Letters) -> Conditions:
        """Those at P̂, which is in F: the cone lies within theirs."""
        return self.notion.conditions(letters)

    def at(self, eps: Any) -> Self:
        """The same notion at another level, over the same set."""
        return type(self)(self.notion.at(eps), over=self.set)

    def level(self, protocol: Protocol, joint: Joint) -> float:
        """The worst level found over F; `certify` proves that there is no worse."""
        check_pair(protocol, joint)
        return self.among(joint, protocol.reads).level(protocol.matrix)

    def radius(self, joint: Joint) -> float:
        """How far P may be from the counts; a box is as wide as its widest interval."""
        around = self.set.around(joint)
        return around.radius or float(np.max(around.box[1] - around.box[0], initial=0))

    def among(self, joint: Joint, reads: str) -> Among:
        """The conditions on rows over letters, for the set around these counts."""
        cells = replace(letters(joint, "sx"), secret=np.repeat(np.eye(joint.shape[0]), len(joint.p_x), axis=1), reads=reads)
        F, G = self.notion.conditions(cells)
        events = Events(F > 0, G > 0)
        around = self.set.around(joint)
        self._check(events, around, joint)
        letter = cells.x_of if reads == "x" else np.arange(len(cells.x_of))
        return Among(around, events, letter, math.exp(min(self.spec.exponent, MOST)))

    def _check(self, events: Events, around: Around, joint: Joint) -> None:
        for event in (*events.over, *events.under):
            if not around.p[event].any():
                s, x = divmod(int(np.argmax(event)), len(joint.p_x))
                attributes, k = (joint.secret, s) if self.spec.protect == "s" else (joint.release, x)
                name, value = " × ".join(a.name for a in attributes), values_of(attributes)[k]
                raise RequestError(
                    f"{name} = {value!r} never occurs, so any distribution given it is possible and nothing about it can be "
                    "promised robustly; leave it out of the schema, merge it with another value, or promise the plain notion"
                )


@dataclass(frozen=True, eq=False)
class Among:
    """The robust cone over letters: what rows violate, and by how much."""

    around: Around
    events: Events
    letter: NDArray[np.intp]  # of each cell
    factor: float  # e^ε

    @cached_property
    def letters(self) -> int:
        """How many there are."""
        return int(self.letter.max()) + 1

    def worst(self, rows: Array, factor: float | None = None) -> Worst:
        """The worst P for each row and condition."""
        return self.around.worst(self.events, rows[:, self.letter], self.factor if factor is None else factor)

    def excess(self, rows: Array, factor: float | None = None) -> Array:
        """max over F and all conditions of P(w|A) − factor·P(w|B), for each row; 0 is inside."""
        parts = [self.worst(part, factor).excess.max(axis=1, initial=0) for part in self._batches(rows)]
        return np.concatenate(parts)

    def cuts(self, rows: Array, least: float) -> tuple[NDArray[np.intp], Array, Array]:
        """Conditions c·w ≤ 0 that hold on the whole cone and that rows violate by more than `least`: of which row, and c; and
        the largest violation of each row."""
        whose, found, most = [np.empty(0, np.intp)], [np.empty((0, self.letters))], [np.empty(0)]
        for part in self._batches(rows):
            worst = self.worst(part)
            row, condition = np.nonzero(worst.excess > least)
            whose.append(sum(map(len, most)) + row)
            found.append(self._conditions(worst, row, condition))
            most.append(worst.excess.max(axis=1, initial=0))
        return np.concatenate(whose), np.vstack(found), np.concatenate(most)

    def level(self, rows: Array) -> float:
        """ln of the largest ratio P(w|A) / P(w|B) found; each round asks for what is worse than the last."""
        factor = 1.0
        for _ in range(ROUNDS):
            larger = max(self._ratio(part, factor) for part in self._batches(rows))
            if larger <= factor * (1 + CLOSE):
                break
            factor = larger
            if factor == math.inf:
                break
        return math.log(factor)

    def _ratio(self, rows: Array, factor: float) -> float:
        worst, w = self.worst(rows, factor), rows[:, self.letter]
        over = (worst.over * w[:, self.events.cells_over[0]]).sum(axis=2)
        under = (worst.under * w[:, self.events.cells_under[0]]).sum(axis=2)
        with np.errstate(all="ignore"):
            ratio = np.where(over > 0, over / under, 1.0)
        return float(ratio.max(initial=1.0))

    def _conditions(self, worst: Worst, row: NDArray[np.intp], condition: NDArray[np.intp]) -> Array:
        """P(·|A) − e^ε P(·|B) as conditions on letters."""
        c = np.zeros((len(row), self.letters))
        k = np.arange(len(row))[:, None]
        for part, cells, weight in (
            (worst.over, self.events.cells_over, 1.0),
            (worst.under, self.events.cells_under, -self.factor),
        ):
            index, real = (table[condition] for table in cells)
            np.add.at(c, (k, self.letter[index]), np.where(real, weight * part[row, condition], 0))
        return c

    def _batches(self, rows: Array) -> list[Array]:
        size = max(1, AT_ONCE // max(1, len(self.events) * self.events.over.shape[1]))
        return [rows[i : i + size] for i in range(0, len(rows), size)]
