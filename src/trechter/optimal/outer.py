"""Robust information: polyhedral cones around the robust cone, closer and closer.

The robust cone is convex but has no list of extreme rays. A polyhedral cone around it does, so the row-cone theorem and its
solvers apply: their bound is a bound here too. Where their rows leave the robust cone, the worst P ∈ F of each gives a
condition that cuts it off; rows mixed with constant ones are robust, and what they are worth is what has been reached.

Letters that were never counted may have mass under F. They are lent a share τ of all mass, which takes at most h(τ) from an
information: I(T;Y) ≥ I(T;Y|B) − H(B), where B says which part of the mixture it is.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trechter.errors import RequestError, TrechterWarning
from trechter.geometry import Cone
from trechter.geometry.cone import Array
from trechter.measures.entropic import Entropic
from trechter.optimal.cuts import LEAST, MARGIN, mixed
from trechter.optimal.problem import Budget, Problem, Solution
from trechter.privacy.robust import Among

UNSEEN = 1e-6  # share of the mass that letters which never occurred have here
SHARE = 0.3  # of the gap is left to the solver of each round
NEAR = 0.1  # is near enough in the first round
ROUNDS = 200
BACK = (0.0, 0.5, 0.9)  # of the way from a row to where it is robust: where violations are looked for


@dataclass(frozen=True, eq=False, kw_only=True)
class RobustInformation(Problem):
    """The row-cone problem for the robust cone; `cone` is the polyhedral cone at P̂ around it."""

    among: Among
    lent: float = 0.0  # the share of mass that unseen letters were given


def seen(masses: Array, targets: Array | None, curve: object) -> tuple[Array, Array | None]:
    """Masses and targets, with a share for the letters of mass 0."""
    unseen = masses == 0
    if not unseen.any():
        return masses, targets
    if not isinstance(curve, Entropic):
        raise RequestError(
            f"{int(unseen.sum())} letters never occur; for a promise over a set only mutual information allows for that: "
            "leave such values out of the schema, or use tr.MutualInformation()"
        )
    each = UNSEEN / unseen.sum()
    mixed_masses = (1 - UNSEEN) * masses + each * unseen
    if targets is None:
        return mixed_masses, None
    return mixed_masses, (1 - UNSEEN) * targets + each * unseen / len(targets)


def solve(problem: Problem, budget: Budget, part: Callable[[Problem, Budget], Solution]) -> Solution:
    """The optimum within the gap or the time; `part` solves polyhedral problems."""
    assert isinstance(problem, RobustInformation)
    among = problem.among
    best, utility, bound = np.ones((1, len(problem.masses))), 0.0, math.inf
    inner = Problem(problem.cone, problem.masses, problem.curve, problem.targets, problem.hint)
    stats: dict[str, Any] = {"rounds": 0}
    while stats["rounds"] < ROUNDS and not budget.over:
        near = max(SHARE * budget.gap, (bound - utility) / 10 if math.isfinite(bound) else NEAR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrechterWarning)  # a round that stops early has rows and a bound all the same
            found = part(inner, replace(budget, gap=near, progress=None))
        stats["rounds"] += 1
        bound = min(bound, found.bound)
        cuts, robust = tighter(among, found.rows, problem.masses)
        worth = float(problem.phi(robust).sum())
        if worth > utility:
            best, utility = robust, worth
        if bound - utility <= budget.gap or (not len(cuts) and near <= SHARE * budget.gap):
            break
        inner = replace(inner, cone=Cone(np.vstack([np.asarray(inner.cone.A, float), cuts])), hint=found.rows)
        if budget.progress is not None:
            known = {"utility": utility, "bound": bound, "gap": bound - utility}
            budget.progress({"seconds": budget.elapsed} | known | {"columns": len(inner.cone.A), "phase": "cutting"})
    strict = among.factor * (1 - MARGIN)
    rows = mixed(best, among.excess(best, strict), strict)
    stats |= {"conditions": len(inner.cone.A)} | budget.halt
    return Solution(rows, _loosened(bound, problem), "cuts", stats)


def tighter(among: Among, rows: Array, masses: Array) -> tuple[Array, Array]:
    """Conditions that rows, and points on the way from them to constant rows, violate; and the rows repaired."""
    excess = np.maximum(among.excess(rows), 0)
    over = excess > LEAST
    q = (rows[over] @ masses)[:, None]
    share = (excess[over] / (excess[over] + q[:, 0] * (among.factor - 1)))[:, None]
    points = [rows[over] + back * share * (q - rows[over]) for back in BACK]
    cuts = among.cuts(np.vstack(points), LEAST)[1]
    return cuts, mixed(rows, excess, among.factor)


def _loosened(bound: float, problem: RobustInformation) -> float:
    """The bound for the masses as counted."""
    share = problem.lent
    if share == 0:
        return bound
    return (bound - share * math.log(share) - (1 - share) * math.log1p(-share)) / (1 - share)
