"""Products of integer matrices of any size of entry."""

from __future__ import annotations

from operator import index
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64] | NDArray[np.object_]


def product(left: Integers, right: Integers) -> NDArray[np.object_]:
    """left @ right in exact integers."""
    entries = (_flint(left) * _flint(right)).entries()
    shape = (left.shape[0], right.shape[1])
    return np.array([int(e) for e in entries] + [None], object)[:-1].reshape(shape)


def _flint(matrix: Integers) -> Any:
    rows, columns = matrix.shape
    return flint.fmpz_mat(rows, columns, [index(entry) for entry in matrix.ravel().tolist()])
