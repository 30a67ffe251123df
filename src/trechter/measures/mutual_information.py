"""Mutual information I(X;Y) = Σ_y Σ_x p_x Q[y,x] ln( Q[y,x] / P(y) ), in nats; and I(T;Y) for a task column T."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trechter.errors import JointError
from trechter.measures.measure import Measure
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.model.protocol import Protocol

Array = NDArray[np.float64]


class Entropic:
    """g(v) = v ln(v / prior): the curve of mutual information."""

    def value(self, v: Array, prior: Array) -> Array:
        """g(v); 0 at v = 0."""
        return v * np.log(np.divide(v, prior, out=np.ones_like(v), where=v > 0))

    def slope(self, v: Array, prior: Array) -> Array:
        """g'(v); -∞ at v = 0."""
        with np.errstate(divide="ignore"):
            return 1 + np.log(np.divide(v, prior, out=np.zeros_like(v), where=v > 0))


class MutualInformation(Measure):
    """I(X;Y): what the release says about X."""

    curve = Entropic()

    def targets(self, joint: Joint, reads: str) -> Array | None:
        """The target is x: the letter itself, or the x of the pair that is read."""
        if reads == "x":
            return None
        seen = letters(joint, reads)
        return np.asarray(seen.protected("x"))


class TaskInformation(Measure):
    """I(T;Y): what the release says about a column T that readers care about."""

    curve = Entropic()

    def targets(self, joint: Joint, reads: str) -> Array | None:
        """p(t, letter)."""
        if joint.task is None:
            raise JointError("the joint has no task column; name one with task=…")
        given = joint.p_task if reads == "sx" else joint.p_task.sum(axis=0, keepdims=True)
        return given.reshape(-1, len(joint.task)).T


def mutual_information(joint: Joint, protocol: Protocol) -> float:
    """I(X;Y) in nats."""
    return MutualInformation().utility(joint, protocol)


def entropy(p: Array) -> float:
    """H(p) in nats."""
    kept = p[p > 0]
    return float(-(kept * np.log(kept)).sum())
