"""Plain column generation whose pricing is Falk and Soland's branch and bound, one linear program a node.

The master mixes posteriors v with Σ θ v = p_X; at its duals μ the most that a column can be worth is max g(v) − μ·v over the
posteriors that the notion allows, g(v) = Σ v ln(v/p). On a box g lies below its chords, which leaves an LP. Best bound
first, split at the LP's point where the chord errs most. Nothing else: no local search, no tightening of boxes, no
batches; the pricing stops as soon as its best point is worth half its bound.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from benchmarks.contenders import Answer, full
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import rel_entr

import trechter as tr

Array = NDArray[np.float64]
ADDED = 20  # columns that one pricing adds at most
LEAST = 1e-9  # a column worth less is none
SAME = 1e-9  # columns that differ by less are one


class Polytope:
    """Linear programs over {v ≥ 0, Σ v = 1, B v ≤ 0} and a box."""

    def __init__(self, B: Array) -> None:
        self.size, self.solved = B.shape[1], 0
        self.lp = highspy.Highs()
        self.lp.setOptionValue("output_flag", False)
        self.lp.setOptionValue("threads", 1)
        self.lp.addVars(self.size, np.zeros(self.size), np.ones(self.size))
        self.index = np.arange(self.size, dtype=np.int32)
        for row in B:
            self.lp.addRow(-highspy.kHighsInf, 0.0, self.size, self.index, row)
        self.lp.addRow(1.0, 1.0, self.size, self.index, np.ones(self.size))

    def best(self, costs: Array, lower: Array, upper: Array) -> Array | None:
        """The point of most costs·v in the box, or None if there is none."""
        self.solved += 1
        self.lp.changeColsCost(self.size, self.index, -costs)
        self.lp.changeColsBounds(self.size, self.index, lower, upper)
        self.lp.run()
        if self.lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return np.clip(np.array(self.lp.getSolution().col_value), lower, upper)


@dataclass(order=True, frozen=True)
class Node:
    """A box, its bound, and its LP's point."""

    minus_bound: float
    serial: int
    lower: Any
    upper: Any
    point: Any
    split: int


class Pricing:
    """One search: max g(v) − μ·v."""

    def __init__(self, space: Polytope, prior: Array, duals: Array, upper: Array) -> None:
        self.space, self.prior, self.duals = space, prior, duals
        self.heap: list[Node] = []
        self.points: list[tuple[float, bytes]] = []
        self.best = -np.inf
        self.push(np.zeros_like(upper), upper)

    @property
    def bound(self) -> float:
        """No column is worth more."""
        return max(self.best, -self.heap[0].minus_bound if self.heap else -np.inf)

    def push(self, lower: Array, upper: Array) -> None:
        """Bound a box by the LP over its chords."""
        g, width = rel_entr([lower, upper], self.prior), upper - lower
        slopes = np.divide(g[1] - g[0], width, out=np.zeros_like(width), where=width > 0)
        v = self.space.best(slopes - self.duals, lower, upper)
        if v is None:
            return
        errors = g[0] + slopes * (v - lower) - rel_entr(v, self.prior)
        value = float(rel_entr(v, self.prior).sum() - self.duals @ v)
        self.best = max(self.best, value)
        self.points.append((value, v.tobytes()))
        bound = value + float(errors.sum())
        heapq.heappush(self.heap, Node(-bound, self.space.solved, lower, upper, v, int(np.argmax(errors))))

    def run(self, cut: float, deadline: float) -> None:
        """Until the bound is below the cut, or the best point is worth half of it, or the time is up."""
        while self.heap and self.bound > cut and time.monotonic() < deadline:
            if self.best > max(self.bound / 2, cut):
                return
            node = heapq.heappop(self.heap)
            j, at = node.split, node.point[node.split]
            below, above = node.upper.copy(), node.lower.copy()
            below[j] = above[j] = at
            if node.lower[j] < at < node.upper[j]:
                self.push(node.lower, below)
                self.push(above, node.upper)

    def found(self) -> Array:
        """The best points that were met."""
        best = sorted(set(self.points), reverse=True)[:ADDED]
        return np.array([np.frombuffer(v) for value, v in best if value > LEAST]).reshape(-1, len(self.prior))


def solve(joint: tr.Joint, notion: Any, seconds: float, gap: float) -> Answer:
    """Columns until none is worth more than the gap."""
    start, kept = time.monotonic(), joint.p_x > 0
    prior = joint.p_x[kept]
    B = notion.cone(joint).A[:, kept] / prior
    space = Polytope(B / np.abs(B).max(axis=1, keepdims=True))
    unit, none = np.eye(len(prior)), np.zeros(len(prior))
    ends = [space.best(e, none, none + 1) for e in unit]
    upper = np.minimum([v[j] + LEAST if v is not None else 1.0 for j, v in enumerate(ends)], 1)
    columns = np.array([prior, *(v for v in ends if v is not None)])
    bound, trace = float(-(prior * np.log(prior)).sum()), []
    while True:
        theta, duals, value = master(columns, prior)
        pricing = Pricing(space, prior, duals, upper)
        pricing.run(gap / 2, start + seconds)
        bound = min(bound, float(duals @ prior) + max(pricing.bound, 0))
        trace.append((time.monotonic() - start, value, bound))
        new = fresh(pricing.found(), columns)
        if bound - value <= gap or time.monotonic() >= start + seconds or len(new) == 0:
            break
        columns = np.vstack([columns, new])
    used = theta > 0
    note = f"{space.solved} LPs, {len(columns)} columns"
    return Answer(full(theta[used, None] * columns[used] / prior, joint), value, bound, note, tuple(trace))


def fresh(found: Array, columns: Array) -> Array:
    """The columns that are not known yet: a master at its tolerance would be offered the same for ever."""
    away = np.abs(found[:, None] - columns).max(axis=2).min(axis=1)
    return np.asarray(found[away > SAME])


def master(columns: Array, prior: Array) -> tuple[Array, Array, float]:
    """Weights, duals and value of the best mixture."""
    worth = rel_entr(columns, prior).sum(axis=1)
    found = linprog(-worth, A_eq=columns.T, b_eq=prior, method="highs")
    return found.x, -found.eqlin.marginals, float(found.x @ worth)
