"""Cutting planes: the least expected distortion where privacy, or the distortion itself, is for every P in a set F.

    minimise z   subject to   Σ_ŷ w_ŷ = 1,  w ≥ 0,  z ≥ Σ_ŷ c^P_ŷ·w_ŷ,  P(w_ŷ|A) ≤ e^ε P(w_ŷ|B)   for all P ∈ F

A linear program has the conditions of a few P; the oracle of F finds those that its answer violates most, and so on. Whatever
the solver says, multipliers prove a bound, as in `linear`, at the P̄ that the multipliers of z ≥ … mix. Mixing with
constant rows repairs what is still violated, so at any moment there is a protocol and a bound.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.errors import RequestError, SolverError, TrechterWarning
from trechter.geometry.cone import Array
from trechter.measures import WorstCase
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.optimal import lp
from trechter.optimal.linear import LinearProblem
from trechter.optimal.polytope import NOISE
from trechter.optimal.problem import Budget, Problem, Solution
from trechter.privacy.robust import Among
from trechter.sets import Around

SHARE = 0.9  # of the gap is left to what is still violated; the rest is for the repair and for rounding
LEAST = 1e-11  # violation that is worth a condition
MARGIN = 1e-9  # relative, of e^ε: what rounding, and the proof, need
ROUNDS = 500
PATIENCE, MANY = 3, 100  # rounds that a condition may be idle; how many such are forgotten at once
BACK = (0.0, -0.2, 0.3, 0.7)  # from the master's answer to the best rows so far: where violations are looked for


@dataclass(frozen=True, eq=False, kw_only=True)
class RobustProblem(LinearProblem):
    """The problem of an expected distortion, with sets F for privacy (`among`) and for the distortion (`spread`)."""

    among: Among | None
    spread: Spread | None

    @property
    def distortions(self) -> Array:
        """d of every letter and reading."""
        return np.asarray(self.costs / np.where(self.masses > 0, self.masses, 1)[:, None])

    @property
    def factor(self) -> float:
        """e^ε; 2 where violations are counted in what a constant row has to spare."""
        return 2.0 if self.among is None else self.among.factor

    @cached_property
    def plain(self) -> Array:
        """The conditions at P̂, constant rows having 1 to spare; at ε = 0 they have nothing."""
        A = self.cone.active.A.astype(np.float64)
        spare = -A.sum(axis=1)
        return np.asarray(A / np.where(spare > 0, spare, 1)[:, None])

    def outside(self, rows: Array) -> Array:
        """By how much each row violates what is promised at P̂."""
        return np.asarray((rows @ self.plain.T).max(axis=-1, initial=0))

    def worst_costs(self, points: Array) -> tuple[Array, Array]:
        """For each of several protocols, one row for each reading, its distortion and the c that it is at."""
        if self.spread is None:
            c = np.broadcast_to(self.costs, (len(points), *self.costs.shape))
        else:
            c = self.spread.costs(self.spread.worst(points))
        return (points * c.transpose(0, 2, 1)).sum(axis=(1, 2)), c


@dataclass(frozen=True, eq=False)
class Spread:
    """The distortion of every cell and reading, and the distributions that cells may have."""

    around: Around
    d: Array  # cells × readings
    letter: NDArray[np.intp]  # of each cell

    @classmethod
    def of(cls, measure: WorstCase, joint: Joint, reads: str) -> Spread:
        """Of a measure and a joint."""
        cells = letters(joint, "sx").x_of
        letter = cells if reads == "x" else np.arange(len(cells))
        return cls(measure.set.around(joint), measure.cells(joint), letter)

    def worst(self, points: Array) -> Array:
        """For each protocol the P ∈ F of its largest expected distortion."""
        return self.around.support((points[:, :, self.letter].transpose(0, 2, 1) * self.d).sum(axis=2))

    def costs(self, P: Array) -> Array:
        """c[i, ŷ] at each P."""
        c = np.zeros((int(self.letter.max()) + 1, len(P), self.d.shape[1]))
        np.add.at(c, self.letter, P.T[:, :, None] * self.d[:, None])
        return c.transpose(1, 0, 2)


def solve(problem: Problem, budget: Budget) -> Solution:
    """The optimum within the gap or the time, one row for each reading."""
    if not isinstance(problem, RobustProblem):
        raise RequestError("solver 'cuts' is for a promise or a distortion over a set of distributions; use solver='auto'")
    run = Run(problem, budget)
    try:
        run.to_the_end()
    except SolverError as error:
        warnings.warn(f"the design stopped early: {error}", TrechterWarning, stacklevel=3)
        run.stats["failed"] = str(error)
    return run.solution()


class Run:
    """One solve: the best rows so far, and the bound."""

    def __init__(self, problem: RobustProblem, budget: Budget) -> None:
        self.problem, self.budget, self.master = problem, budget, Master(problem)
        self.stats: dict[str, Any] = {"rounds": 0}
        self.bound, self.cost = -math.inf, math.inf
        self._keep(constants(problem))

    def to_the_end(self) -> None:
        """Until the gap is closed, the time is up, or nothing is violated."""
        new = True
        while new and not self.budget.over and self.cost - self.bound > SHARE * self.budget.gap and self._rounds < ROUNDS:
            rows, bound = self.master.solve(self.budget)
            self.bound = max(self.bound, bound)
            self.stats["rounds"] += 1
            new = self._refine(rows)
            self._tell()

    def solution(self) -> Solution:
        """What is known now, private with a margin for rounding."""
        stats = self.stats | {"conditions": len(self.master)} | self.budget.halt
        rows = repaired(self.problem, self.rows)
        return Solution(rows, -self.bound, "cuts", stats, readings=np.arange(len(rows)))

    @property
    def _rounds(self) -> int:
        return int(self.stats["rounds"])

    def _refine(self, rows: Array) -> bool:
        """New conditions for the master, from its own answer and from points on the line to the best rows so far; these
        points, repaired, may be better rows. Whether the answer itself was violated."""
        points = np.array([rows + share * (self.rows - rows) for share in BACK])
        excess, violated = self.problem.outside(points), False
        if self.problem.among is not None:
            excess = self._forbid(points)
            violated = bool(excess[0].any())
        if self.problem.spread is not None:
            costs, found = self.problem.worst_costs(points)
            for c in found:
                self.master.cost(c)
            violated |= bool(costs[0] > self.master.claimed + LEAST)
        proper = points.min(axis=(1, 2)) >= 0
        if self.problem.among is None:
            proper &= np.array(BACK) >= 0  # beyond the master's answer the plain promise may be broken, and nothing repairs it
        pairs = zip(points[proper], excess[proper], strict=True)
        self._keep(np.array([mixed(point, over, self.problem.factor) for point, over in pairs]))
        return violated

    def _forbid(self, points: Array) -> Array:
        """Conditions that the points violate, for the master; and by how much each row does."""
        assert self.problem.among is not None
        whose, conditions, excess = self.problem.among.cuts(points.reshape(-1, points.shape[2]), LEAST)
        self.master.forbid(whose % points.shape[1], conditions)
        return excess.reshape(points.shape[:2])

    def _keep(self, points: Array) -> None:
        """The best of these, if it is better than what is known."""
        costs = self.problem.worst_costs(points)[0]
        k = int(np.argmin(costs))
        if costs[k] < self.cost:
            self.rows, self.cost = points[k], float(costs[k])

    def _tell(self) -> None:
        if self.budget.progress is not None:
            known = {"utility": -self.cost, "bound": -self.bound, "gap": self.cost - self.bound}
            self.budget.progress({"seconds": self.budget.elapsed} | known | {"columns": len(self.master), "phase": "cutting"})


def constants(problem: RobustProblem) -> Array:
    """Everybody says the same: one protocol for each reading."""
    n, readings = problem.costs.shape
    return np.repeat(np.eye(readings)[:, :, None], n, axis=2)


def repaired(problem: RobustProblem, rows: Array) -> Array:
    """Rows that are private, robust ones with a margin for rounding."""
    if problem.among is None:
        if np.any(problem.plain.sum(axis=1) > -0.5):  # ε = 0: floats cannot keep equalities
            known = constants(problem)
            return np.asarray(known[np.argmin(problem.worst_costs(known)[0])])
        return mixed(rows, problem.outside(rows), problem.factor)
    strict = problem.among.factor * (1 - MARGIN)
    return mixed(rows, problem.among.excess(rows, strict), strict)


def mixed(rows: Array, excess: Array, factor: float) -> Array:
    """Rows with as little of constant ones as undoes their violations: V becomes (1−t)V − t r (e^ε − 1)."""
    total = float(excess.sum())
    if total == 0:
        return rows
    t = total / (total + max(factor - 1, 0))  # at ε = 0 only constant rows are left
    return np.asarray((1 - t) * rows + t * (excess / total)[:, None])


def proven(costs: Array, whose: NDArray[np.intp], priced: Array) -> float:
    """What every protocol costs at least: Σ_i min_ŷ of the costs and the conditions, times their multipliers, of reading ŷ."""
    each, size = costs.T.copy(), np.abs(costs.T)
    np.add.at(each, whose, priced)
    np.add.at(size, whose, np.abs(priced))
    return float(each.min(axis=0).sum() - NOISE * (1 + len(priced)) * size.max(axis=0).sum())


class Master:
    """The linear program over the conditions so far; variables are w_ŷ, one reading after the other, then z."""

    def __init__(self, problem: RobustProblem) -> None:
        self.n, self.readings = problem.costs.shape
        self.claimed = -math.inf
        self._whose: list[int] = []
        self._conditions: list[Array] = []
        self._costs: list[Array] = []
        self._idle = np.empty(0, int)
        self._kind: list[int] = []  # of each row after the sums: the place of its condition, or −1 − that of its costs
        self._model = lp.model()
        self._model.setOptionValue("simplex_strategy", lp.DUAL)
        lp.add_rows(self._model, np.zeros((self.n, 0)), np.ones(self.n), np.ones(self.n))
        one = np.tile(np.eye(self.n), (self.readings, 1))
        free = np.full(len(one), lp.INFINITE)
        lp.add_columns(self._model, np.zeros(len(one)), one, np.zeros(len(one)), free)
        self._model.addCol(1.0, -lp.INFINITE, lp.INFINITE, 0, np.empty(0, np.int32), np.empty(0))
        self.cost(problem.costs if problem.spread is None else problem.spread.costs(problem.spread.around.p[None])[0])
        cone = problem.cone.active.A.astype(np.float64)
        for reading in range(self.readings):
            self.forbid(np.full(len(cone), reading), cone)

    def __len__(self) -> int:
        return len(self._conditions) + len(self._costs)

    def forbid(self, whose: NDArray[np.intp], conditions: Array) -> None:
        """c·w_ŷ ≤ 0 for these readings ŷ."""
        if not len(whose):
            return
        starts, index, entries = lp.sparse(conditions)
        counts = np.diff(np.append(starts, len(entries)))
        index = (index + np.repeat(whose * self.n, counts)).astype(np.int32)
        k = len(whose)
        self._model.addRows(k, np.full(k, -lp.INFINITE), np.zeros(k), len(entries), starts, index, entries)
        self._kind.extend(range(len(self._conditions), len(self._conditions) + k))
        self._whose.extend(whose.tolist())
        self._conditions.extend(conditions)
        self._idle = np.append(self._idle, np.zeros(k, int))

    def cost(self, c: Array) -> None:
        """z ≥ Σ c·w."""
        entries = np.append(-c.T.ravel(), 1.0)
        index = np.flatnonzero(entries).astype(np.int32)
        self._model.addRow(0.0, lp.INFINITE, len(index), index, entries[index])
        self._kind.append(-1 - len(self._costs))
        self._costs.append(c)
        self._idle = np.append(self._idle, 0)

    def solve(self, budget: Budget) -> tuple[Array, float]:
        """Rows of the optimum, one for each reading, ≥ 0 and Σ = 1; and what nothing can cost less than."""
        status = lp.run(self._model, lambda: budget.over)
        answer = self._model.getSolution()
        duals = np.array(answer.row_dual)
        if status != lp.OPTIMAL and not (budget.over and len(duals)):
            raise SolverError(f"the LP over {len(self)} conditions ended as {status.name}")
        values = np.array(answer.col_value)
        self.claimed = float(values[-1])
        rows = np.maximum(values[:-1].reshape(self.readings, self.n), 0)
        sums = rows.sum(axis=0)
        if np.any(sums < 0.5):
            raise SolverError(f"the LP over {len(self)} conditions gives rows that add up to {sums.min():.3g}, not to 1")
        bound = self._bound(duals)
        self._forget(duals[self.n :] == 0)
        return rows / sums, bound

    def _forget(self, idle: NDArray[np.bool_]) -> None:
        """Drop the conditions that have not counted for some rounds: the model is solved again and again."""
        self._idle = np.where(idle, self._idle + 1, 0)
        old = (self._idle > PATIENCE) & (np.array(self._kind) >= 0)
        if old.sum() < MANY:
            return
        where = (self.n + np.flatnonzero(old)).astype(np.int32)
        self._model.deleteRows(len(where), where)
        kept = np.array(self._kind)[~old]
        place = np.flatnonzero(np.isin(np.arange(len(self._conditions)), kept))
        self._kind = np.where(kept >= 0, np.searchsorted(place, kept), kept).tolist()
        self._conditions = [self._conditions[k] for k in place]
        self._whose = [self._whose[k] for k in place]
        self._idle = self._idle[~old]

    def _bound(self, duals: Array) -> float:
        """What every protocol costs at least, for any multipliers ≥ 0."""
        kind, given = np.array(self._kind), np.maximum(np.nan_to_num(np.abs(duals[self.n :])), 0)
        shares = np.zeros(len(self._costs))
        shares[-1 - kind[kind < 0]] = given[kind < 0]
        if shares.sum() <= 0:
            return -math.inf
        each = np.tensordot(shares / shares.sum(), np.array(self._costs), axes=1)
        used = np.flatnonzero((kind >= 0) & (given > 0))
        which = kind[used]
        priced = (given[used] / shares.sum())[:, None] * np.reshape(self._conditions, (-1, self.n))[which]
        return proven(each, np.array(self._whose, np.intp)[which], priced)
