"""The automatic choice of a solver, and the reason for it.

What can be listed is listed: the answer is then exact. Pairs come first, where they are all that there is; then all extreme
rays, if they are few; else columns are generated. How many rays a cone has is known only by listing them, so the list is
begun and given up when it gets long: that takes milliseconds and, unlike a time limit, gives the same protocol everywhere.

Over a set of distributions conditions are cut from it, or where it has closed forms, and Clarabel is there, it is one program.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from trechter.errors import RequestError, SolverError, TrechterWarning
from trechter.optimal import chain, columns, conic, cuts, exactly, linear, outer, pairs, vertices
from trechter.optimal.merge import merged
from trechter.optimal.problem import Budget, Problem, Solution
from trechter.optimal.slab import Slab

Solver = Callable[[Problem, Budget], Solution]


def robust(problem: Problem, budget: Budget) -> Solution:
    """Conditions are cut from a set of distributions, one after the other."""
    if isinstance(problem, outer.RobustInformation):
        return outer.solve(problem, budget, part=solve)
    return cuts.solve(problem, budget)


def closed_form(problem: Problem, budget: Budget) -> Solution:
    """The cone program, if it gets as near as it should; that its solver failed is no warning while there is another."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrechterWarning)
        found = conic.solve(problem, budget)
    assert isinstance(problem, cuts.RobustProblem)
    apart = float(problem.worst_costs(found.rows[None])[0][0]) + found.bound
    if apart > budget.gap and not budget.over and problem.costs.size <= conic.FEW:
        raise SolverError(f"the cone program ended {apart:.2g} from its bound")
    return found


SOLVERS: dict[str, Solver] = {
    "pairs": pairs.solve,
    "vertices": vertices.solve,
    "columns": partial(exactly.solve, whole=columns.solve),
    "linear": partial(exactly.solve, whole=linear.solve),
    "cuts": robust,
    "conic": conic.solve,
}
OVER_SETS = cuts.RobustProblem | outer.RobustInformation
FEW_RAYS = 3000
FEW_LETTERS = 500  # a cone of more has too many rays, nearly always, and it takes seconds to see it


def solve(problem: Problem, budget: Budget, solver: str = "auto") -> Solution:
    """The problem by the solver named, or by the first that can; letters that are alike are merged first."""
    if isinstance(problem, OVER_SETS) and solver not in ("auto", "cuts", "conic"):
        raise RequestError(f"solver {solver!r} knows one distribution only; over a set of them use 'cuts' or 'auto'")
    if solver in ("pairs", "columns") and isinstance(problem, linear.LinearProblem):
        raise RequestError(f"solver {solver!r} is for informations; an expected distortion is linear: use 'linear' or 'auto'")
    if solver != "auto":
        return _solved(problem, budget, SOLVERS[solver], "asked for")
    *others, (last, reason) = ways(problem)
    for way, why in others:
        try:
            found = _solved(problem, budget, way, why)
        except SolverError as error:
            reason = f"{reason}; {error}"
            continue
        if "stopped" not in found.stats or len(found.rows) != 1 or problem.cone.exact:
            return found
        reason = f"{reason}; time was up before all rays were known"
    return _solved(problem, budget, last, reason)


def ways(problem: Problem) -> Iterator[tuple[Solver, str]]:
    """What to try, and why; all but the last may find the problem too large for them."""
    if isinstance(problem, cuts.RobustProblem) and conic.knows(problem):
        yield closed_form, "χ² sets have closed forms, which make it a cone program"
    if isinstance(problem, OVER_SETS):
        yield robust, "the promise is for a set of distributions, which conditions are cut from"
        return
    if isinstance(problem, linear.LinearProblem):
        if problem.cone.exact:
            yield partial(vertices.solve, most=FEW_RAYS), f"the cone has at most {FEW_RAYS} extreme rays"
        yield SOLVERS["linear"], "an expected distortion is linear"
        return
    if Slab.of(problem.cone, problem.masses) is not None:
        yield pairs.solve, "the conditions bound one number: every vertex is one letter or a pair"
    if problem.cone.exact or problem.cone.dimension <= FEW_LETTERS:
        yield partial(vertices.solve, most=FEW_RAYS), f"the cone has at most {FEW_RAYS} extreme rays"
    generated = partial(chain.solve, whole=columns.solve, part=solve)
    yield partial(exactly.solve, whole=generated), "columns are generated"


def _solved(problem: Problem, budget: Budget, solver: Solver, why: str) -> Solution:
    small = None if solver in (pairs.solve, robust) else merged(problem)
    solution = small.lift(solver(small.problem, budget)) if small else solver(problem, budget)
    return replace(solution, stats=solution.stats | {"why": why})
