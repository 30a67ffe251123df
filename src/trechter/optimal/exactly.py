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

from trechter.errors import SolverError
from trechter.geometry import Cone
from trechter.geometry.cone import Array
from trechter.model.joint import quotient
from trechter.optimal import lp
from trechter.optimal.problem import Budget, Problem, Solution
from trechter.optimal.vertices import constant

PRESENT = 1e-9  # a letter of less than this share of a row is not in its support


def solve(problem: Problem, budget: Budget, whole: Callable[[Problem, Budget], Solution]) -> Solution:
    """What `whole` finds in floats; for an exact cone in the integer rays of its rows."""
    try:
        found = whole(problem, budget)
    except SolverError as error:
        if not problem.cone.exact:
            raise
        return constant(problem, {"stopped": str(error)})
    if not problem.cone.exact:
        return found
    pairs = [pair for row in found.rows for pair in _exact(problem.cone, row, lambda: budget.over)]
    pairs = pairs or [(np.ones(problem.cone.dimension), np.ones(problem.cone.dimension, int).astype(object))]
    rows, rays = np.array([row for row, _ in pairs]), np.array([ray for _, ray in pairs], object)
    shape = quotient(rays, rays.max(axis=1, keepdims=True))
    scale = np.min(np.divide(rows, shape, out=np.full(rows.shape, np.inf), where=shape > 0), axis=1)
    return replace(found, rows=rows, rays=rays, scale=scale)


def _exact(cone: Cone, row: Array, late: Callable[[], bool]) -> list[tuple[Array, NDArray[np.object_]]]:
    """The row, or vertices that it is made of, each with its ray."""
    ray = exact_ray(cone, row)
    if ray is not None:
        return [(row, ray)]
    parts = vertices_of(cone, row, late)
    return [(part, ray) for part in parts if (ray := exact_ray(cone, part)) is not None]


def vertices_of(cone: Cone, row: Array, late: Callable[[], bool] = lambda: False) -> Iterator[Array]:
    """Vertices that add up to a row, which obeys equalities; to a part of it if it gets late.

    A linear program over the letters that are left ends at a vertex. As much of that as the row has is taken off the row,
    which uses up a letter.
    """
    A, n, left = np.asarray(cone.A, np.float64), len(row), row / row.max()
    equal = np.append(np.zeros(len(A)), 1.0)
    model = lp.model()
    lp.add_rows(model, np.zeros((len(equal), 0)), equal, equal)
    rows = np.vstack([A / np.abs(A).max(axis=1, keepdims=True), np.ones(n)])
    lp.add_columns(model, -left, rows.T, np.zeros(n), np.ones(n))
    for _ in range(n):
        model.changeColsBounds(n, np.arange(n, dtype=np.int32), np.zeros(n), (left > PRESENT).astype(np.float64))
        if late() or lp.run(model) != lp.OPTIMAL:
            return
        vertex = np.array(model.getSolution().col_value)
        vertex = np.where(vertex > PRESENT * vertex.max(), vertex, 0)
        taken: Array = vertex * np.min(left[vertex > 0] / vertex[vertex > 0])
        yield taken * row.max()
        left = np.maximum(left - taken, 0)


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
