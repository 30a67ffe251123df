"""Conditional Reporting (003, §V): lie about the secret, not about x.

Draw s̃ by randomised response on s with weight E = e^α. If s̃ = s say x, else draw from p(· | s̃):

    Q[y | s, x] = ( E 1[y = x] + Σ_{s' ≠ s} p(y|s') ) / (E + c − 1)

It reads the secret. For LIP and LDP its level rises from 0 at α = 0; for SRLIP its least level may be above 0.
Secrets that never occur are nobody's s̃; a column for one is the output distribution.
"""

from __future__ import annotations

import math
import time

import numpy as np

from trechter.measures import Measure
from trechter.mechanisms.calibration import Array, Blend, calibrated
from trechter.mechanisms.matrices import LEAST, check_size, dense
from trechter.mechanisms.record import record
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.letters import values_of
from trechter.model.result import Result
from trechter.optimal.design import check_request
from trechter.privacy import Notion


def conditional_reporting(joint: Joint, notion: Notion, *, measure: Measure | None = None) -> Result:
    """Conditional Reporting at the largest α that keeps the promise."""
    check_request(joint, notion, measure)
    start, (c, a) = time.perf_counter(), joint.exact.shape
    check_size(a, c * a, "Conditional Reporting")
    blend = Blend.of(joint, notion, "sx", lambda F: _products(F, joint), lambda k: lying(joint, k))
    protocol, stats = calibrated("conditional reporting", blend, joint, notion)
    return record("conditional-reporting", protocol, joint, notion, measure, start, **stats)


def lying(joint: Joint, k: float) -> DenseProtocol:
    """Conditional Reporting for any k = e^α − 1; at k = 0, where it is perfectly private for LIP, in exact proportions."""
    if k == 0:
        return _exactly(joint)
    c, a = joint.exact.shape
    occurring = joint.p_s > 0
    given, whole = joint.p[occurring] / joint.p_s[occurring, None], given_by_all(joint)
    lie = 1 / (k + len(given))
    columns = np.repeat(((1 - lie * len(given)) * joint.p_x + lie * whole)[:, None, None], c, axis=1).repeat(a, axis=2)
    truth = 1 - lie * (len(given) - 1)
    columns[:, occurring] = lie * (whole - given).T[:, :, None] + truth * np.eye(a)[:, None]
    return dense(columns.reshape(a, c * a), joint, "sx")


def given_by_all(joint: Joint) -> Array:
    """Σ_s p(x|s), over the secrets that occur."""
    occurring = joint.p_s > 0
    return np.asarray((joint.p[occurring] / joint.p_s[occurring, None]).sum(axis=0))


def _products(conditions: Array, joint: Joint) -> tuple[Array, Array]:
    """Conditions against 1[y = x], and against 1[y = x] + Σ_{s' ≠ s} p(y|s')."""
    occurring = joint.p_s > 0
    table = conditions.reshape(-1, *joint.p.shape)[:, occurring]
    given, same = joint.p[occurring] / joint.p_s[occurring, None], table.sum(axis=1)
    return same, same + given_by_all(joint) - table.sum(axis=2) @ given


def _exactly(joint: Joint) -> DenseProtocol:
    """k = 0 in integers: every row is a multiple of a ray, so that equalities between secrets are not rounded away."""
    counts = joint.exact.astype(object)
    (c, a), sums = counts.shape, counts.sum(axis=1)
    occurring = sums > 0
    common = math.lcm(*sums[occurring].tolist())
    given = counts[occurring] * (common // sums[occurring])[:, None]
    whole, same = given.sum(axis=0), np.eye(a, dtype=int).astype(object) * common
    rays = np.repeat(whole[:, None, None], c, axis=1).repeat(a, axis=2)
    rays[:, occurring] = (whole - given).T[:, :, None] + same[:, None]
    weights, bits, total = rays.reshape(a, c * a), LEAST + int(common * len(given)).bit_length(), common * len(given)
    weights = weights * ((1 << bits) // total)
    weights[0] += (1 << bits) % total  # all columns lack the same, so this keeps their equalities
    names = tuple(attribute.name for attribute in joint.release)
    return DenseProtocol(weights, bits, values_of(joint.release), joint.secret, joint.release, "sx", names)
