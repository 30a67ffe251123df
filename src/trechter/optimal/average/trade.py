"""What is traded: information about the data X for information about the secret S, both on average over the outputs.

    privacy funnel             maximise I(X;Y)   subject to   I(S;Y) ≤ M
    information bottleneck     minimise I(X;Y)   subject to   I(S;Y) ≥ R

An output is a posterior v = P(X|Y=y), and P(S|Y=y) = L v with L[s, x] = p(s|x). With q_y = P(Y=y)

    I(X;Y) = Σ_y q_y D(v_y ‖ p_X),    I(S;Y) = Σ_y q_y D(L v_y ‖ p_S),    Σ_y q_y v_y = p_X,

so both problems are linear in q over the columns v, with one row more than the row-cone problem. With σ = 1 for the funnel and
σ = −1 for the bottleneck they are one: maximise Σ q σD(v‖p_X) subject to Σ q σD(Lv‖p_S) ≤ σM. For any prices λ of the
letters and β ≥ 0 of the limit

    OPT ≤ λ·p_X + βσM + max_v g(v),    g(v) = σ(D(v‖p_X) − βD(Lv‖p_S)) − λ·v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trechter.measures.entropic import Entropic
from trechter.model.joint import Joint
from trechter.optimal.polytope import NOISE

Array = np.typing.NDArray[np.float64]
CURVE = Entropic()


def divergence(v: Array, prior: Array) -> Array:
    """D(v ‖ prior) along the last axis."""
    return np.asarray(CURVE.value(v, prior).sum(axis=-1))


@dataclass(frozen=True, eq=False)
class Prices:
    """What the letters and the limit cost: λ of a posterior's coordinates, β ≥ 0."""

    letters: Array
    limit: float


@dataclass(frozen=True, eq=False)
class Trade:
    """p_X, p_S and L over letters and secrets of positive mass; `sign` is σ, `limit` is M or R."""

    masses: Array
    prior: Array
    links: Array
    limit: float
    sign: int

    @classmethod
    def of(cls, joint: Joint, limit: float, sign: int) -> Trade:
        """The trade for a joint."""
        p = joint.p[joint.p_s > 0][:, joint.p_x > 0]
        masses = joint.p_x[joint.p_x > 0]
        return cls(masses, joint.p_s[joint.p_s > 0], p / p.sum(axis=0), limit, sign)

    @property
    def letters(self) -> int:
        """The number of letters."""
        return len(self.masses)

    def seen(self, posteriors: Array) -> Array:
        """P(S|Y=y) of posteriors of X (k × n)."""
        return np.asarray(posteriors @ self.links.T)

    def said(self, posteriors: Array) -> Array:
        """D(v ‖ p_X): what each output says of X."""
        return divergence(posteriors, self.masses)

    def leaked(self, posteriors: Array) -> Array:
        """D(Lv ‖ p_S): what each output says of S."""
        return divergence(self.seen(posteriors), self.prior)

    def worth(self, posteriors: Array, prices: Prices) -> Array:
        """g(v): what each column is worth above its price."""
        gain = self.said(posteriors) - prices.limit * self.leaked(posteriors)
        return np.asarray(self.sign * gain - posteriors @ prices.letters)

    def base(self, prices: Prices) -> float:
        """λ·p_X + βσM, rounded up: with the most that any column is worth, a bound on every protocol."""
        terms = np.append(prices.letters * self.masses, prices.limit * self.sign * self.limit)
        return float(terms.sum() + NOISE * (1 + np.abs(terms).sum()))

    @property
    def all_said(self) -> float:
        """H(X)."""
        return float(self.masses @ self.said(np.eye(self.letters)))

    @property
    def all_leaked(self) -> float:
        """I(S;X)."""
        return float(self.masses @ self.leaked(np.eye(self.letters)))

    @property
    def easy(self) -> float:
        """A bound without any search: I(X;Y) = I(S;Y) + I(X;Y|S), and the last is between 0 and H(X|S)."""
        spare = max(0.0, self.all_said - self.all_leaked)
        return min(self.limit + spare, self.all_said) if self.sign > 0 else -self.limit

    def tightened(self, margin: float) -> float:
        """σ times the limit less a share of it (funnel), or of what is left up to I(S;X) (bottleneck)."""
        if self.sign > 0:
            return self.limit * (1 - margin)
        return -self.limit - margin * max(0.0, self.all_leaked - self.limit)
