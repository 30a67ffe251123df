"""Contenders: one file each, with the same `solve(joint, notion, seconds, gap) -> Answer`.

A contender stops by itself after `seconds` with the best that it has, or is stopped by the runner; one that can stop early
does so when it has proved its protocol to be within `gap` nats of the optimum. The clock is the runner's. What needs a
library that is not there cannot be loaded (ImportError), and the runner says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trechter as tr

NAMES = ("trechter", "pairs", "gamma", "lip_polytope", "falk_soland", "product", "grr")


@dataclass(frozen=True, eq=False)
class Answer:
    """A protocol, and what is claimed of it, in nats.

    It is one of this package's, of exact integers, or a matrix (b × a, dense or scipy's sparse) of probabilities. `trace` is
    what was known on the way: seconds, utility, bound.
    """

    protocol: Any
    utility: float
    bound: float | None
    note: str = ""
    trace: tuple[tuple[float, float, float], ...] = ()


Solve = Callable[[tr.Joint, Any, float, float], Answer]


class DoesNotApplyError(ValueError):
    """The contender is no method for this problem."""


def load(name: str) -> Solve:
    """The contender of that name; ImportError if what it needs is not installed."""
    solve: Solve = import_module(f"benchmarks.contenders.{name}").solve
    return solve


def full(rows: NDArray[np.float64], joint: tr.Joint) -> NDArray[np.float64]:
    """A protocol from float rows over the letters of positive mass: noise removed, columns summing to 1.

    Outputs that are never seen are added to the likeliest; a letter that never occurs is given their distribution.
    """
    kept = joint.p_x > 0
    rows = np.maximum(rows, 0)
    seen = rows @ joint.p_x[kept]
    seen /= seen.sum()
    rows[np.argmax(seen)] += rows[seen < 1e-12].sum(axis=0)
    rows, seen = rows[seen >= 1e-12], seen[seen >= 1e-12]
    matrix = np.repeat(seen[:, None], len(kept), axis=1)
    matrix[:, kept] = rows
    return np.asarray(matrix / matrix.sum(axis=0))
