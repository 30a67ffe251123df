"""The curve of mutual information, and entropy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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


def entropy(p: Array) -> float:
    """H(p) in nats."""
    kept = p[p > 0]
    return float(-(kept * np.log(kept)).sum())
