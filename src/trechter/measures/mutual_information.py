"""Mutual information I(X;Y) = Σ_y Σ_x p_x Q[y,x] ln( Q[y,x] / P(y) ), in nats; and I(T;Y) for a task column T.

With weights ω_x ≥ 0 each value counts as much as it is wanted: Σ_x ω_x p_x Σ_y Q[y,x] ln( Q[y,x] / P(y) ), an average of
the divergences D(P(Y|x) ‖ P(Y)). A weight scales its target, since ω v ln(v/p) = ωv ln(ωv / ωp).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trechter.alphabet.attribute import shorten
from trechter.errors import JointError, RequestError
from trechter.measures.entropic import Entropic
from trechter.measures.measure import Array, Curve, Information, released
from trechter.model.joint import Joint
from trechter.model.letters import letters, values_of
from trechter.model.outputs import show
from trechter.model.protocol import Protocol, check_pair

Weights = Mapping[Any, float] | Sequence[float] | Array


@dataclass(frozen=True)
class Scaled:
    """A curve times a factor: what is proved for the plain curve does not hold for it."""

    curve: Curve
    factor: float

    def value(self, v: Array, prior: Array) -> Array:
        """factor · g(v)."""
        return self.factor * self.curve.value(v, prior)

    def slope(self, v: Array, prior: Array) -> Array:
        """factor · g'(v)."""
        return self.factor * self.curve.slope(v, prior)


class MutualInformation(Information):
    """I(X;Y): what the release says about X; with weights, one number ≥ 0 for each value, what it says where it matters."""

    symbol, unit = "I(X;Y)", "nats"

    def __init__(self, weights: Weights | None = None) -> None:
        self.weights, self._largest = weights, 1.0
        if weights is not None:
            given = weights.values() if isinstance(weights, Mapping) else weights
            self._largest = float(_checked(given).max())
        self.symbol = "I(X;Y)" if weights is None else "weighted I(X;Y)"
        self.curve = Entropic() if weights is None else Scaled(Entropic(), self._largest)

    def targets(self, joint: Joint, reads: str) -> Array | None:
        """The target is x: the letter itself, or the x of the pair that is read; scaled to a weight of at most 1."""
        if self.weights is None:
            return released(joint, reads)
        ordered = _ordered(self.weights, joint) / self._largest
        return np.asarray(ordered[:, None] * letters(joint, reads).protected("x"))

    def __repr__(self) -> str:
        return "MutualInformation()" if self.weights is None else f"MutualInformation(weights={self.weights!r})"


class TaskInformation(Information):
    """I(T;Y): what the release says about a column T that readers care about."""

    symbol, unit = "I(T;Y)", "nats"
    curve = Entropic()

    def targets(self, joint: Joint, reads: str) -> Array | None:
        """p(t, letter)."""
        if joint.task is None:
            raise JointError("the joint has no task column; name one with task=…")
        given = joint.p_task if reads == "sx" else joint.p_task.sum(axis=0, keepdims=True)
        return given.reshape(-1, len(joint.task)).T


def mutual_information(joint: Joint, protocol: Protocol) -> float:
    """I(X;Y) in nats."""
    check_pair(protocol, joint)
    return MutualInformation().utility(joint, protocol)


def _checked(given: Any) -> Array:
    """Weights as floats, finite and ≥ 0, at least one above 0."""
    try:
        weights = np.array([float(w) for w in given])
    except (TypeError, ValueError):
        raise RequestError(f"weights must be numbers ≥ 0, one for each value of X, got {given!r}") from None
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    if len(wrong):
        raise RequestError(f"a weight of {wrong[0]:g} makes no sense; weights are finite numbers ≥ 0, 0 for what nobody needs")
    if not weights.any():
        raise RequestError("all weights are 0, so every release is worth nothing; give at least one value a weight above 0")
    return weights


def _ordered(weights: Weights, joint: Joint) -> Array:
    """One weight for each value of X, in order."""
    values = values_of(joint.release)
    if not isinstance(weights, Mapping):
        if len(weights) != len(values):
            raise RequestError(f"{len(weights)} weights for {len(values)} values of X; each value needs one, in order")
        return np.asarray(weights, float)
    known = shorten([show(v) for v in values])
    unknown, missing = set(weights) - set(values), [v for v in values if v not in weights]
    if unknown:
        raise RequestError(f"a weight is given for {unknown.pop()!r}, which is no value of X; its values are {known}")
    if missing:
        raise RequestError(f"no weight is given for {show(missing[0])!r}; name every value, 0 for what nobody needs")
    return np.array([float(weights[value]) for value in values])
