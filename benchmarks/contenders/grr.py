"""The floor: generalised randomised response, with as much truth as the notion allows."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.contenders import Answer
from benchmarks.objective import information
from numpy.typing import NDArray

import trechter as tr

STEPS = 100


def solve(joint: tr.Joint, notion: Any, seconds: float, gap: float) -> Answer:
    """Q = (1 − t)/a + t·1[x = y] for the largest t found by bisection (the cone is convex and holds t = 0)."""
    a, cone = len(joint.p_x), notion.cone(joint).A
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        t = (low + high) / 2
        low, high = (t, high) if np.all(response(a, t) @ cone.T <= 0) else (low, t)
    Q = response(a, low)
    return Answer(Q, information(Q, joint.p_x), None, f"tells x with {low:.3g}")


def response(a: int, t: float) -> NDArray[np.float64]:
    """x itself with probability t, else any value."""
    return np.asarray(np.full((a, a), (1 - t) / a) + t * np.eye(a))
