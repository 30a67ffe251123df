"""Exact rays of float rows (ε = 0): a vertex is known by its support, for on that its conditions have one solution.

A row that is no vertex is taken apart into some. What has no ray all the same is left out: delivery says of what is missing
nothing at all, which is private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from trechter.geometry import Cone
from trechter.geometry.cone import Array
from trechter.optimal.problem import Budget, Problem, Solution

PRESENT = 1e-9  # a letter of less than this share of a row is not in its support


def solve(problem: Problem, budget: Budget, whole: Callable[[Problem, Budget], Solution]) -> Solution:
    """What `whole` finds in floats; for an exact cone in the integer rays of its rows."""
    found = whole(problem, budget)
    if not problem.cone.exact:
        return found
    parts = (part for row in found.rows for part in vertices_of(problem.cone, row))
    pairs = [(row, ray) for row in parts if (ray := exact_ray(problem.cone, row)) is not None]
    pairs = pairs or [(np.ones(problem.cone.dimension), np.ones(problem.cone.dimension, int).astype(object))]
    rows, rays = np.array([row for row, _ in pairs]), np.array([ray for _, ray in pairs], object)
    whole_rays = rays.astype(np.float64)
    scale = np.min(np.divide(rows, whole_rays, out=np.full(rows.shape, np.inf), where=whole_rays > 0), axis=1)
    return replace(found, rows=rows, rays=rays, scale=scale)


def vertices_of(cone: Cone, row: Array) -> Iterator[Array]:
    """Vertices that add up to a row, which obeys equalities.

    From the row walk along directions that keep them until a letter is used up, and again, until there is none: that is a
    vertex. As much of it as the row has is taken off the row, which uses up a letter of that.
    """
    A = np.asarray(cone.A, np.float64)
    A, left = A / np.abs(A).max(axis=1, keepdims=True), row
    for _ in range(len(row)):
        if left.max() <= PRESENT * row.max():
            return
        vertex = left = np.where(left > PRESENT * left.max(), left, 0)
        while (step := _direction(A, vertex)) is not None:
            vertex = _walked(vertex, step)
        taken: Array = vertex * np.min(left[vertex > 0] / vertex[vertex > 0])
        yield taken
        left = np.maximum(left - taken, 0)


def _direction(A: Array, row: Array) -> Array | None:
    """A move of the letters of a row that keeps A w and is not along the row; None if there is none."""
    support = np.flatnonzero(row)
    scaled = A[:, support] * row[support]  # in units of the row, which is then the vector of ones
    _, sizes, moves = np.linalg.svd(scaled)
    free = moves[np.count_nonzero(sizes > PRESENT * sizes.max(initial=0)) :]
    if len(free) < 2:
        return None
    free = free - free.mean(axis=1, keepdims=True)
    step: Array = np.zeros(len(row))
    step[support] = row[support] * free[np.argmax(np.abs(free).max(axis=1))]
    return step


def _walked(row: Array, step: Array) -> Array:
    """The row moved along the step until a letter is used up."""
    reach = np.divide(-row, step, out=np.full(len(row), np.inf), where=step < 0)
    first = int(np.argmin(reach))
    moved: Array = np.maximum(row + reach[first] * step, 0)
    moved[first] = 0
    return moved


def exact_ray(cone: Cone, row: Array) -> NDArray[np.object_] | None:
    """The primitive integer ray with the support of a row, or None if there is not exactly one."""
    support = np.flatnonzero(row > PRESENT * row.max())
    values = _kernel(cone.A[:, support])
    if values is None or min(values) <= 0:
        return None
    ray = np.zeros(len(row), dtype=int).astype(object)
    scale = math.lcm(*(v.denominator for v in values))
    whole = [int(v * scale) for v in values]
    ray[support] = [v // math.gcd(*whole) for v in whole]
    return ray


def _kernel(A: NDArray[Any]) -> list[Fraction] | None:
    """The solution of A v = 0 whose free entry is 1, if there is one such entry."""
    entries = [fmpq(Fraction(v).numerator, Fraction(v).denominator) for v in A.ravel()]
    reduced, rank = fmpq_mat(len(A), A.shape[1], entries).rref()
    if rank != A.shape[1] - 1:
        return None
    rows = [[Fraction(int(reduced[i, j].p), int(reduced[i, j].q)) for j in range(A.shape[1])] for i in range(rank)]
    pivots = [next(j for j, v in enumerate(row) if v) for row in rows]
    (free,) = set(range(A.shape[1])) - set(pivots)
    found = dict(zip(pivots, (-row[free] for row in rows), strict=True)) | {free: Fraction(1)}
    return [found[j] for j in range(A.shape[1])]
