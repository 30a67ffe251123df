"""The papers' method for ε-LDP: enumerate the vertices of the polytope Γ of all protocols, and take the best.

Γ: matrices Q (a outputs) with Q ≥ 0, columns that sum to 1, and P(y|s) ≤ e^ε P(y|s') for all y, s, s'; the last row is what
the others leave, so Γ lies in a² − a dimensions. I(X;Y) is convex on it: the optimum is at a vertex. cddlib in floats.
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import cdd
import numpy as np
from benchmarks.contenders import Answer, DoesNotApplyError, full
from numpy.typing import NDArray

import trechter as tr


def solve(joint: tr.Joint, notion: Any, seconds: float, gap: float) -> Answer:
    """The best vertex of Γ; cddlib cannot be asked to stop."""
    if notion.name != "ldp":
        raise DoesNotApplyError("the papers enumerate Γ for LDP only")
    p = joint.p[:, joint.p_x > 0]
    matrix = cdd.matrix_from_array(conditions(p, math.exp(notion.epsilon)).tolist(), rep_type=cdd.RepType.INEQUALITY)
    vertices = np.array(cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array)
    a = p.shape[1]
    Q = vertices[:, 1:].reshape(-1, a - 1, a)
    Q = np.maximum(np.concatenate([Q, 1 - Q.sum(axis=1, keepdims=True)], axis=1), 0)
    utilities = information(Q, p.sum(axis=0))
    best = int(np.argmax(utilities))
    value = float(utilities[best])
    return Answer(full(Q[best], joint), value, value, f"{len(vertices)} vertices")


def conditions(p: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Rows (b, A) with b + A·q ≥ 0 for the first a − 1 rows q of Q: entries ≥ 0, then LDP, for every output."""
    a, given = p.shape[1], p / p.sum(axis=1, keepdims=True)
    pairs = [factor * given[t] - given[s] for s, t in permutations(range(len(p)), 2)]
    on_one = np.vstack([np.eye(a), *pairs])
    first = [np.kron(np.eye(a - 1)[y], on_one) for y in range(a - 1)]
    last = np.kron(np.ones(a - 1), -on_one)
    constant = np.append(np.zeros((a - 1) * len(on_one)), on_one.sum(axis=1))
    return np.column_stack([constant, np.vstack([*first, last])])


def information(Q: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """I(X;Y) of each protocol (k × b × a)."""
    joint = Q * p
    ratio = np.divide(Q, (Q @ p)[:, :, None], out=np.ones_like(Q), where=Q > 0)
    return np.asarray((joint * np.log(ratio)).sum(axis=(1, 2)))
