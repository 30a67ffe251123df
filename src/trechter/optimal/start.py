"""Where column generation starts: the corner of every letter, and columns that say something of every letter.

As long as only the constant row makes Σ θ r = 1 the duals mean nothing. So the letters themselves are let in as columns,
private or not, each at the price of `cost`; climbing under such duals finds columns that replace them, at once or at a
higher cost.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from trechter.errors import SolverError
from trechter.geometry.cone import Array
from trechter.optimal.ascent import Vertex, climb, vertex_at
from trechter.optimal.master import Master, Weights
from trechter.optimal.polytope import Polytope
from trechter.optimal.pool import Pool
from trechter.optimal.relaxation import Relaxations

RAISES = 6  # of the cost, each four times the last
ROUNDS = 60
MANY = 500  # letters from which muffled ones are too large to begin with
FAINT = 1e-3  # what says so little is the constant row to an LP solver
BATCH = 64  # coordinates whose extremes are found at a time


def muffled(space: Polytope) -> Array:
    """The posterior of every letter mixed with the constant row as little as makes it private: what to fall back on."""
    over = np.maximum(space.conditions, 0)
    needed = np.divide(over, over - (space.conditions @ space.masses)[:, None], out=np.zeros_like(over), where=over > 0)
    share = needed.max(axis=0, initial=0)
    mixed = np.diag(1 - share) + share[:, None] * space.masses
    return np.asarray(mixed[share < 1 - FAINT])


def corners(relaxations: Relaxations, late: Callable[[], bool] = lambda: False) -> tuple[list[Vertex], Array, Array]:
    """Vertices at the extremes of every coordinate, and safe bounds on all of them: 0 and 1 where there was no time."""
    space, vertices = relaxations.space, dict[Vertex, None]()
    ends = {-1.0: np.zeros(space.size), 1.0: np.ones(space.size)}
    for sign, end in ends.items():
        for first in range(0, space.size, BATCH):
            if late():
                break
            part = slice(first, first + BATCH)
            costs = sign * np.eye(space.size)[part]
            zero, one = np.zeros_like(costs), np.ones_like(costs)
            answer = relaxations.solve(costs, zero, one, [None] * len(costs))
            most = space.most(space.reduced(costs, answer.multipliers), answer.multipliers, zero, one)
            end[part] = np.clip(sign * most, 0, 1)
            found = [vertex_at(space, x[: space.letters]) for x in answer.points if not np.isnan(x[0])]
            vertices |= dict.fromkeys(vertex for vertex in found if vertex is not None)
    return list(vertices), ends[-1.0], ends[1.0]


def loosened(pool: Pool, late: Callable[[], bool]) -> None:
    """Add columns until the letters themselves are not worth their cost, or the time is up."""
    space, masses = pool.space, pool.space.masses
    each = space.worth(space.points(np.eye(space.letters)))
    cost = float(masses @ np.abs(each - space.worth(space.points(masses[None])))) + 1e-3
    for _ in range(RAISES):
        try:
            if late() or _without(pool, each - cost, late):
                return
        except SolverError:  # it is but a start: columns are generated from what was found
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
