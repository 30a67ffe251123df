"""Slabs: cones that bound one linear function of the posterior from above, from below, or both.

With `d_k = A_k / p` a condition reads Σ_x v_x d_k(x) ≤ 0 for the posterior v of an output. All conditions together are a slab
iff each d_k is an affine function of one r: then Σ v_x r_x has a least upper bound hi and a greatest lower bound lo, and
only the two conditions that give them matter. A secret of two values makes LDP and LIP slabs (r = P(S=1|x)); one condition
alone is a slab, whatever it is.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    conditions: tuple[int | None, int | None]

    @classmethod
    def of(cls, cone: Cone, masses: Array) -> Slab | None:
        """The slab that a cone is, or None."""
        d = np.asarray(cone.A, np.float64) / masses
        size = np.abs(d).max(axis=1, initial=0)
        alive = np.flatnonzero((d > INSIDE * size[:, None]).any(axis=1))
        d = d[alive] / size[alive, None]
        if len(alive) == 0:
            return cls(np.full(len(masses), -1.0), np.full(len(masses), -1.0), (None, None))
        if np.any(d @ masses > AFFINE * masses.sum()):
            raise SolverError("the constant row is outside the cone: no protocol obeys it; a privacy notion always allows it")
        spread = np.ptp(d, axis=1)
        r = d[np.argmax(spread)]
        centred = r - masses @ r / masses.sum()
        variance = float(masses @ centred**2)
        slope = d @ (masses * centred) / variance if variance > 0 else np.zeros(len(d))
        shift = (d - slope[:, None] * r) @ masses / masses.sum()
        if np.abs(d - slope[:, None] * r - shift[:, None]).max() > AFFINE or (np.abs(slope) < AFFINE).any():
            return None
        bound = -shift / slope
        above, below = np.flatnonzero(slope > 0), np.flatnonzero(slope < 0)
        top = int(above[np.argmin(bound[above])]) if len(above) else None
        bottom = int(below[np.argmax(bound[below])]) if len(below) else None
        upper, lower = (np.full(len(r), -1.0) if k is None else _relaxed(d[k]) for k in (top, bottom))
        return cls(upper, lower, (_entry(alive, top), _entry(alive, bottom)))


def _entry(alive: NDArray[np.intp], k: int | None) -> int | None:
    return None if k is None else int(alive[k])


def _relaxed(d: Array) -> Array:
    """A slightly wider bound: letters that are outside by float noise are inside, and no distance is subnormal."""
    return np.where(d > INSIDE, d, np.where(d >= 0, 0, np.minimum(d, -LEAST)))
