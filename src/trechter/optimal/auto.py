"""The automatic choice of a solver, and the reason for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from trechter.optimal import pairs, vertices
from trechter.optimal.merge import merged
from trechter.optimal.problem import Budget, Problem, Solution
from trechter.optimal.slab import Slab

SOLVERS: dict[str, Callable[[Problem, Budget], Solution]] = {"pairs": pairs.solve, "vertices": vertices.solve}


def solve(problem: Problem, budget: Budget, solver: str = "auto") -> Solution:
    """The problem by the solver named, or by the one that suits it; letters that are alike are merged first."""
    name, why = choose(problem) if solver == "auto" else (solver, "asked for")
    small = None if name == "pairs" else merged(problem)
    solution = small.lift(SOLVERS[name](small.problem, budget)) if small else SOLVERS[name](problem, budget)
    return replace(solution, stats=solution.stats | {"why": why})


def choose(problem: Problem) -> tuple[str, str]:
    """The name of a solver, and why it was chosen."""
    if Slab.of(problem.cone, problem.masses) is not None:
        return "pairs", "the conditions bound one number: every vertex is one letter or a pair"
    return "vertices", "the extreme rays of the cone can be listed"
