"""HiGHS as the solvers here use it: silent, one thread, primal simplex, tight tolerances, warm from run to run.

Its answers are proposals. Whoever calls takes a basis or multipliers from it and computes what they prove himself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import highspy
import numpy as np
from numpy.typing import NDArray

from trechter.errors import SolverError
from trechter.geometry.cone import Array

OPTIMAL = highspy.HighsModelStatus.kOptimal
INFINITE = highspy.kHighsInf
DUAL = 1
PRIMAL = 4  # simplex_strategy: what keeps a basis warm when costs change or columns come
REFINEMENTS = 2
AT_ONCE = 20_000  # entries
Index = NDArray[np.int32]
Model = highspy.Highs


def model(warm: bool = True) -> Model:
    """An empty model: silent, one thread, tight tolerances; if it is solved again and again, no presolve (it would throw
    the basis away)."""
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, bool | int | float | str] = {
        "output_flag": False,
        "threads": 1,
        "primal_feasibility_tolerance": 1e-10,
        "dual_feasibility_tolerance": 1e-10,
        "small_matrix_value": 1e-12,
    }
    options |= {"presolve": "off", "solver": "simplex", "simplex_strategy": PRIMAL} if warm else {}
    for name, value in options.items():
        highs.setOptionValue(name, value)
    return highs


def add_rows(highs: Model, matrix: Array, lower: Array, upper: Array) -> None:
    """Append lower ≤ matrix·x ≤ upper."""
    starts, index, entries = sparse(matrix)
    highs.addRows(len(matrix), lower, upper, len(entries), starts, index, entries)


def add_columns(highs: Model, costs: Array, matrix: Array, lower: Array, upper: Array) -> None:
    """Append variables within bounds; matrix holds one variable per row."""
    starts, index, entries = sparse(matrix)
    highs.addCols(len(matrix), costs, lower, upper, len(entries), starts, index, entries)


def sparse(matrix: Array) -> tuple[Index, Index, Array]:
    """Row by row: where each starts, the columns of its entries, the entries."""
    row, column = np.nonzero(matrix)
    starts = np.searchsorted(row, np.arange(len(matrix)))
    return starts.astype(np.int32), column.astype(np.int32), matrix[row, column]


def run(highs: Model, late: Callable[[], bool] = lambda: False) -> highspy.HighsModelStatus:
    """Solve, or give up when it is late; a KeyboardInterrupt cancels HiGHS and is passed on (its run() is deaf to it).

    What takes some milliseconds is run at once: a thread would take as long, and far longer on busy cores.
    """
    highs.HandleKeyboardInterrupt = highs.getNumNz() > AT_ONCE
    if not highs.HandleKeyboardInterrupt:
        highs.run()
        return highs.getModelStatus()
    highs.startSolve()
    try:
        while not highs.wait(0.1)[0]:
            if late():
                highs.cancelSolve()  # type: ignore[no-untyped-call]
    except KeyboardInterrupt:
        highs.cancelSolve()  # type: ignore[no-untyped-call]
        highs.wait()
        raise
    return highs.getModelStatus()


@contextmanager
def afresh(highs: Model, method: int) -> Iterator[None]:
    """Within, the next solve starts from nothing and by this method."""
    highs.clearSolver()
    highs.setOptionValue("simplex_strategy", method)
    try:
        yield
    finally:
        highs.setOptionValue("simplex_strategy", PRIMAL)


def basic(highs: Model) -> Index:
    """The basic variables: j for variable j, −1 − i for the slack of row i."""
    status, index = highs.getBasicVariables()  # type: ignore[attr-defined]
    if status != highspy.HighsStatus.kOk:
        raise SolverError("the LP solver claims to be done and has no basis")
    return np.array(index)


def by_basis(highs: Model, target: Array, transposed: bool = False) -> Array:
    """Solve with the solver's factors of its basis."""
    if transposed:
        return np.array(highs.getBasisTransposeSolve(target)[1])  # type: ignore[attr-defined]
    return np.array(highs.getBasisSolve(target)[1])  # type: ignore[attr-defined]


def refined(highs: Model, matrix: Array, target: Array, transposed: bool = False) -> Array:
    """Solve matrix·x = target, matrix being the basis, and refine twice.

    (A threaded LAPACK can spin for 50 ms over a hundred equations when the cores are busy.)
    """
    rows = matrix.T if transposed else matrix
    x = by_basis(highs, target, transposed)
    for _ in range(REFINEMENTS):
        rest = target - rows @ x
        size = float(np.max(np.abs(rest)))  # what is small the solver takes for zero
        if size > 0:
            x = x + size * by_basis(highs, rest / size, transposed)
    return x
