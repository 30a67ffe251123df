"""Γ, through which the papers find optimal LDP (000, Theorem 1; 003, Theorem 2): all its vertices, by cddlib.

Γ holds the matrices Q ≥ 0 (a × a, columns summing to 1) with Q_y·p_{X|s} ≤ e^ε Q_y·p_{X|s'}; I(X;Y) is convex on it, so the
best vertex is the optimum. The last row is what the others leave, so there are a² − a dimensions. cddlib has the GPL and is
no dependency of Trechter: `pip install pycddlib-standalone` has it compute.
"""

from __future__ import annotations

import importlib.util
import math
from itertools import permutations
from typing import Any

import numpy as np

import trechter as tr


def available() -> bool:
    """Whether cddlib can be called."""
    return importlib.util.find_spec("cdd") is not None


def gamma_optimum(joint: tr.Joint, epsilon: float) -> tuple[float, int]:
    """max I(X;Y) over Γ, and the number of its vertices."""
    Q = vertices(joint, epsilon)
    q = Q @ joint.p_x
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(Q > 1e-12, Q * joint.p_x * np.log(Q / q[:, :, None]), 0)
    return float(terms.sum(axis=(1, 2)).max()), len(Q)


def vertices(joint: tr.Joint, epsilon: float) -> Any:
    """All vertices of Γ as matrices; minutes at a = 5."""
    import cdd

    inequalities, a = _inequalities(joint, epsilon), len(joint.p_x)
    matrix = cdd.matrix_from_array(inequalities.tolist(), rep_type=cdd.RepType.INEQUALITY)
    points = np.array(cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array)[:, 1:].reshape(-1, a - 1, a)
    return np.concatenate([points, 1 - points.sum(axis=1, keepdims=True)], axis=1)


def _inequalities(joint: tr.Joint, epsilon: float) -> Any:
    """Rows (b, A) of b + A·Q ≥ 0, for Q without its last row."""
    given = joint.p / joint.p_s[:, None]
    secrets = permutations(range(len(given)), 2)
    on_row = np.vstack([np.eye(given.shape[1]), *(math.exp(epsilon) * given[t] - given[s] for s, t in secrets)])
    k, a = on_row.shape
    rows = np.kron(np.eye(a - 1), on_row)
    last = np.hstack([on_row.sum(axis=1)[:, None], -np.tile(on_row, (1, a - 1))])
    return np.vstack([np.hstack([np.zeros(((a - 1) * k, 1)), rows]), last])
