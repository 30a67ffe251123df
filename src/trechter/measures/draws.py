"""A mean from random draws, with its standard error, made smaller by quantities whose means are known.

If the draws f have controls g of known mean γ, then f − (g − γ)·b has the same mean for every b, and the least variance for
the b of a regression of f on g. Draws follow a seed: they keep no secret, and the same question has the same answer.
"""

from __future__ import annotations

import math

import numpy as np

from trechter.errors import RequestError
from trechter.measures.dirichlet import Array

FEWEST, MOST = 16, 10_000_000


def generator(draws: int, seed: int) -> np.random.Generator:
    """Randomness for so many draws."""
    if isinstance(draws, bool) or not isinstance(draws, int) or not FEWEST <= draws <= MOST:
        raise RequestError(f"draws={draws!r}: a mean with a standard error takes {FEWEST} draws or more, at most {MOST:,}")
    return np.random.default_rng(seed)


def controlled(found: Array, controls: Array, means: Array) -> tuple[float, float]:
    """The mean of what was found and its standard error; controls (draws, k), fewer than draws, and their k means."""
    centred = controls - means
    spread = centred - centred.mean(axis=0)
    slopes = np.linalg.lstsq(spread, found - found.mean(), rcond=None)[0]
    left = found - centred @ slopes
    free = len(found) - 1 - controls.shape[1]
    return float(left.mean()), math.sqrt(float(((left - left.mean()) ** 2).sum()) / free / len(found))
