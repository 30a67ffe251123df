"""Imputation: for each released row a value of X drawn from P(x | y), several times over.

A draw is a guess, and one file of guesses treated as data would look surer than it is. So there are several copies, each from
its own draw of the shares p from their posterior (Rubin's multiple imputation): where they differ, nothing is known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trechter.estimation.posterior import PRIOR, given, posterior

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

APART = 20  # draws of p between those of two copies, so that they are nearly independent


def impute(matrix: Array, outputs: Codes, copies: int, random: np.random.Generator) -> list[Codes]:
    """For each copy the letter of each row, whose output is given."""
    counts = np.bincount(outputs, minlength=len(matrix))
    shares = posterior(matrix, counts, copies * APART, PRIOR, random)[::APART]
    return [_drawn(given(matrix, p), outputs, random) for p in shares]


def _drawn(odds: Array, outputs: Codes, random: np.random.Generator) -> Codes:
    """A letter for each row, from the odds of its output."""
    steps = np.minimum(np.cumsum(odds, axis=1), 1)
    steps[:, -1] = 1
    places = (np.arange(len(odds))[:, None] + steps).ravel()
    found = np.searchsorted(places, outputs + random.random(len(outputs)), side="right")
    return np.asarray(np.minimum(found - outputs * odds.shape[1], odds.shape[1] - 1))
