"""This package's closed form for secrets of two values, alone: sparse float rows and their bound, no integers.

For alphabets whose protocol nobody can store as a matrix: its outputs name two letters at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.contenders import Answer, DoesNotApplyError
from scipy.sparse import csr_array

import trechter as tr
from trechter.errors import RequestError
from trechter.measures import MutualInformation
from trechter.optimal.design import make_problem
from trechter.optimal.pairs import optimum


def solve(joint: tr.Joint, notion: Any, seconds: float, gap: float) -> Answer:
    """The optimum over pairs of letters."""
    if np.any(joint.p_x == 0):
        raise DoesNotApplyError("pairs alone wants letters that occur")
    try:
        found = optimum(make_problem(joint, notion, MutualInformation(), "x"))
    except RequestError as error:
        raise DoesNotApplyError(str(error)) from None
    rows = found.rows
    index = np.arange(0, rows.letters.size + 1, 2)
    matrix = csr_array((rows.weights.ravel(), rows.letters.ravel(), index), (len(rows), rows.dimension))
    return Answer(matrix, found.value, found.bound, "without integers and certificate")
