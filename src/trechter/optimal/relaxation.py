"""Linear programs over a polytope and a box: warm HiGHS models that are given batches.

The multipliers that come back are used in bounds that hold for any multipliers, so a solver that errs can make them
weak and never wrong. One that claims an optimum that is none, even when started afresh, is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from trechter.errors import SolverError
from trechter.geometry.cone import Array
from trechter.optimal import lp
from trechter.optimal.polytope import Polytope

LIE = 1e-6  # what a point or a duality gap may be off, relative to the largest cost
WORKERS = 2  # models that share a batch, whatever the machine has: the same input takes the same path
TIGHT = 1e-9  # a violation of a bound that makes an LP infeasible


@dataclass(frozen=True, eq=False)
class Answer:
    """What the LPs of a batch say: points (NaN where none was found), multipliers, bases; what is proved to be empty."""

    points: Array
    multipliers: Array
    bases: list[Any]
    empty: NDArray[np.bool_]


class Relaxation:
    """maximise costs·x over the polytope within lower ≤ x ≤ upper."""

    def __init__(self, space: Polytope) -> None:
        self._rows, self._size, self._rhs, self._floor = len(space.rhs), space.size, space.rhs, space.floor
        self._index = np.arange(space.size, dtype=np.int32)
        self._model = lp.model()
        self._model.setOptionValue("primal_simplex_bound_perturbation_multiplier", 0.0)  # undoing it can go round for ever
        lp.add_rows(self._model, np.zeros((self._rows, 0)), np.maximum(space.floor, -lp.INFINITE), space.rhs)
        nothing = np.zeros(space.size)
        lp.add_columns(self._model, nothing, space.matrix.T, nothing, nothing + 1)

    def solve(self, costs: Array, lower: Array, upper: Array, basis: Any) -> tuple[Array, Array, Any]:
        """Point, multipliers and basis; without a basis it goes on from the last LP."""
        self._model.changeColsBounds(self._size, self._index, lower, upper)
        self._model.changeColsCost(self._size, self._index, -costs)
        if basis is not None:
            self._model.setBasis(basis)
        self._model.run()
        status = self._model.getModelStatus()
        if status == lp.OPTIMAL:
            solution = self._model.getSolution()
            return np.array(solution.col_value), -np.array(solution.row_dual), self._model.getBasis()
        ray = self._ray(lower, upper) if status == highspy.HighsModelStatus.kInfeasible else np.zeros(self._rows)
        return np.full(self._size, np.nan), ray, None

    def forget(self) -> None:
        """Start the next LP afresh."""
        self._model.clearSolver()

    def _ray(self, lower: Array, upper: Array) -> Array:
        """Multipliers that prove that there is no point: the duals of the sum of violations at the last basis."""
        solution, basic = self._model.getSolution(), lp.basic(self._model)
        x, row = np.array(solution.col_value), np.array(solution.row_value)
        violated = np.where(x > upper + TIGHT, -1.0, 0.0) + (x < lower - TIGHT)
        logical = np.where(row > self._rhs + TIGHT, 1.0, 0.0) - (row < self._floor - TIGHT)
        costs = np.append(violated, logical[::-1])[basic]  # row i is written −1 − i
        return lp.by_basis(self._model, costs, transposed=True)


class Relaxations:
    """Models on threads (HiGHS frees the interpreter); a batch is split the same way every time."""

    def __init__(self, space: Polytope) -> None:
        self.space, self.solved = space, 0
        self._models = [Relaxation(space) for _ in range(WORKERS)]
        self._pool = ThreadPoolExecutor(WORKERS)

    def solve(self, costs: Array, lower: Array, upper: Array, bases: Sequence[Any]) -> Answer:
        """One LP for each row of costs and box; optima are checked, and solved again afresh if they are none."""
        shares = np.array_split(np.arange(len(costs)), WORKERS)
        work = [(m, share, costs, lower, upper, bases) for m, share in zip(self._models, shares, strict=True) if len(share)]
        parts = self._pool.map(_solve, work) if len(work) > 1 else map(_solve, work)
        answer = _joined(parts, self.space, lower, upper)
        self.solved += len(costs)
        wrong = np.flatnonzero(self._wrong(answer, costs, lower, upper))
        if len(wrong):
            self._models[0].forget()
            afresh = [_solve((self._models[0], wrong, costs, lower, upper, [None] * len(costs)))]
            again = _joined(afresh, self.space, lower[wrong], upper[wrong])
            if np.any(self._wrong(again, costs[wrong], lower[wrong], upper[wrong])):
                raise SolverError(
                    "the LP solver twice calls a point optimal that is infeasible or not optimal; "
                    "the conditions may be badly scaled"
                )
            answer.points[wrong], answer.multipliers[wrong] = again.points, again.multipliers
            answer.empty[wrong] = again.empty
            for k, basis in zip(wrong, again.bases, strict=True):
                answer.bases[k] = basis
        return answer

    def _wrong(self, answer: Answer, costs: Array, lower: Array, upper: Array) -> NDArray[np.bool_]:
        """Which points are claimed to be optimal and are not."""
        x, space = answer.points, self.space
        sums = x @ space.matrix.T
        parts = (space.floor - sums, sums - space.rhs, lower - x, x - upper)
        off = np.max(np.hstack(parts), axis=1)
        most = space.most(space.reduced(costs, answer.multipliers), answer.multipliers, lower, upper)
        gap = (most - (costs * x).sum(axis=1)) / (1 + np.abs(costs).max(axis=1))
        return np.asarray(~np.isnan(x[:, 0]) & ~((off <= LIE) & (gap <= LIE)))

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=True, cancel_futures=True)


Work = tuple[Relaxation, NDArray[np.intp], Array, Array, Array, Sequence[Any]]
Found = list[tuple[Array, Array, Any]]


def _solve(work: Work) -> Found:
    model, part, costs, lower, upper, bases = work
    return [model.solve(costs[i], lower[i], upper[i], bases[i]) for i in part]


def _joined(parts: Any, space: Polytope, lower: Array, upper: Array) -> Answer:
    found = [one for part in parts for one in part]
    columns = zip(*found, strict=True)
    points, multipliers, bases = np.array(next(columns)), space.signed(np.array(next(columns))), list(next(columns))
    nothing = space.reduced(np.zeros(space.size), multipliers)
    empty = np.isnan(points[:, 0]) & (space.most(nothing, multipliers, lower, upper) < 0)
    return Answer(points, multipliers, bases, empty)
