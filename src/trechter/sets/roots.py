"""Roots of increasing functions, many at once: Newton's steps as long as they get somewhere, halving of the bracket else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEPS = 200
CLOSE = 1e-11  # a value, or a bracket, that is as good as none


def root(function: Callable[[Array], tuple[Array, Array]], low: Array, high: Array, start: Array) -> Array:
    """x with value 0 of an increasing function that gives (value, slope); the end of the bracket if there is none inside."""
    x, last = np.clip(start, low, high), np.full(len(start), np.inf)
    for _ in range(STEPS):
        value, slope = function(x)
        low, high = np.where(value < 0, x, low), np.where(value > 0, x, high)
        size = np.abs(value)
        open_ = (size > CLOSE) & (high - low > CLOSE)
        if not np.any(open_):
            break
        with np.errstate(all="ignore"):
            new = x - value / slope
        good = (new > low) & (new < high) & (size <= last / 2)
        x, last = np.where(open_, np.where(good, new, (low + high) / 2), x), size
    return x
