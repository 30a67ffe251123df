"""The papers' method for ε-LIP: enumerate the vertices of the polytope Δ of posteriors, then one linear program.

Δ: distributions v of X with e^-ε ≤ P(s|v)/P(s) ≤ e^ε for every s; the last coordinate is what the others leave, so Δ lies
in a − 1 dimensions. The LP finds the weights θ ≥ 0 of the vertices with Σ θ v = p_X. cddlib in floats, HiGHS by scipy.
"""

from __future__ import annotations

import math
from typing import Any

import cdd
import numpy as np
from benchmarks.contenders import Answer, DoesNotApplyError, full
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import rel_entr

import trechter as tr


def solve(joint: tr.Joint, notion: Any, seconds: float, gap: float) -> Answer:
    """The best mixture of vertices; neither library can be asked to stop."""
    if notion.name != "lip":
        raise DoesNotApplyError("the papers enumerate Δ for LIP only")
    p = joint.p[:, joint.p_x > 0]
    p = p[p.sum(axis=1) > 0]
    matrix = cdd.matrix_from_array(conditions(p, math.exp(notion.epsilon)).tolist(), rep_type=cdd.RepType.INEQUALITY)
    v = np.array(cdd.copy_generators(cdd.polyhedron_from_matrix(matrix)).array)[:, 1:]
    v = np.maximum(np.column_stack([v, 1 - v.sum(axis=1)]), 0)
    prior = p.sum(axis=0)
    worth = rel_entr(v, prior).sum(axis=1)
    found = linprog(-worth, A_eq=v.T, b_eq=prior, method="highs")
    if found.x is None:
        raise ArithmeticError(f"the LP over {len(v)} vertices ended as: {found.message}")
    used = found.x > 0
    value = float(found.x @ worth)
    return Answer(full(found.x[used, None] * v[used] / prior, joint), value, value, f"{len(v)} vertices")


def conditions(p: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Rows (b, A) with b + A·v ≥ 0 for the first a − 1 coordinates: v ≥ 0, then both bounds of every secret over P(s)."""
    secrets = p / p.sum(axis=0) / p.sum(axis=1, keepdims=True)
    every = np.vstack([np.eye(p.shape[1]), factor - secrets, secrets - 1 / factor])
    return np.column_stack([every[:, -1], every[:, :-1] - every[:, -1:]])
