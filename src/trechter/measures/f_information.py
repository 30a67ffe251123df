"""f-informations I_f(X;Y) = Σ_y P(y) Σ_x p_x f( Q[y,x] / P(y) ) for convex f with f(1) = 0: how far outputs move posteriors.

With `v = P(x|y)` the ratio is v / p_x, so the curve is `g(v) = p_x f(v / p_x)`. All are 0 iff Y is independent of X, fall
when outputs are merged or processed, and are largest when x itself is published.
"""

from __future__ import annotations

import numpy as np

from trechter.measures.measure import Array, Information, released
from trechter.model.joint import Joint


class Quadratic:
    """f(t) = (t − 1)², g(v) = (v − p)² / p."""

    def value(self, v: Array, prior: Array) -> Array:
        """g(v)."""
        return (v - prior) * self._rise(v, prior)

    def slope(self, v: Array, prior: Array) -> Array:
        """2 (v − p) / p."""
        return 2 * self._rise(v, prior)

    def _rise(self, v: Array, prior: Array) -> Array:
        return np.divide(v - prior, prior, out=np.zeros_like(v), where=prior > 0)


class Absolute:
    """f(t) = |t − 1| / 2, g(v) = |v − p| / 2."""

    def value(self, v: Array, prior: Array) -> Array:
        """g(v)."""
        return np.abs(v - prior) / 2

    def slope(self, v: Array, prior: Array) -> Array:
        """±½; 0 at the kink v = p, where any slope between them supports g."""
        return np.sign(v - prior) / 2


class Roots:
    """f(t) = (√t − 1)² / 2, g(v) = (√v − √p)² / 2."""

    def value(self, v: Array, prior: Array) -> Array:
        """g(v)."""
        return (np.sqrt(np.maximum(v, 0)) - np.sqrt(prior)) ** 2 / 2

    def slope(self, v: Array, prior: Array) -> Array:
        """(1 − √(p / v)) / 2; −∞ at v = 0."""
        with np.errstate(over="ignore"):
            return (1 - np.sqrt(np.divide(prior, v, out=np.full_like(v, np.inf), where=v > 0))) / 2


class FInformation(Information):
    """What the release says about X, as a curve weighs it."""

    def targets(self, joint: Joint, reads: str) -> Array | None:
        """The target is x."""
        return released(joint, reads)


class ChiSquareInformation(FInformation):
    """χ²(X;Y) = Σ_y Σ_x P(y) (P(x|y) − p_x)² / p_x; it counts rare values as much as common ones: x itself says a − 1."""

    symbol = "χ²(X;Y)"
    curve = Quadratic()


class TotalVariationInformation(FInformation):
    """TV(X;Y) = ½ Σ_y Σ_x P(y) |P(x|y) − p_x|: the probability mass of x that an output moves, on average."""

    symbol = "TV(X;Y)"
    curve = Absolute()


class HellingerInformation(FInformation):
    """H²(X;Y) = ½ Σ_y Σ_x P(y) (√P(x|y) − √p_x)² = 1 − Σ_y P(y) Σ_x √(p_x P(x|y)): between 0 and 1."""

    symbol = "H²(X;Y)"
    curve = Roots()
