"""Slabs: cones that bound one linear function of the posterior from above, from below, or both.

With `d_k = A_k / p` a condition reads Σ_x v_x d_k(x) ≤ 0 for the posterior v of an output. All conditions together are a slab
iff each d_k is an affine function of one r: then Σ v_x r_x has a least upper bound hi and a greatest lower bound lo, and
only the two conditions that give them matter. A secret of two values makes LDP and LIP slabs (r = P(S=1|x)); one condition
alone is a slab, whatever it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.errors import SolverError
from trechter.geometry.cone import Array, Cone

AFFINE = 1e-7  # how far d_k may be from affine when its largest value is 1: rounding where a secret value is rare
LEAST = 1e-200  # the least distance of a letter that is strictly inside
INSIDE = 1e-14  # a letter that is outside by less, when the farthest is at distance 1, is inside


@dataclass(frozen=True, eq=False)
class Slab:
    """How far each letter is beyond hi (`upper`) and below lo (`lower`), largest distance 1; negative is inside.

    A bound that is absent is −1 everywhere. `conditions` are the rows of the cone that the bounds come from.
    """

    upper: Array
    lower: Array
    conditions: tuple[int | None, ...]

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which letters obey both bounds by themselves."""
        return (self.upper <= 0) & (self.lower <= 0)

    @classmethod
    def of(cls, cone: Cone, masses: Array) -> Slab | None:
        """The slab that a cone is, or None."""
        inside = 0.0 if cone.exact else INSIDE
        d = np.asarray(cone.A, np.float64) / masses
        size = np.abs(d).max(axis=1, initial=0)
        alive = np.flatnonzero((d > inside * size[:, None]).any(axis=1))
        if len(alive) == 0:
            return cls(np.full(len(masses), -1.0), np.full(len(masses), -1.0), (None, None))
        d = d[alive] / size[alive, None]
        if np.any(d @ masses > AFFINE * (np.abs(d) @ masses)):
            raise SolverError("the constant row is outside the cone: no protocol obeys it; a privacy notion always allows it")
        affine = _affine(d)
        if affine is None or (cone.exact and not _one_equation(cone.A[alive])):
            return None
        return cls._tightest(d, *affine, alive, inside)

    @classmethod
    def _tightest(cls, d: Array, slope: Array, bound: Array, alive: NDArray[np.intp], inside: float) -> Slab:
        """The least upper bound and the greatest lower one.

        The lower distances are capped by those of the opposite of the upper condition: where both bounds are one up to
        rounding, rounding would otherwise let both be tight at a vertex, which would then name three letters.
        """
        above, below = np.flatnonzero(slope > 0), np.flatnonzero(slope < 0)
        upper = lower = np.full(d.shape[1], -1.0)
        top = bottom = None
        if len(above):
            top = int(above[np.argmin(bound[above])])
            upper = _relaxed(d[top], inside)
        if len(below):
            bottom = int(below[np.argmax(bound[below])])
            opposite = np.inf if top is None else slope[bottom] / slope[top] * upper
            lower = _relaxed(np.minimum(d[bottom], opposite), inside)
        return cls(upper, lower, tuple(None if k is None else int(alive[k]) for k in (top, bottom)))


def _affine(d: Array) -> tuple[Array, Array] | None:
    """Slopes of the rows of d as functions of one r, and the r where each is 0; None if they are no such functions."""
    r = d[np.argmax(np.ptp(d, axis=1))]
    first, last = np.argmin(r), np.argmax(r)
    slope = (d[:, last] - d[:, first]) / max(r[last] - r[first], LEAST)
    shift = d[:, first] - slope * r[first]
    if np.abs(d - slope[:, None] * r - shift[:, None]).max() > AFFINE or (np.abs(slope) < AFFINE).any():
        return None
    return slope, -shift / slope


def _one_equation(A: NDArray[Any]) -> bool:
    """Whether exact conditions are all multiples of one: then they are two opposite bounds that are one (ε = 0)."""
    x = int(np.argmax(A[0] != 0))
    return all(bool(np.all(row * A[0, x] == row[x] * A[0])) for row in A[1:])


def _relaxed(d: Array, inside: float) -> Array:
    """A slightly wider bound: letters that are outside by float noise are inside, and no distance is subnormal."""
    return np.where(d > inside, d, np.where(d >= 0, 0, np.minimum(d, -LEAST)))
