"""PRAM, the post-randomisation method: a matrix that the user brings, checked, and if it says too much scaled to the level.

Scaling mixes it with the constant protocol of the same output distribution q: `Q_λ = λ Q + (1 − λ) q 1ᵀ`, λ = k/(k + 1) =
1 − e^-α, which leaves the expected frequencies of the outputs as they are.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from trechter.errors import ProtocolError
from trechter.measures import Measure
from trechter.mechanisms.calibration import Array, Blend, calibrated
from trechter.mechanisms.matrices import dense
from trechter.mechanisms.record import record
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.model.result import Result
from trechter.optimal.design import check_request
from trechter.privacy import Notion

SUM = 1e-9  # what a column may be off


def pram(matrix: Any, joint: Joint, notion: Notion, *, measure: Measure | None = None) -> Result:
    """The matrix (outputs × values, columns sum to 1; outputs × (s, x) if it reads both) as it is, or scaled to the level."""
    check_request(joint, notion, measure)
    start, Q = time.perf_counter(), probabilities(matrix)
    reads = _reads(Q, joint)
    q = Q @ letters(joint, reads).masses
    whole = q / q.sum()

    def products(conditions: Array) -> tuple[Array, Array]:
        return conditions @ Q.T, np.repeat(whole[None], len(conditions), axis=0)

    def scaled(k: float) -> Any:
        rest = 1 / (1 + k)
        return dense((1 - rest) * Q + rest * whole[:, None], joint, reads)

    protocol, stats = calibrated("pram", Blend.of(joint, notion, reads, products, scaled), joint, notion)
    return record("pram", protocol, joint, notion, measure, start, **stats, kept=-math.expm1(-stats["alpha"]))


def probabilities(matrix: Any) -> Array:
    """A matrix whose columns are distributions, or an error that says which is not."""
    try:
        Q = np.array(matrix, np.float64)
    except (TypeError, ValueError):
        raise ProtocolError(
            "the matrix must be a table of numbers: one row for each output, one column for each value"
        ) from None
    if Q.ndim != 2 or 0 in Q.shape:
        raise ProtocolError(f"a matrix of shape {Q.shape}: expected (outputs, values), at least one of each")
    wrong = np.argwhere(~(np.isfinite(Q) & (Q >= 0)))
    if len(wrong):
        y, x = wrong[0].tolist()
        raise ProtocolError(f"entry [{y}, {x}] is {Q[y, x]}: probabilities are numbers from 0 to 1")
    sums = Q.sum(axis=0)
    worst = int(np.argmax(np.abs(sums - 1)))
    if abs(sums[worst] - 1) > SUM:
        turned = "; its rows do sum to 1: give the transposed matrix" if np.all(np.abs(Q.sum(axis=1) - 1) <= SUM) else ""
        raise ProtocolError(f"column {worst} sums to {sums[worst]:.10g}, not to 1{turned}")
    return np.asarray(Q / sums)


def _reads(Q: Array, joint: Joint) -> str:
    c, a = joint.exact.shape
    for reads, inputs in (("x", a), ("sx", c * a)):
        if Q.shape[1] == inputs:
            return reads
    raise ProtocolError(
        f"a matrix of {Q.shape[1]} columns: expected one for each of {a} values, or for each of {c * a} pairs (s, x)"
    )
