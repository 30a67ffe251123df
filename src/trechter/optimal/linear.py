"""Expected distortion: one linear program, and nothing to enumerate.

    minimise Σ_ŷ c_ŷ·w_ŷ   subject to   A w_ŷ ≤ 0,  Σ_ŷ w_ŷ = 1,  w ≥ 0      c_ŷ[i] = p_i d(x_i, ŷ)

Outputs that are read alike may be added up, so one for each reading ŷ is enough. Whatever the solver says, multipliers
μ_ŷ ≥ 0 of the conditions and `λ_i = min_ŷ (c_ŷ + Aᵀμ_ŷ)_i` prove that no protocol costs less than Σ λ.
HiGHS is given v = p∘w, as everywhere. Exact problems (ε = 0) go to the extreme rays, with `φ(w) = −min_ŷ c_ŷ·w`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.errors import RequestError
from trechter.geometry.cone import Array
from trechter.optimal import lp
from trechter.optimal.polytope import NOISE
from trechter.optimal.problem import Budget, Problem, Solution

FAINT = 1e-7  # an output of less probability is mostly what the solver's tolerance allows, and as a promise worthless


class Flat:
    """g = 0: it does not matter how sure readers are, only what they take an output for."""

    def value(self, v: Array, prior: Array) -> Array:
        """0."""
        return np.zeros_like(v)

    def slope(self, v: Array, prior: Array) -> Array:
        """0."""
        return np.zeros_like(v)


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearProblem(Problem):
    """The row-cone problem of an expected distortion, which counts negatively."""

    costs: Array

    def phi(self, rows: Array) -> Array:
        """−min_ŷ c_ŷ·w: every row is read as well as it can be."""
        return np.asarray(-(rows @ self.costs).min(axis=1))

    def groups(self, rows: Array) -> NDArray[np.intp]:
        """Rows that are read alike."""
        return np.unique((rows @ self.costs).argmin(axis=1), return_inverse=True)[1].ravel()


def solve(problem: Problem, budget: Budget) -> Solution:
    """The optimum, one row for each reading in use."""
    if not isinstance(problem, LinearProblem):
        raise RequestError("solver 'linear' is for an expected distortion; use solver='auto' for other measures")
    conditions, each = _scaled(problem), problem.costs / problem.masses[:, None]
    model = _model(conditions, each, problem.masses)
    status = lp.run(model, lambda: budget.over)
    answer = model.getSolution()
    rows = (
        np.array(answer.col_value).reshape(each.T.shape) / problem.masses if status == lp.OPTIMAL else np.zeros((0, len(each)))
    )
    bound = -_least(conditions, each, problem.masses, -np.array(answer.row_dual))
    stats = {"readings": each.shape[1], "conditions": len(conditions)} | budget.halt
    return Solution(_whole(rows, problem.masses), bound, "linear", stats)


def _scaled(problem: Problem) -> Array:
    """B = A/p, each condition with a largest entry of 1."""
    B = problem.cone.active.A.astype(np.float64) / problem.masses
    return np.asarray(B / np.abs(B).max(axis=1, keepdims=True, initial=np.finfo(float).tiny))


def _model(conditions: Array, each: Array, masses: Array) -> lp.Model:
    """Variables v_ŷ, one reading after the other; the conditions of each reading, then the sums."""
    readings, n, m = each.shape[1], len(each), len(conditions)
    model = lp.model(warm=False)
    lp.add_rows(model, np.zeros((readings * m, 0)), np.full(readings * m, -lp.INFINITE), np.zeros(readings * m))
    lp.add_rows(model, np.zeros((n, 0)), masses, masses)
    starts, row, entries = lp.sparse(np.hstack([conditions.T, np.eye(n)]))
    for reading in range(readings):
        index = (row + np.where(row < m, reading * m, (readings - 1) * m)).astype(np.int32)
        none, free = np.zeros(n), np.full(n, lp.INFINITE)
        model.addCols(n, each[:, reading], none, free, len(entries), starts, index, entries)
    return model


def _least(conditions: Array, each: Array, masses: Array, duals: Array) -> float:
    """What no protocol costs less than, for any multipliers of the conditions, rounded down."""
    n, m = len(each), len(conditions)
    given = duals[: each.shape[1] * m] if len(duals) == each.shape[1] * m + n else np.zeros(each.shape[1] * m)
    multipliers = np.maximum(np.nan_to_num(given), 0).reshape(each.shape[1], m)
    priced = multipliers @ conditions
    terms = masses * (each + priced.T).min(axis=1)
    size = np.abs(each).max() + (multipliers @ np.abs(conditions)).max(initial=0.0)
    return float(terms.sum() - NOISE * (1 + m + n) * size)


def _whole(rows: Array, masses: Array) -> Array:
    """Rows ≥ 0 that add up to 1, those that are mostly noise added to the largest; the constant row if there are none."""
    rows = np.maximum(rows, 0) if len(rows) else np.ones((1, len(masses)))
    q = rows @ masses
    faint = (q <= FAINT) & (q < q.max())
    rows[np.argmax(q)] += rows[faint].sum(axis=0)
    rows = rows[~faint]
    sums = rows.sum(axis=0)  # 0 for a letter whose mass the solver took for 0: it draws from what the others draw
    return np.asarray(np.where(sums > 0, rows / np.where(sums > 0, sums, 1), rows.mean(axis=1, keepdims=True) / rows.mean()))
