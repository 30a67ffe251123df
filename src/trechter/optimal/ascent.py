"""Local search for columns: from vertices of the polytope to adjacent ones that are worth more.

A vertex is a support J of k letters and k−1 tight conditions I: B_IJ v_J = 0, Σ v_J = 1. Letting one more letter in, or
loosening one tight condition, moves v along a ray until a letter of J runs out or another condition becomes tight;
all these neighbours are evaluated at once. Pricing needs a true maximum only at the end, so this finds most columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.errors import SolverError
from trechter.geometry.cone import Array
from trechter.optimal.polytope import Polytope

PIVOT = 1e-9  # a direction that moves a letter or condition by less leaves it where it is
TIGHT = 1e-9  # a condition with less to spare is tight, a letter with less is out
RISE = 1e-9  # a step that gains less is not worth taking
ROUNDS = 20
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Vertex:
    """A support and as many tight conditions less one."""

    support: tuple[int, ...]
    tight: tuple[int, ...]

    def posterior(self, space: Polytope) -> Array:
        """The posterior, solved from the support and the tight conditions."""
        J, v = list(self.support), np.zeros(space.letters)
        target = np.append(np.zeros(len(self.tight)), 1.0)
        base = np.vstack([space.conditions[list(self.tight)][:, J], np.ones(len(J))])
        v[J] = _solve(base, target)
        v[J] += _solve(base, target - base @ v[J])
        return v


def vertex_at(space: Polytope, posterior: Array) -> Vertex | None:
    """The vertex at a posterior, or None if it is none."""
    J = np.flatnonzero(posterior > TIGHT)
    tight = np.flatnonzero(space.conditions @ posterior > -TIGHT)
    chosen = _independent(space.conditions[tight][:, J])
    return None if chosen is None else Vertex(tuple(J.tolist()), tuple(tight[chosen].tolist()))


def _independent(rows: Array) -> Index | None:
    """Which rows, with the row of ones, make a regular matrix; None if no choice does."""
    k = rows.shape[1]
    left = rows - rows.mean(axis=1, keepdims=True)
    chosen: list[int] = []
    while len(chosen) < k - 1:
        sizes = (left * left).sum(axis=1)
        best = int(np.argmax(sizes)) if len(sizes) else -1
        if best < 0 or sizes[best] < TIGHT**2:
            return None
        unit = left[best] / np.sqrt(sizes[best])
        left = left - np.outer(left @ unit, unit)
        chosen.append(best)
    return np.array(chosen, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The vertices next to one, each by what enters and what leaves, and what they are worth."""

    vertex: Vertex
    entering: Index  # letters not in the support, then the tight conditions
    leaving: Index  # positions in the support, then in the loose conditions
    letters: int  # how many of the entering are letters
    loose: Index
    values: Array

    def __getitem__(self, k: int) -> Vertex:
        support, tight = set(self.vertex.support), set(self.vertex.tight)
        if k < self.letters:
            support.add(int(self.entering[k]))
        else:
            tight.discard(int(self.entering[k]))
        leaver = int(self.leaving[k])
        if leaver < len(self.vertex.support):
            support.discard(self.vertex.support[leaver])
        else:
            tight.add(int(self.loose[leaver - len(self.vertex.support)]))
        return Vertex(tuple(sorted(support)), tuple(sorted(tight)))


def neighbours(space: Polytope, vertex: Vertex, prices: Array) -> tuple[float, Neighbours]:
    """What a vertex is worth above its price, and the same for all adjacent ones."""
    J, I, B = list(vertex.support), list(vertex.tight), space.conditions
    out, loose = np.delete(np.arange(space.letters), J), np.delete(np.arange(len(B)), I)
    base = np.vstack([B[I][:, J], np.ones(len(J))])
    letters = np.vstack([B[I][:, out], np.ones(len(out))])
    conditions = np.vstack([np.eye(len(I)), np.zeros(len(I))])
    solved = _solve(base, np.hstack([letters, conditions, np.append(np.zeros(len(I)), 1.0)[:, None]]))
    v, moves = np.maximum(solved[:, -1], 0), solved[:, :-1]
    spare = np.maximum(-(B[loose][:, J] @ v), 0)
    drift = -(B[loose][:, J] @ moves)
    drift[:, : len(out)] += B[loose][:, out]
    falls, have = np.vstack([moves, drift]), np.append(v, spare)[:, None]
    reach = np.divide(have, falls, out=np.full_like(falls, np.inf), where=falls > PIVOT)
    leaving = reach.argmin(axis=0)
    step = reach[leaving, np.arange(len(leaving))]
    step = np.where(np.isfinite(step), step, 0)
    value, values = _values(space, prices, J, out, v, np.maximum(v[:, None] - step * moves, 0), step[: len(out)])
    values[step <= 0] = -np.inf
    return value, Neighbours(vertex, np.append(out, I).astype(np.intp), leaving, len(out), loose, values)


def _solve(base: Array, target: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(base, target), float)
    except np.linalg.LinAlgError:
        raise SolverError(f"a vertex with support of {len(base)} letters is degenerate") from None


def _values(
    space: Polytope, prices: Array, J: list[int], out: Index, v: Array, moved: Array, entered: Array
) -> tuple[float, Array]:
    """The worth of a vertex and of its neighbours: v_J, and the letter that enters."""
    none = space.curve.value(np.zeros(len(space.prior)), space.prior)
    costs = prices[J] @ moved
    costs[: len(out)] += prices[out] * entered
    if space.links is None:
        own = space.prior[J]
        values = none.sum() - none[J].sum() + space.curve.value(moved.T, own).sum(axis=1)
        values[: len(out)] += space.curve.value(entered, space.prior[out]) - none[out]
        value = none.sum() - none[J].sum() + space.curve.value(v, own).sum()
    else:
        z = space.links[:, J] @ moved
        z[:, : len(out)] += space.links[:, out] * entered
        values = space.curve.value(z.T, space.prior).sum(axis=1)
        value = space.curve.value(space.links[:, J] @ v, space.prior).sum()
    return float(value - prices[J] @ v), np.asarray(values - costs)


@dataclass(frozen=True, eq=False)
class Climb:
    """The vertices worth more than asked that were seen on the way, and those where it ended."""

    found: dict[Vertex, float]
    stops: list[Vertex]


def climb(
    space: Polytope, starts: Iterable[Vertex], prices: Array, enough: float, late: Callable[[], bool], each: int = 3
) -> Climb:
    """Ascend from each start by best neighbours; the best `each` around every vertex on the way are found as well.

    It ends early when it is `late`, which is asked at every vertex: with many letters and conditions each takes long.
    """
    found: dict[Vertex, float] = {}
    seen: set[Vertex] = set()
    stops: list[Vertex] = []
    current = dict.fromkeys(starts)
    for _ in range(ROUNDS):
        seen.update(current)
        following: dict[Vertex, None] = {}
        for vertex in current:
            if late():
                return Climb(found, stops)
            try:
                value, around = neighbours(space, vertex, prices)
            except SolverError:
                continue
            if value > enough:
                found[vertex] = value
            best = np.argsort(-around.values)[:each]
            found |= {around[k]: float(around.values[k]) for k in best if around.values[k] > enough}
            if len(best) and around.values[best[0]] > value + RISE:
                following[around[best[0]]] = None
            else:
                stops.append(vertex)
        current = {vertex: None for vertex in following if vertex not in seen}
        if not current:
            break
    return Climb(found, stops)
