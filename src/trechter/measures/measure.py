"""A measure of utility: what a release is good for.

An information is Σ_y φ(w_y) over the rows of a protocol, φ convex and positively homogeneous:
`φ(w) = q Σ_t g(v_t)` with `u = T w`, `q = p·w` and `v = u/q`: T[t, i] = p(t, letter i), so v is the posterior of the target
given the output, and g is a convex curve, one for each f-information (mutual information: g(v) = v ln(v / p_t)).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar
from typing import Protocol as Shape

import numpy as np
from numpy.typing import NDArray

from trechter.measures.entropic import Entropic
from trechter.measures.unary import unary_information
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.model.protocol import Protocol
from trechter.model.sparse import SparseProtocol
from trechter.model.sparse_weights import SparseWeights
from trechter.model.unary import UnaryProtocol

Array = NDArray[np.float64]


class Curve(Shape):
    """A convex function g(v) of a posterior v for targets of given prior masses, which broadcast against v.

    v may be 0, and below it by float noise; a target of prior mass 0 has v = 0 and is worth nothing.
    """

    def value(self, v: Array, prior: Array) -> Array:
        """g(v)."""

    def slope(self, v: Array, prior: Array) -> Array:
        """g'(v); −∞ at v = 0 where g is infinitely steep."""


class Measure(ABC):
    """What a release is good for."""

    symbol: str
    unit: str = ""
    less_is_better: ClassVar[bool] = False

    @abstractmethod
    def utility(self, joint: Joint, protocol: Protocol) -> float:
        """The measure of a protocol."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Information(Measure):
    """What a release says about a target: never negative, and more is better."""

    curve: Curve

    @abstractmethod
    def targets(self, joint: Joint, reads: str) -> Array | None:
        """T, or None where the target is the letter itself (T = diag p)."""

    def utility(self, joint: Joint, protocol: Protocol) -> float:
        """Σ_y φ(w_y); what is below 0 is float noise."""
        return max(0.0, total(joint, protocol, self.targets(joint, protocol.reads), self.curve))


def released(joint: Joint, reads: str) -> Array | None:
    """T where the target is x: the letter itself, or the x of the pair that is read."""
    if reads == "x":
        return None
    return np.asarray(letters(joint, reads).protected("x"))


def total(joint: Joint, protocol: Protocol, targets: Array | None, curve: Curve) -> float:
    """Σ_y φ(w_y); of an implicit protocol without a list of the outputs, for the curve of mutual information."""
    if isinstance(protocol, UnaryProtocol) and isinstance(curve, Entropic):
        return unary_information(protocol, joint.p_x, targets)
    return math.fsum(worth(joint, protocol, targets, curve))  # the same in any order of outputs


def worth(joint: Joint, protocol: Protocol, targets: Array | None, curve: Curve) -> Array:
    """φ of each output of a protocol."""
    masses = letters(joint, protocol.reads).masses
    if not isinstance(protocol, SparseProtocol):
        return phi(protocol.matrix, masses, targets, curve)
    if targets is None:
        return _phi_sparse(protocol.sparse, masses, curve)
    q, u = protocol.products(masses[None])[0], protocol.products(targets).T
    return _phi(q, u, targets.sum(axis=1), curve)


def phi(rows: Array, masses: Array, targets: Array | None, curve: Curve) -> Array:
    """φ of each row."""
    q = rows @ masses
    u = rows * masses if targets is None else rows @ targets.T
    return _phi(q, u, masses if targets is None else targets.sum(axis=1), curve)


def _phi(q: Array, u: Array, prior: Array, curve: Curve) -> Array:
    v = np.divide(u, q[:, None], out=np.zeros_like(u), where=q[:, None] > 0)
    return np.asarray(q * curve.value(v, prior).sum(axis=1))


def _phi_sparse(weights: SparseWeights, masses: Array, curve: Curve) -> Array:
    """φ of each output where the target is the letter, in O(entries + outputs).

    All letters that an output does not name have one ratio v / p, that of the background. The curves of informations are
    g(v) = p f(v / p), so such letters together are worth the curve at the sum of their v for the sum of their p.
    """
    whole, y, p = float(1 << weights.bits), weights.output, masses[weights.letter]
    q, base = weights.products(masses[None])[0], weights.background / whole

    def worth_of(prior: Array, share: Array, total: Array) -> Array:
        v = np.divide(prior * share, total, out=np.zeros_like(share), where=total > 0)
        return curve.value(v, prior)

    named = np.bincount(y, worth_of(p, weights.weight / whole + base[y], q[y]), weights.outputs)
    rest = np.maximum(masses[weights.named].sum() - np.bincount(y, p, weights.outputs), 0)
    alone = np.full(len(q), masses[~weights.named].sum())
    return np.asarray(q * (named + worth_of(rest, base, q) + worth_of(alone, base * weights.times, q)))
