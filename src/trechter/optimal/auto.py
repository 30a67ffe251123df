"""The automatic choice of a solver, and the reason for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

from trechter.errors import SolverError, TrechterWarning
from trechter.optimal import pairs, vertices
from trechter.optimal.merge import merged
from trechter.optimal.problem import Budget, Problem, Solution
from trechter.optimal.slab import Slab

SOLVERS: dict[str, Callable[[Problem, Budget], Solution]] = {"pairs": pairs.solve, "vertices": vertices.solve}


def solve(problem: Problem, budget: Budget, solver: str = "auto") -> Solution:
    """The problem by the solver named, or by the one that suits it; letters that are alike are merged first."""
    if solver != "auto":
        return _solved(problem, budget, solver, "asked for")
    name, why = choose(problem)
    try:
        return _solved(problem, budget, name, why)
    except SolverError as error:
        warnings.warn(
            f"solver {name!r} failed, so a constant protocol is all there is: {error}", TrechterWarning, stacklevel=2
        )
        failed = vertices.constant(problem)
        return replace(failed, stats={"why": why, "failed": str(error)})


def _solved(problem: Problem, budget: Budget, name: str, why: str) -> Solution:
    small = None if name == "pairs" else merged(problem)
    solution = small.lift(SOLVERS[name](small.problem, budget)) if small else SOLVERS[name](problem, budget)
    return replace(solution, stats=solution.stats | {"why": why})


def choose(problem: Problem) -> tuple[str, str]:
    """The name of a solver, and why it was chosen."""
    if Slab.of(problem.cone, problem.masses) is not None:
        return "pairs", "the conditions bound one number: every vertex is one letter or a pair"
    return "vertices", "the extreme rays of the cone can be listed"
