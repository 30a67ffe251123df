"""What can be said of a cell that the outputs do not determine: the range of its share over everything that fits.

With a confidence of 95 % all shares π_y of outputs lie together within Clopper and Pearson's limits, each at 5 % over the
number of outputs. Then the share of a cell C lies between the least and the largest Σ_{i ∈ C} p_i of all p with Qp within
these limits: two linear programs a cell. It is a guarantee for any number of rows, wider than an interval where there is one.
"""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray

from trechter.errors import SolverError
from trechter.estimation.interval import CONFIDENCE
from trechter.estimation.released import Released
from trechter.exact import limits

Array = NDArray[np.float64]


def ranges(released: Released, cells: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Lower and upper ends for each cell; from 0 to 1 if nothing fits what was seen."""
    lower, upper = _box(released)
    model = _model(released.matrix, lower, upper)
    ends = [[_extreme(model, cell, side) for side in (1.0, -1.0)] for cell in cells]
    low, high = (np.array([pair[k] for pair in ends], np.float64) for k in (0, 1))
    return np.clip(np.nan_to_num(low, nan=0.0), 0, 1), np.clip(np.nan_to_num(high, nan=1.0), 0, 1)


def _box(released: Released) -> tuple[Array, Array]:
    sizes = np.bincount(released.release, released.counts).astype(int)
    alpha = (1 - CONFIDENCE) / len(released.counts)
    found = [limits(int(k), int(sizes[r]), alpha) for k, r in zip(released.counts, released.release, strict=True)]
    return np.array([float(low) for low, _ in found]), np.array([float(high) for _, high in found])


def _model(matrix: Array, lower: Array, upper: Array) -> highspy.Highs:
    """p ≥ 0, Σ p = 1, lower ≤ Qp ≤ upper."""
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    letters = matrix.shape[1]
    none = np.array([], np.int32)
    highs.addCols(letters, np.zeros(letters), np.zeros(letters), np.ones(letters), 0, none, none, np.array([]))
    rows = np.vstack([matrix, np.ones(letters)])
    row, column = np.nonzero(rows)
    starts = np.searchsorted(row, np.arange(len(rows))).astype(np.int32)
    bounds = np.append(lower, 1.0), np.append(upper, 1.0)
    highs.addRows(len(rows), *bounds, len(row), starts, column.astype(np.int32), rows[row, column])
    return highs


def _extreme(highs: highspy.Highs, cell: NDArray[np.bool_], sign: float) -> float:
    """The least share of the cell if the sign is 1, the largest if it is −1."""
    letters = len(cell)
    highs.changeColsCost(letters, np.arange(letters, dtype=np.int32), sign * cell.astype(np.float64))
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return float("nan")
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverError(f"the range of a share was not found: the LP solver says {status}")
    return sign * float(highs.getInfo().objective_function_value)
