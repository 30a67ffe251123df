"""Where column generation starts: the corner of every letter, and columns that say something of every letter.

As long as only the constant row makes Σ θ r = 1 the duals mean nothing. So the letters themselves are let in as columns,
private or not, each at the price of `cost`; climbing under such duals finds columns that replace them, at once or at a
higher cost.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trechter.geometry.cone import Array
from trechter.optimal.ascent import Vertex, climb, vertex_at
from trechter.optimal.master import Master, Weights
from trechter.optimal.pool import Pool
from trechter.optimal.relaxation import Relaxations

RAISES = 6  # of the cost, each four times the last
ROUNDS = 60


def corners(relaxations: Relaxations) -> tuple[list[Vertex], Array, Array]:
    """Vertices at the extremes of every coordinate, and safe bounds on all of them."""
    space = relaxations.space
    unit, zero = np.eye(space.size), np.zeros((space.size, space.size))
    ends, found = [], []
    for sign in (-1.0, 1.0):
        answer = relaxations.solve(sign * unit, zero, zero + 1, [None] * space.size)
        reduced = space.reduced(sign * unit, answer.multipliers)
        ends.append(sign * space.most(reduced, answer.multipliers, zero, zero + 1))
        found += [vertex_at(space, point[: space.letters]) for point in answer.points if not np.isnan(point[0])]
    vertices = dict.fromkeys(vertex for vertex in found if vertex is not None)
    return list(vertices), np.clip(ends[0], 0, 1), np.clip(ends[1], 0, 1)


def loosened(pool: Pool, late: Callable[[], bool]) -> None:
    """Add columns until the letters themselves are not worth their cost, or the time is up."""
    space, masses = pool.space, pool.space.masses
    each = space.worth(space.points(np.eye(space.letters)))
    cost = float(masses @ np.abs(each - space.worth(space.points(masses[None])))) + 1e-3
    for _ in range(RAISES):
        if late() or _without(pool, each - cost, late):
            return
        cost *= 4


def _without(pool: Pool, values: Array, late: Callable[[], bool]) -> bool:
    """Climb with the letters at these values; whether the best protocol does without them."""
    master, n = Master(pool.space.masses), pool.space.letters
    master.add(np.diag(1 / pool.space.masses), values)
    for _ in range(ROUNDS):
        fresh = slice(len(master) - n, None)
        if len(pool) > len(master) - n:
            master.add(pool.master.rows[fresh], pool.master.values[fresh])
        weights = master.solve()
        used = pool.used(Weights(weights.theta[n:], weights.duals, weights.value))
        found = climb(pool.space, used, pool.space.prices(weights.duals), 1e-6, late, each=1).found
        best = sorted(found, key=lambda vertex: -found[vertex])[:n]
        if late() or not pool.add(best):
            break
    return float(weights.theta[:n].sum()) == 0
