"""The worst of P(w|A) against P(w|B) over any F, from its support function alone.

`P(w|A) > t > E·P(w|B)` for some t if and only if `P·a > 0` and `P·b > 0` with a = (w − t) on A and b = (t/E − w) on B. For one
t that is a convex question: max_P min(P·a, P·b) = min_λ δ*(λa + (1−λ)b), by bisection over λ. A few levels t are tried, and
from the best the search climbs: the worst P for the slope of P(w|A) − E·P(w|B) is where to go. This is a search: what it
returns is a member of F; that there is no worse is for the judge to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.sets.events import Events, Mask, Worst

Array = NDArray[np.float64]
Support = Callable[[Array], Array]

CLIMBS = 100
STRIDES = (1.0, 0.5, 0.2, 0.05)  # towards what the slope asks for
HARDLY = 1e-14


@dataclass(frozen=True)
class Search:
    """How closely levels and λ are looked for before climbing."""

    levels: int
    rounds: int  # each closes in on the best level so far
    halvings: int  # of λ


SMOOTH = Search(levels=8, rounds=1, halvings=8)  # climbing does the rest
FLAT = Search(levels=12, rounds=9, halvings=40)  # a set with faces: climbing may stop at an edge


def worst_by_levels(support: Support, p: Array, events: Events, rows: Array, factor: float, search: Search = SMOOTH) -> Worst:
    """For each row and pair of events the P found with the largest P(w|A) − factor·P(w|B)."""
    b, m = len(rows), len(events)
    asked = Questions(np.tile(events.over, (b, 1)), np.tile(events.under, (b, 1)), np.repeat(rows, m, axis=0), factor)
    best = _climbed(support, asked, _on_grid(support, asked, np.tile(p, (b * m, 1)), search))
    over = conditional(best, asked.A, events.cells_over)
    under = conditional(best, asked.B, events.cells_under)
    return Worst(over.reshape(b, m, -1), under.reshape(b, m, -1), asked.excess(best).reshape(b, m))


@dataclass(frozen=True, eq=False)
class Questions:
    """One row w and one pair of events each."""

    A: Mask
    B: Mask
    w: Array
    factor: float

    def some(self, which: NDArray[np.intp]) -> Questions:
        """Some of them, any number of times."""
        return Questions(self.A[which], self.B[which], self.w[which], self.factor)

    def excess(self, P: Array) -> Array:
        """P(w|A) − factor·P(w|B); events of probability 0 ask for nothing."""
        a, b = (P * self.A).sum(axis=1), (P * self.B).sum(axis=1)
        sure = (a > 0) & (b > 0)
        ratios = [(P * mask * self.w).sum(axis=1) / np.where(sure, of, 1) for mask, of in ((self.A, a), (self.B, b))]
        return np.where(sure, ratios[0] - self.factor * ratios[1], -np.inf)

    def slope(self, P: Array) -> Array:
        """How the excess changes with P."""
        parts = []
        for mask in (self.A, self.B):
            of = np.maximum((P * mask).sum(axis=1), 1e-300)[:, None]
            parts.append(mask * (self.w - (P * mask * self.w).sum(axis=1)[:, None] / of) / of)
        return np.asarray(parts[0] - self.factor * parts[1])

    def levels(self) -> tuple[Array, Array]:
        """Between these a level t may tell P(w|A) from factor·P(w|B)."""
        low_a, low_b = (np.where(mask, self.w, np.inf).min(axis=1) for mask in (self.A, self.B))
        high_a, high_b = (np.where(mask, self.w, -np.inf).max(axis=1) for mask in (self.A, self.B))
        return np.maximum(low_a, self.factor * low_b), np.minimum(high_a, self.factor * high_b)


def _on_grid(support: Support, asked: Questions, best: Array, search: Search) -> Array:
    """The best of what is found at several levels."""
    low, high = asked.levels()
    open_ = np.flatnonzero(high > low)
    low, high, here = low[open_], high[open_], asked.some(open_)
    shares, count = (np.arange(search.levels) + 0.5) / search.levels, np.arange(len(open_))
    for _ in range(search.rounds):
        levels = low[:, None] + (high - low)[:, None] * shares
        each = asked.some(np.repeat(open_, search.levels))
        found = _at_level(support, each, levels.ravel(), search.halvings)
        excess = each.excess(found).reshape(-1, search.levels)
        pick = excess.argmax(axis=1)
        better = excess[count, pick] > here.excess(best[open_])
        best[open_[better]] = found.reshape(len(open_), search.levels, best.shape[1])[better, pick[better]]
        step = 1.5 * (high - low) / search.levels
        low, high = np.maximum(low, levels[count, pick] - step), np.minimum(high, levels[count, pick] + step)
    return best


def _climbed(support: Support, asked: Questions, P: Array) -> Array:
    """Go towards the worst P in the direction of the slope, as long as that leads up."""
    excess = asked.excess(P)
    for _ in range(CLIMBS):
        aim, better = support(asked.slope(P)), np.zeros(len(P), bool)
        start = P
        for share in STRIDES:
            point = start + share * (aim - start)
            value = asked.excess(point)
            up = value > excess + HARDLY
            P, excess, better = np.where(up[:, None], point, P), np.where(up, value, excess), better | up
        if not np.any(better):
            break
    return P


def conditional(P: Array, mask: NDArray[np.bool_], cells: tuple[NDArray[np.intp], NDArray[np.bool_]]) -> Array:
    """P(·|event), on the listed cells of each event in turn."""
    times = len(P) // len(cells[0])
    index, real = np.tile(cells[0], (times, 1)), np.tile(cells[1], (times, 1))
    inside = np.where(real, np.take_along_axis(P, index, axis=1), 0)
    return np.asarray(inside / (P * mask).sum(axis=1)[:, None])


def _at_level(support: Support, asked: Questions, t: Array, halvings: int) -> Array:
    """A P with about the largest min(P·a, P·b): the mixture of the worst for λ just above and just below the best."""
    a, b = np.where(asked.A, asked.w - t[:, None], 0), np.where(asked.B, t[:, None] / asked.factor - asked.w, 0)
    a /= np.maximum(np.abs(a).max(axis=1, keepdims=True), 1e-300)
    b /= np.maximum(np.abs(b).max(axis=1, keepdims=True), 1e-300)
    low, high = np.zeros(len(t)), np.ones(len(t))
    more_a, more_b = support(a), support(b)  # where a counts most, and where b does
    for _ in range(halvings):
        middle = (low + high) / 2
        P = support(middle[:, None] * a + (1 - middle)[:, None] * b)
        too_much = (P * (a - b)).sum(axis=1) > 0  # a is favoured: λ is above the best
        more_a, more_b = np.where(too_much[:, None], P, more_a), np.where(too_much[:, None], more_b, P)
        low, high = np.where(too_much, low, middle), np.where(too_much, middle, high)
    d, e = (more_a * (a - b)).sum(axis=1), (more_b * (a - b)).sum(axis=1)
    share = np.clip(np.divide(-e, d - e, out=np.full(len(t), 0.5), where=d - e > 1e-15), 0, 1)[:, None]
    return np.asarray(share * more_a + (1 - share) * more_b)
