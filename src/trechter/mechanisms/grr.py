"""Generalised randomised response: the true value with weight E = e^α, every other value with weight 1.

    Q[x, x] = E / (E + a − 1),   Q[y, x] = 1 / (E + a − 1) for y ≠ x

so F·Q_y ≤ e^ε G·Q_y reads (1 + k F_y) ≤ e^ε (1 + k G_y), k = e^α − 1, for distributions F and G.
"""

from __future__ import annotations

import math
import time

import numpy as np

from trechter.exact.rounding import WORD
from trechter.measures import Measure
from trechter.mechanisms.calibration import Array, Blend, calibrated
from trechter.mechanisms.matrices import dense
from trechter.mechanisms.record import record
from trechter.model.joint import Joint
from trechter.model.kinds import Plain
from trechter.model.letters import values_of
from trechter.model.result import Result
from trechter.model.sparse import SparseProtocol
from trechter.model.sparse_weights import SparseWeights
from trechter.optimal.design import check_request
from trechter.optimal.problem import LARGE
from trechter.privacy import Notion

MANY = 256  # values from which a sparse protocol is the faster one
FINE = 2.0**30  # k up to which its weights are fine enough


def grr(joint: Joint, notion: Notion, *, measure: Measure | None = None) -> Result:
    """GRR at the largest α that keeps the promise."""
    check_request(joint, notion, measure)
    start = time.perf_counter()
    blend = Blend.of(joint, notion, "x", _products, lambda k: randomised_response(joint, k))
    protocol, stats = calibrated("grr", blend, joint, notion)
    return record("grr", protocol, joint, notion, measure, start, **stats)


def _products(conditions: Array) -> tuple[Array, Array]:
    """Conditions against the identity, and against ones: they are distributions."""
    return conditions, np.ones_like(conditions)


def randomised_response(joint: Joint, k: float) -> Plain:
    """GRR for any k = e^α − 1; without a matrix where that would be large."""
    a = len(joint.p_x)
    if a * a > LARGE or (a > MANY and not FINE < k < math.inf):
        return _sparse(joint, k)
    return dense(np.eye(a) if math.isinf(k) else (k * np.eye(a) + 1) / (k + a), joint)


def _sparse(joint: Joint, k: float) -> SparseProtocol:
    """The same for every value: its own weight, over a background that is the same everywhere."""
    a, each = len(joint.p_x), np.arange(len(joint.p_x))
    if k == 0:  # the same for everybody, to the last digit
        background = (1 << WORD) // a + (each < (1 << WORD) % a)
        weights = SparseWeights(background, each[:0], each[:0], each[:0], a)
    else:
        other = int((1 << WORD) / (k + a))
        weights = SparseWeights(np.full(a, other), each, each, np.full(a, (1 << WORD) - a * other), a)
    names = tuple(attribute.name for attribute in joint.release)
    return SparseProtocol(weights, values_of(joint.release), joint.secret, joint.release, released=names)
