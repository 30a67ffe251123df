"""Matrices of floats as exact protocols: with enough bits for their smallest entries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trechter.errors import TooLargeError
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.sparse_weights import MOST_CELLS

SPARE = 40  # bits beyond the smallest entry: what rounding does to a level is far below 1e-9
LEAST = 48
Array = NDArray[np.float64]


def dense(matrix: Array, joint: Joint, reads: str = "x") -> DenseProtocol:
    """The protocol of a matrix (b × n) of probabilities; outputs are the values of X where there are as many."""
    small = float(np.min(matrix, where=matrix > 0, initial=1.0))
    return DenseProtocol.from_matrix(matrix, joint, reads, max(LEAST, SPARE - int(np.floor(np.log2(small)))))


def check_size(outputs: int, inputs: int, name: str) -> None:
    """Refuse a matrix that would not fit."""
    if outputs * inputs > MOST_CELLS:
        raise TooLargeError(
            f"{name} would be a matrix of {outputs:,} outputs and {inputs:,} inputs; put values into bins, or use grr or oue"
        )
