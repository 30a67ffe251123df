"""The merge theorem: letters that a cone cannot tell apart are one letter (for mutual information about the letter itself).

If G groups the letters whose conditions A_x/p_x are the same, then `OPT(X) = H(X|G) + OPT(G)`.
≤: H(X|Y) ≥ H(G|Y), and G → Y obeys the same conditions. ≥: next to the output y of the optimum for G, release one
representative of every group: the true x for its own group, for the others the one at a common quantile τ. Then
P(G|y,τ) = P(G|y), and x is known from (G, τ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trechter.geometry import Cone
from trechter.geometry.cone import Array
from trechter.measures import entropy
from trechter.measures.entropic import Entropic
from trechter.optimal.problem import Problem, Solution

NAMED = 300  # for each letter: rows that are no vertices name many groups, and would become too many to deliver
DIGITS = 13  # conditions that agree to so many digits are the same: what is left is below the noise of a bound


@dataclass(frozen=True, eq=False)
class Merged:
    """The problem over groups; letter x lies in `group[x]`, at the quantiles from `low[x]` to `high[x]` of its group."""

    problem: Problem
    masses: Array
    group: NDArray[np.intp]
    low: Array
    high: Array

    def lift(self, solution: Solution) -> Solution:
        """The same for letters: each row becomes one row for every interval between the quantiles of the groups it names."""
        most = NAMED * len(self.masses) if "stopped" in solution.stats else math.inf
        rows: list[Array] = []
        for row in solution.rows[np.argsort(-(solution.rows @ self.problem.masses), kind="stable")]:
            parts = self._split(row)
            most -= len(parts) * int(np.count_nonzero(row))
            rows += parts if most >= 0 else [row[self.group]]
        said = entropy(self.masses) - entropy(self.problem.masses)
        stats = solution.stats | {"letters": len(self.masses), "groups": len(self.problem.masses)}
        return replace(solution, rows=np.array(rows), bound=solution.bound + said, stats=stats)

    def _split(self, row: Array) -> list[Array]:
        weights = row[self.group]
        cuts = np.unique(np.concatenate([[0.0, 1.0], self.high[weights > 0]]))
        return [weights * self._share(start, end) for start, end in pairwise(cuts)]

    def _share(self, start: float, end: float) -> Array:
        """How much of each letter's quantiles lies between two."""
        overlap = np.minimum(self.high, end) - np.maximum(self.low, start)
        return np.asarray(np.maximum(overlap, 0) / (self.high - self.low))


def merged(problem: Problem) -> Merged | None:
    """The problem over groups, if the theorem applies and some letters are alike."""
    if problem.targets is not None or problem.cone.exact or not isinstance(problem.curve, Entropic):
        return None
    group = _alike(problem)
    if group.max() + 1 == len(group):
        return None
    masses: Array = np.bincount(group, problem.masses).astype(np.float64)
    conditions = np.zeros((len(problem.cone.A), len(masses)))
    np.add.at(conditions.T, group, problem.cone.A.T.astype(np.float64))
    low, high = _quantiles(group, problem.masses)
    hint, parts = _together(problem, group, masses), _agreed(problem.parts, group)
    together = Problem(Cone(conditions), masses, problem.curve, hint=hint, parts=parts)
    return Merged(together, problem.masses, group, low, high)


def _together(problem: Problem, group: NDArray[np.intp], masses: Array) -> Array | None:
    """The rows that a search starts from, over groups: the average of each group."""
    if problem.hint is None:
        return None
    sums = np.zeros((len(masses), len(problem.hint)))
    np.add.at(sums, group, (problem.hint * problem.masses).T)
    return np.asarray((sums / masses[:, None]).T)


def _agreed(parts: tuple[NDArray[np.intp], ...], group: NDArray[np.intp]) -> tuple[NDArray[np.intp], ...]:
    """The attributes on which the letters of every group agree."""
    first = np.unique(group, return_index=True)[1]
    return tuple(labels[first] for labels in parts if (labels[first][group] == labels).all())


def _alike(problem: Problem) -> NDArray[np.intp]:
    conditions = problem.cone.A.astype(np.float64) / problem.masses
    scale = np.abs(conditions).max(axis=1, keepdims=True, initial=np.finfo(float).tiny)
    return np.unique(np.round(conditions / scale, DIGITS), axis=1, return_inverse=True)[1].ravel()


def _quantiles(group: NDArray[np.intp], masses: Array) -> tuple[Array, Array]:
    """Where each letter begins and ends within its group; the last one ends at 1 exactly."""
    low, high = np.zeros(len(group)), np.ones(len(group))
    for g in range(group.max() + 1):
        members = np.flatnonzero(group == g)
        ends = np.cumsum(masses[members])
        high[members] = ends / ends[-1]
        low[members[1:]] = high[members[:-1]]
    return low, high
