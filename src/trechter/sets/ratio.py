"""The worst of P(w|A) against P(w|B) over any F, from its support function alone.

`P(w|A) > t > factor·P(w|B)` for some t if and only if `P·a > 0` and `P·b > 0` with a = (w − t) on A and b = (t/factor − w) on B.
For one t that is a convex question: max_P min(P·a, P·b) = min_λ δ*(λa + (1−λ)b), found by bisection over λ. Levels t are tried
on a grid that closes in on the best. This is a search: what it returns is a member of F; that there is no worse, the judge says.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from trechter.sets.events import Events, Worst

Array = NDArray[np.float64]
Support = Callable[[Array], Array]

GRID = 12  # levels tried at once
ROUNDS = 4  # each closes in on the best level so far
HALVINGS = 40


def worst_by_levels(support: Support, p: Array, events: Events, rows: Array, factor: float) -> Worst:
    """For each row and pair of events the P found with the largest P(w|A) − factor·P(w|B)."""
    b, m, k = len(rows), len(events), len(p)
    w = np.repeat(rows, m, axis=0)
    A, B = np.tile(events.over, (b, 1)), np.tile(events.under, (b, 1))
    best = np.tile(p, (b * m, 1))
    most = excess_of(best, A, B, w, factor)
    low = np.maximum(np.where(A, w, np.inf).min(axis=1), factor * np.where(B, w, np.inf).min(axis=1))
    high = np.minimum(np.where(A, w, -np.inf).max(axis=1), factor * np.where(B, w, -np.inf).max(axis=1))
    open_ = np.flatnonzero(high > low)
    low, high = low[open_], high[open_]
    for _ in range(ROUNDS if len(open_) else 0):
        shares = (np.arange(GRID) + 0.5) / GRID
        levels = low[:, None] + (high - low)[:, None] * shares
        who = np.repeat(open_, GRID)
        found = _at_level(support, A[who], B[who], w[who], levels.ravel(), factor)
        excess = excess_of(found, A[who], B[who], w[who], factor).reshape(-1, GRID)
        pick = excess.argmax(axis=1)
        value = excess[np.arange(len(open_)), pick]
        better = value > most[open_]
        best[open_[better]] = found.reshape(-1, GRID, k)[better, pick[better]]
        most[open_[better]] = value[better]
        step = (high - low) / GRID
        centre = levels[np.arange(len(open_)), pick]
        low, high = np.maximum(low, centre - 1.5 * step), np.minimum(high, centre + 1.5 * step)
    over, under = (conditional(best, mask, cells) for mask, cells in ((A, events.cells_over), (B, events.cells_under)))
    return Worst(over.reshape(b, m, -1), under.reshape(b, m, -1), most.reshape(b, m))


def excess_of(P: Array, A: NDArray[np.bool_], B: NDArray[np.bool_], w: Array, factor: float) -> Array:
    """P(w|A) − factor·P(w|B); events of probability 0 ask for nothing."""
    a, b = (P * A).sum(axis=1), (P * B).sum(axis=1)
    sure = (a > 0) & (b > 0)
    ratio = (P * A * w).sum(axis=1) / np.where(sure, a, 1) - factor * (P * B * w).sum(axis=1) / np.where(sure, b, 1)
    return np.where(sure, ratio, -np.inf)


def conditional(P: Array, mask: NDArray[np.bool_], cells: tuple[NDArray[np.intp], NDArray[np.bool_]]) -> Array:
    """P(·|event), on the listed cells of each event in turn."""
    times = len(P) // len(cells[0])
    index, real = np.tile(cells[0], (times, 1)), np.tile(cells[1], (times, 1))
    inside = np.where(real, np.take_along_axis(P, index, axis=1), 0)
    return np.asarray(inside / (P * mask).sum(axis=1)[:, None])


def _at_level(support: Support, A: NDArray[np.bool_], B: NDArray[np.bool_], w: Array, t: Array, factor: float) -> Array:
    """A P with the largest min(P·a, P·b): the mixture of the worst for λ just above and just below the best."""
    a, b = np.where(A, w - t[:, None], 0), np.where(B, t[:, None] / factor - w, 0)
    a /= np.maximum(np.abs(a).max(axis=1, keepdims=True), 1e-300)
    b /= np.maximum(np.abs(b).max(axis=1, keepdims=True), 1e-300)
    low, high = np.zeros(len(t)), np.ones(len(t))
    more_a, more_b = support(a), support(b)  # where a counts most, and where b does
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        P = support(middle[:, None] * a + (1 - middle)[:, None] * b)
        too_much = (P * (a - b)).sum(axis=1) > 0  # a is favoured: λ is above the best
        more_a, more_b = np.where(too_much[:, None], P, more_a), np.where(too_much[:, None], more_b, P)
        low, high = np.where(too_much, low, middle), np.where(too_much, middle, high)
    d, e = (more_a * (a - b)).sum(axis=1), (more_b * (a - b)).sum(axis=1)
    share = np.divide(-e, d - e, out=np.full(len(t), 0.5), where=d - e > 1e-15)
    share = np.clip(share, 0, 1)[:, None]
    return np.asarray(share * more_a + (1 - share) * more_b)
