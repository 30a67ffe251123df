"""Extreme rays of a cone {w ≥ 0 : A w ≤ 0} by double description.

Start from the orthant, whose rays are the unit vectors, and impose the conditions one by one. A condition a·w ≤ 0 keeps
the rays that obey it; each adjacent pair i outside (a·r_i > 0), j inside (a·r_j < 0) gives the new ray

    (a·r_i) r_j − (a·r_j) r_i,

which is a sum with positive weights: nothing cancels, and a residual of an earlier condition, relative to
|a||r|, is never larger in the sum than in its parts. So floats err by a few units in the last place per condition, and
`ZERO` may be small. Exact cones (int, Fraction) are done in integers, and their rays are primitive.

Two opposite conditions are an equality: after the first, the second has no ray inside and leaves the face between them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.errors import SolverError, TooLargeError
from trechter.geometry.adjacency import Check, Index, Words, adjacent, mark, orthant
from trechter.geometry.cone import Array, Cone

Matrix = NDArray[Any]
Flags = NDArray[np.bool_]

ZERO = 1e-12  # |a·r| below this share of |a||r| is zero, in floats
SAME = 1e-11  # float rays that differ by less, when the largest coordinate is 1, are one
OUTSIDE = 1e-10  # a float ray that violates a condition by more than this share of |a||r| is a failure
SAMPLE = 512  # rays that are looked at to choose the next condition


def extreme_rays(cone: Cone, limit: int | None = None, check: Check = lambda: None) -> Matrix:
    """The extreme rays (r × n), in floats with largest coordinate 1, or primitive integers if the cone is exact.

    More than `limit` rays at any stage is a TooLargeError; `check` is called now and then, and may raise to stop.
    """
    return _exact_rays(cone, limit, check) if cone.exact else _float_rays(cone, limit, check)


def _exact_rays(cone: Cone, limit: int | None, check: Check) -> Matrix:
    A = np.array([_integers(row) for row in cone.A], object).reshape(-1, cone.dimension)
    return _describe(A, np.array(np.eye(cone.dimension, dtype=int), object), limit, check)


def _integers(row: Matrix) -> list[int]:
    scale = math.lcm(*(int(value.denominator) for value in row))
    return [int(value * scale) for value in row]


def _float_rays(cone: Cone, limit: int | None, check: Check) -> Array:
    A = np.asarray(cone.A, float)
    if not np.isfinite(A).all():
        raise SolverError("a cone has a condition that is not finite; drop conditions that cannot be violated")
    A = A / _power(A, axis=1)
    column = _power(A, axis=0)
    A = A / column
    rays = _distinct(_describe(A / _power(A, axis=1), np.eye(cone.dimension), limit, check)) / column
    worst = cone.excess(rays).max(initial=0)
    if not worst <= OUTSIDE:
        raise SolverError(f"an extreme ray violates its cone by {worst:.3g}; use exact conditions (Fractions)")
    rays /= rays.max(axis=1, keepdims=True, initial=0)
    return rays


def _power(A: Array, axis: int) -> Array:
    """Powers of two near the largest entry of each row or column: dividing by them does not round."""
    scale = np.abs(A).max(axis=axis, keepdims=True, initial=0)
    power: Array = np.exp2(np.frexp(np.where(scale > 0, scale, 1))[1] - 1)
    return power


def _distinct(rays: Array) -> Array:
    """Without near-duplicates, which are neighbours in the order of a generic projection."""
    order = np.argsort(rays @ np.sqrt(np.arange(2.0, rays.shape[1] + 2)))
    same = np.abs(np.diff(rays[order], axis=0)).max(axis=1, initial=0) < SAME
    return np.delete(rays, order[1:][same], axis=0) if same.any() else rays


def _describe(A: Matrix, rays: Matrix, limit: int | None, check: Check) -> Matrix:
    """Impose the conditions A on the orthant, the one that leaves fewest rays strictly inside first."""
    n, left = A.shape[1], [k for k, row in enumerate(A) if (row > 0).any()]
    zeros, most = orthant(n, n + len(left)), math.inf if limit is None else limit
    for bit in range(n, n + len(left)):
        check()
        rays, zeros = _impose(A[left.pop(_choose(A[left], rays))], rays, zeros, bit, check, most)
        if len(rays) > most:
            raise TooLargeError(
                f"a cone has more extreme rays than the limit of {limit}: at least {len(rays)} with {len(left)} conditions "
                "still to impose; bin or merge values, so that there are fewer letters"
            )
    return rays


def _choose(A: Matrix, rays: Matrix) -> int:
    above, below = _sides(A, rays[:: -(-len(rays) // SAMPLE)] if len(rays) else rays)
    return int(np.argmin(np.where(above.any(axis=0), below.sum(axis=0), len(rays) + 1)))


def _sides(A: Matrix, rays: Matrix) -> tuple[Flags, Flags]:
    """Which rays are outside and which strictly inside each condition."""
    value = rays @ A.T
    noise = 0 if value.dtype == object else ZERO * (rays @ np.abs(A.T))
    return (value > noise).astype(bool), (value < -noise).astype(bool)


def _impose(a: Matrix, rays: Matrix, zeros: Words, bit: int, check: Check, most: float) -> tuple[Matrix, Words]:
    above, below = (side[:, 0] for side in _sides(a[None], rays))
    if not above.any():
        return rays, zeros
    i, j = adjacent(zeros, a.size, np.flatnonzero(above), np.flatnonzero(below), check, most)
    if len(i) > most:  # it is too many already; that it is can be said without making all of them
        i, j = i[: int(most) + 1], j[: int(most) + 1]
    common = mark(zeros[i] & zeros[j], bit)
    zeros[~(above | below), bit >> 6] |= np.uint64(1 << (bit & 63))
    new = _between(rays @ a, rays, i, j)
    return np.concatenate([rays[~above], new]), np.concatenate([zeros[~above], common])


def _between(value: Matrix, rays: Matrix, i: Index, j: Index) -> Matrix:
    new: Matrix = value[i, None] * rays[j] - value[j, None] * rays[i]
    if new.dtype == object:
        new //= np.gcd.reduce(new, axis=1)[:, None]
    else:
        new /= new.max(axis=1, keepdims=True, initial=0)
    return new
