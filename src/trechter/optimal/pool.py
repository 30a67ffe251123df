"""The columns that are known, each with the vertex that it is, in the master that weighs them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trechter.errors import SolverError
from trechter.geometry.cone import Array
from trechter.optimal.ascent import Vertex
from trechter.optimal.master import Master, Weights
from trechter.optimal.polytope import Polytope
from trechter.optimal.problem import Problem
from trechter.optimal.protocols import private

DIGITS = 10  # posteriors that agree to so many digits are one column


class Pool:
    """The columns of a problem; the first is the constant row, with which the master is never infeasible."""

    def __init__(self, problem: Problem, space: Polytope) -> None:
        self.problem, self.space = problem, space
        self.master = Master(problem.masses)
        self._vertices: list[Vertex | None] = []
        self._known: set[bytes] = set()
        self._put(problem.masses[None], [None])

    def __len__(self) -> int:
        return len(self.master)

    def add(self, vertices: Sequence[Vertex]) -> int:
        """Add vertices, but for those that are known or turn out to be none; how many were new."""
        solved = [(vertex, _solved(vertex, self.space)) for vertex in vertices]
        found = [(vertex, posterior) for vertex, posterior in solved if posterior is not None]
        return self._put(np.array([v for _, v in found]).reshape(-1, self.space.letters), [vertex for vertex, _ in found])

    def add_points(self, posteriors: Array) -> int:
        """Add posteriors that are no vertices; how many were new."""
        return self._put(posteriors, [None] * len(posteriors))

    def used(self, weights: Weights) -> list[Vertex]:
        """The vertices that a protocol is made of; all of them if it is only the constant row."""
        used = [self._vertices[k] for k in np.flatnonzero(weights.theta > 0)]
        vertices = [vertex for vertex in used if vertex is not None]
        return vertices or [vertex for vertex in self._vertices if vertex is not None]

    def _put(self, posteriors: Array, vertices: Sequence[Vertex | None]) -> int:
        rows, inside = private(self.problem.cone, self.problem.masses, posteriors)
        fresh = [k for k in np.flatnonzero(inside).tolist() if self._new(rows[k] * self.problem.masses)]
        if fresh:
            self.master.add(rows[fresh], self.problem.phi(rows[fresh]))
            self._vertices += [vertices[k] for k in fresh]
        return len(fresh)

    def _new(self, posterior: Array) -> bool:
        key = np.round(posterior, DIGITS).tobytes()
        known = key in self._known
        self._known.add(key)
        return not known


def _solved(vertex: Vertex, space: Polytope) -> Array | None:
    try:
        return vertex.posterior(space)
    except SolverError:
        return None
