"""The two ends: a constant, which says nothing, and the identity, which says everything.

Neither can be calibrated. The level of the constant is 0; that of the identity is what x itself tells of s, often ∞.
"""

from __future__ import annotations

import math
import time

import numpy as np

from trechter.measures import Measure
from trechter.mechanisms.grr import randomised_response
from trechter.mechanisms.record import record
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.letters import values_of
from trechter.model.result import Result
from trechter.optimal.design import check_request
from trechter.privacy import Notion


def constant(joint: Joint, notion: Notion, *, measure: Measure | None = None) -> Result:
    """The same output for everybody: the value that is the most frequent."""
    check_request(joint, notion, measure)
    start, likeliest = time.perf_counter(), int(np.argmax(joint.p_x))
    value, names = values_of(joint.release)[likeliest], tuple(a.name for a in joint.release)
    weights = np.full((1, len(joint.p_x)), 2)
    protocol = DenseProtocol(weights, 1, (value,), joint.secret, joint.release, released=names)
    return record("constant", protocol, joint, notion, measure, start)


def identity(joint: Joint, notion: Notion, *, measure: Measure | None = None) -> Result:
    """x as it is; its certificate says whether that keeps the promise."""
    check_request(joint, notion, measure)
    start = time.perf_counter()
    return record("identity", randomised_response(joint, math.inf), joint, notion, measure, start)
