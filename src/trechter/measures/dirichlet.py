"""The prior of poster 002's metrics: the distribution P of X is itself drawn, P ~ Dirichlet(β), β₀ = Σ β_x.

    m_x = E P_x = β_x / β₀                                   H(X|P) = ψ(β₀ + 1) − Σ m_x ψ(β_x + 1)
    E ln P_x = ψ(β_x) − ψ(β₀)                                h(P) = Σ ln Γ(β_x) − ln Γ(β₀) − Σ (β_x − 1) E ln P_x

h(P) is the differential entropy of a − 1 coordinates of P. β = 1 is the uniform prior, β = ½ that of Jeffreys.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from trechter.alphabet.attribute import shorten
from trechter.errors import ProtocolError, RequestError, expect
from trechter.model.letters import values_of
from trechter.model.outputs import show
from trechter.model.protocol import EXAMPLE, Protocol

Array = NDArray[np.float64]
Prior = float | Sequence[float] | Mapping[Any, float] | Array
LEAST, MOST = 0.1, 1e6  # of a parameter: with less, shares of P are no floats; with more, nothing is left to learn


@dataclass(frozen=True, eq=False)
class Dirichlet:
    """Dirichlet(β) on the distributions over X."""

    beta: Array

    @classmethod
    def of(cls, protocol: Protocol, prior: Prior) -> Dirichlet:
        """The prior for what a protocol reads: one β for all values, or one for each of them."""
        expect(protocol, Protocol, EXAMPLE)
        if protocol.reads != "x":
            raise ProtocolError("the metrics of a prior on P(X) need a protocol that reads x; this one reads the secret too")
        values = values_of(protocol.release)
        if len(values) < 2:
            raise ProtocolError("X has one value only, so there is nothing to hide and nothing to learn")
        return cls(_parameters(prior, values))

    @property
    def a(self) -> int:
        """How many values X has."""
        return len(self.beta)

    @cached_property
    def total(self) -> float:
        """β₀."""
        return math.fsum(self.beta)

    @property
    def mean(self) -> Array:
        """m = E P."""
        return np.asarray(self.beta / self.total)

    @property
    def log_mean(self) -> Array:
        """E ln P_x."""
        return digamma(self.beta) - digamma(self.total)

    @property
    def entropy(self) -> float:
        """H(X|P) in nats."""
        return float(digamma(self.total + 1) - self.mean @ digamma(self.beta + 1))

    @property
    def differential_entropy(self) -> float:
        """h(P) in nats."""
        gammas = math.fsum(map(math.lgamma, self.beta)) - math.lgamma(self.total)
        return gammas - float((self.beta - 1) @ self.log_mean)

    def draw(self, random: np.random.Generator, times: int) -> Array:
        """So many draws of P, one a row; no share is exactly 0."""
        return np.maximum(random.dirichlet(self.beta, times), np.finfo(float).tiny)


def digamma(x: Any) -> Array:
    """ψ(x), to the last digit; each value is computed once."""
    known, where = np.unique(np.asarray(x, np.float64), return_inverse=True)
    return np.array([float(flint.arb(float(v)).digamma()) for v in known])[where].reshape(np.shape(x))


def _parameters(prior: Prior, values: tuple[Any, ...]) -> Array:
    ordered = _ordered(prior, values)
    try:
        given = np.asarray(ordered, np.float64)
    except (TypeError, ValueError):
        raise RequestError(f"prior={prior!r:.200} is not understood; give one β > 0, or one for each value of X") from None
    if given.shape not in ((), (len(values),)):
        raise RequestError(
            f"a prior of {given.size} parameters for {len(values)} values of X; give one β, or one for each value"
        )
    wrong = given[~((given >= LEAST) & (given <= MOST))]
    if wrong.size:
        raise RequestError(
            f"a Dirichlet parameter of {wrong.flat[0]:g}; give β from {LEAST:g} to {MOST:g}, 1 for a uniform prior"
        )
    return np.array(np.broadcast_to(given, len(values)))


def _ordered(prior: Prior, values: tuple[Any, ...]) -> Any:
    if not isinstance(prior, Mapping):
        return prior
    if set(prior) != set(values):
        wrong = next(iter(set(prior) ^ set(values)))
        known = shorten([show(v) for v in values])
        raise RequestError(f"a prior by value names each value of X once; {show(wrong)!r} is wrong, the values are {known}")
    return [prior[value] for value in values]
