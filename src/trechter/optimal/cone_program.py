"""A cone program and its solver, Clarabel: minimise q·x where affine expressions of x lie in cones.

Expressions are added as entries (row, variable, value) over numpy arrays: no modelling layer stands between a formula and its
matrix. Clarabel is an optional dependency, and so is scipy, for the sparse matrix that it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.errors import RequestError
from trechter.geometry.cone import Array
from trechter.optimal.problem import Budget

Index = NDArray[np.intp]
Terms = Sequence[tuple[Index, float | Array]]  # variables and what they are multiplied by
CLOSE = 1e-10  # asked of the solver: it stops at what it can reach
ZERO, SIGN, ROUND = 0, 1, 2  # = 0; ≥ 0; (t, x, y) with t ≥ √(x² + y²)
KINDS = THREE = 3


@dataclass(frozen=True, eq=False)
class Answer:
    """What the solver says: x, the multipliers of each kind of cone, and how it ended."""

    x: Array
    multipliers: tuple[Array, ...]
    status: str
    rounds: int

    @property
    def solved(self) -> bool:
        """Whether it says that this is the optimum, or nearly."""
        return self.status in ("Solved", "AlmostSolved")


class ConeProgram:
    """Variables by their numbers; the expressions so far."""

    def __init__(self) -> None:
        self.size = 0
        self._heights = [0, 0, 0]
        self._entries: list[list[tuple[Index, Index, Array]]] = [[], [], []]
        self._constants: list[tuple[int, Index, float]] = []
        self._costs: list[tuple[Index, Array]] = []

    def new(self, *shape: int) -> Index:
        """Numbers of new variables."""
        start, self.size = self.size, self.size + int(np.prod(shape, dtype=int))
        return np.arange(start, self.size).reshape(shape)

    def rows(self, kind: int, *shape: int) -> Index:
        """Numbers of new expressions in cones of a kind; those of ROUND are threes."""
        start, self._heights[kind] = self._heights[kind], self._heights[kind] + int(np.prod(shape, dtype=int))
        return np.arange(start, self._heights[kind]).reshape(shape)

    def add(self, kind: int, row: Index, variable: Index, value: Any) -> None:
        """Add value·x[variable] to these expressions."""
        spread = np.broadcast_arrays(row, variable, np.asarray(value, float))
        self._entries[kind].append((spread[0].ravel(), spread[1].ravel(), spread[2].ravel()))

    def constant(self, kind: int, row: Index, value: float) -> None:
        """Add a number to these expressions."""
        self._constants.append((kind, row, value))

    def squares(self, root: Terms, one: Terms, other: Terms) -> Index:
        """root² ≤ one·other for sums of terms, as one + other ≥ √((one − other)² + (2 root)²); gives the rows."""
        rows = self.rows(ROUND, len(one[0][0]), THREE)
        for terms, signs in ((root, (0, 0, 2)), (one, (1, 1, 0)), (other, (1, -1, 0))):
            for (variable, value), (k, sign) in product(terms, enumerate(signs)):
                if sign:
                    self.add(ROUND, rows[:, k], variable, sign * np.asarray(value))
        return rows

    def cost(self, variable: Index, value: Any) -> None:
        """Add value·x[variable] to what is minimised."""
        self._costs.append((variable.ravel(), np.broadcast_to(np.asarray(value, float), variable.shape).ravel()))

    def solve(self, budget: Budget) -> Answer:
        """Clarabel's answer, whatever it is worth."""
        clarabel, sparse = library()
        A, b = self._expressions(sparse)
        q, quadratic = np.zeros(self.size), sparse.csc_matrix((self.size, self.size))
        for variable, value in self._costs:
            np.add.at(q, variable, value)
        cones = [clarabel.ZeroConeT(self._heights[ZERO]), clarabel.NonnegativeConeT(self._heights[SIGN])]
        cones += [clarabel.SecondOrderConeT(THREE)] * (self._heights[ROUND] // THREE)
        solver = clarabel.DefaultSolver(quadratic, q, A, b, cones, _settings(clarabel, budget))
        solver.set_termination_callback(lambda _: budget.over)
        found = solver.solve()
        multipliers = np.split(np.array(found.z), np.cumsum(self._heights)[:-1])
        return Answer(np.array(found.x), tuple(multipliers), str(found.status), int(found.iterations))

    def _expressions(self, sparse: Any) -> tuple[Any, Array]:
        """A and b: the expressions are b − A x."""
        first = np.cumsum([0, *self._heights])
        parts = [(row + first[kind], column, value) for kind in range(KINDS) for row, column, value in self._entries[kind]]
        row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        b = np.zeros(first[-1])
        for kind, where, number in self._constants:
            b[where + first[kind]] += number
        return sparse.csc_matrix((-value, (row, column)), shape=(first[-1], self.size)), b


def _settings(clarabel: Any, budget: Budget) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = CLOSE
    if budget.seconds is not None:
        settings.time_limit = max(0.0, budget.seconds - budget.elapsed)
    return settings


def library() -> tuple[Any, Any]:
    """Clarabel, and scipy's sparse matrices."""
    try:
        import clarabel
        from scipy import sparse
    except ImportError as error:
        raise RequestError(
            f"solver='conic' needs Clarabel and scipy ({error}): pip install 'trechter[conic]', or use solver='cuts'"
        ) from error
    return clarabel, sparse
