"""The problem that every solver is given, and the record that it gives back.

    maximise Σ_y φ(w_y)   subject to   w_y ∈ K,  Σ_y w_y = 1      (the row-cone problem)

with `φ(w) = q Σ_t g_t(u_t/q)`, `u = T w`, `q = p·w`: convex and positively homogeneous. `T[t, i]` is the joint
probability of target t and letter i, so u_t/q is the posterior of t given the output; mutual information has T = diag(p)
and `g_t(v) = v ln(v / p_t)`. Letters of probability zero are left out before a problem is made.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.errors import RequestError
from trechter.geometry import Cone
from trechter.geometry.cone import Array
from trechter.measures.measure import Curve, phi
from trechter.optimal.pairrows import PairRows

LARGE = 200_000  # entries of a matrix; beyond that rows that name few letters stay sparse, which is faster from there on


@dataclass(frozen=True, eq=False)
class Problem:
    """A cone and a measure over n letters of positive mass."""

    cone: Cone
    masses: Array
    curve: Curve
    targets: Array | None = None  # T; None is diag(masses): the target is the letter itself
    hint: Array | None = None  # rows of a good protocol for a cone that is much the same
    parts: tuple[NDArray[np.intp], ...] = ()  # for each of several attributes its value for every letter

    @property
    def prior(self) -> Array:
        """The masses of the targets."""
        return self.masses if self.targets is None else self.targets.sum(axis=1)

    def phi(self, rows: Array) -> Array:
        """φ of each row (k × n)."""
        return phi(rows, self.masses, self.targets, self.curve)

    def groups(self, rows: Array) -> NDArray[np.intp]:
        """Rows that say the same of the targets, to ten digits: adding them up loses nothing and is always private."""
        u = rows * self.masses if self.targets is None else rows @ self.targets.T
        q = (rows @ self.masses)[:, None]
        v = np.round(np.divide(u, q, out=np.zeros_like(u), where=q > 0), 10)
        return np.unique(v, axis=0, return_inverse=True)[1].ravel()


@dataclass(frozen=True, eq=False)
class Budget:
    """When to stop, and whom to tell; whoever sets `stopped` wants what there is now."""

    gap: float = 1e-6
    seconds: float | None = None
    progress: Callable[[dict[str, Any]], None] | None = None
    start: float = field(default_factory=time.monotonic)
    stopped: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        if isinstance(self.gap, bool) or not isinstance(self.gap, int | float) or not self.gap >= 0:
            raise RequestError(f"gap={self.gap!r} must be a number ≥ 0, in nats")
        limit = self.seconds
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0):
            raise RequestError(f"time_limit={limit!r} must be a number of seconds ≥ 0, or None")

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    @property
    def over(self) -> bool:
        """Whether the time is up, or somebody wants to stop."""
        return self.stopped.is_set() or (self.seconds is not None and self.elapsed > self.seconds)

    @property
    def halt(self) -> dict[str, str]:
        """Why the solver had to stop, for the statistics; empty if it did not."""
        if not self.over:
            return {}
        return {"stopped": "interrupted" if self.stopped.is_set() else "time limit"}

    def check(self) -> None:
        """Raise TimeoutError when it is time to stop."""
        if self.over:
            raise TimeoutError


@dataclass(frozen=True, eq=False)
class Solution:
    """Rows of the best protocol found (Σ rows = 1, each in K up to float noise) and a bound on what any could reach.

    Rows whose matrix would be large are given as `pairs`, and `rows` is empty. They need no `groups`: rows that say the same
    of their letters name the same two, and delivery adds them up.
    """

    rows: Array
    bound: float
    solver: str
    stats: dict[str, Any] = field(default_factory=dict)
    rays: NDArray[np.object_] | None = (
        None  # exact mode: integer rays r_k, rows = scale_k r_k / max r_k; of pairs on their letters
    )
    scale: Array | None = None
    pairs: PairRows | None = None
    readings: NDArray[np.intp] | None = None  # what each row is to be taken for, where rows are for readings
