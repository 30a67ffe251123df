"""Paper 004's program as it is printed (with −e^ε in its equation 30), through a modelling layer: CVXPY, solved by Clarabel.

It is for robust problems, so it is asked by `benchmarks/robust.py`. The corrected Theorem 4 is one condition for every output
and pair of secrets, Theorem 2 the cost; m ≤ (Σ P̂√a)² by second-order cones, ζ ≤ γ^(2/3) m^(1/3) by a power cone.
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

import trechter as tr

BOTH = 2 ** (-2 / 3) + 2 ** (1 / 3)


def solve(joint: tr.Joint, kind: str, epsilon: float, d: NDArray[np.float64], B: float) -> tuple[NDArray[np.float64], float]:
    """The protocol (outputs × pairs (s, u)) of NURP, RUNP or RURP with LDP, and what it claims to cost."""
    P, (c, a) = joint.p, joint.shape
    Q = cp.Variable((d.shape[1], c * a), nonneg=True)
    of = [Q[:, s * a : (s + 1) * a] for s in range(c)]
    rules: list[Any] = [cp.sum(Q, axis=0) == 1]
    pairs = list(permutations(range(c), 2))
    for s, other in pairs:
        given, under = P[s] / P[s].sum(), P[other] / P[other].sum()
        if kind[2] == "N":
            rules.append(of[s] @ given <= math.exp(epsilon) * (of[other] @ under))
            continue
        C = math.sqrt(1 + B) - 1 + P[s].sum() + P[other].sum()
        for y in range(d.shape[1]):
            mu, gamma, zeta = cp.Variable(2), cp.Variable(nonneg=True), cp.Variable(2)
            m = square(P[s], mu[0] - of[s][y], rules), square(P[other], mu[1] + math.exp(epsilon) * of[other][y], rules)
            rules.append(cp.PowCone3D(cp.hstack([gamma, gamma]), cp.hstack(m), zeta, 2 / 3))
            rules.append(cp.sum(mu) + gamma * C <= BOTH * cp.sum(zeta))
    each = cp.sum(cp.multiply(Q.T, np.tile(d, (c, 1))), axis=1)
    mu = cp.Variable()
    worst = mu - square(P.ravel(), mu - each, rules) / (1 + B)
    problem = cp.Problem(cp.Minimize(P.ravel() @ each if kind[0] == "N" else worst), rules)
    problem.solve(solver=cp.CLARABEL)
    rows = np.maximum(Q.value, 0)
    return rows / rows.sum(axis=0), float(problem.value)


def square(p: NDArray[np.float64], gap: Any, rules: list[Any]) -> Any:
    """m ≤ (Σ P̂√gap)²; a cell with P̂ = 0 asks only that its gap is no less than 0."""
    seen, m = np.flatnonzero(p > 0), cp.Variable(nonneg=True)
    g = cp.Variable(len(seen))
    rules += [gap >= 0, m <= p[seen] @ g, cp.SOC(gap[seen] + m, cp.vstack([gap[seen] - m, 2 * g]))]
    return m
