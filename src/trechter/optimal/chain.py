"""The chain rule: what is said of one attribute, then of the others to those who know it.

    I(X;Y) = I(Xʲ;Y) + I(X;Y | Xʲ)  ≤  OPT(Xʲ) + Σ_v P(Xʲ = v) OPT(K_v)

OPT(Xʲ) ≤ H(Xʲ) is the most that any protocol says of Xʲ: branch and bound has only the values of Xʲ to split there. K_v has
the rows of K on the letters with Xʲ = v alone. They obey each condition of K that the other letters cannot ease: for
side-channel resistance those of the slices where Xʲ = v is known. Slices are smaller, and have slices in turn.

It is a bound for cones too large for branch and bound, which is asked first; it finds the protocol in any case.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trechter.geometry import Cone
from trechter.measures import entropy
from trechter.measures.entropic import Entropic
from trechter.optimal.columns import never
from trechter.optimal.polytope import NOISE
from trechter.optimal.problem import Budget, Problem, Solution

Whole = Callable[[Problem, Budget, Callable[[float, float], bool]], Solution]
Part = Callable[[Problem, Budget], Solution]
ALONE = 0.4  # of the time is for the whole, and all of it if by then the gap is only
FAR = 0.05  # of the utility
SLICES = 0.4  # of what is left then is for slices, the rest for what is said of the attribute itself


def solve(problem: Problem, budget: Budget, whole: Whole, part: Part) -> Solution:
    """The answer of `whole`; if that is far from its bound and much of the time is gone, bounded by slices."""
    if budget.seconds is None or not _applies(problem):
        return whole(problem, budget, never)
    end = budget.seconds - (1 - ALONE) * _left(budget)
    found = whole(problem, budget, lambda utility, bound: budget.elapsed > end and bound - utility > FAR * utility)
    said = float(problem.phi(found.rows).sum())
    if budget.over or found.bound - said <= max(budget.gap, FAR * said):
        return found
    most, j = bound(problem, budget, part)
    if most >= found.bound:
        return found
    return replace(found, bound=most, stats=found.stats | {"bounded": f"by slices of attribute {j + 1}"})


def bound(problem: Problem, budget: Budget, part: Part) -> tuple[float, int]:
    """The least bound by slices of one attribute, and of which, in the time that is left."""
    end, shares = budget.elapsed + SLICES * _left(budget), len(problem.parts)
    within = []
    for j, labels in enumerate(problem.parts):
        seconds = budget.elapsed + max(0.0, end - budget.elapsed) / (shares - j)
        within.append(inside(problem, labels, replace(budget, seconds=seconds), part))
    entropies = [entropy(np.bincount(labels, problem.masses).astype(np.float64)) for labels in problem.parts]
    j = int(np.argmin(np.add(within, entropies)))
    most = min(entropies[j], part(about(problem, problem.parts[j]), _own(budget, _left(budget))).bound)
    return (most + within[j]) * (1 + NOISE) + NOISE, j


def inside(problem: Problem, labels: NDArray[np.intp], budget: Budget, part: Part) -> float:
    """Σ_v P(Xʲ = v) OPT(K_v), each OPT bounded in its share of the time."""
    terms, values = list[float](), np.unique(labels)
    for k, v in enumerate(values):
        own = _own(budget, _left(budget) / (len(values) - k))
        mass = float(problem.masses[labels == v].sum())
        terms.append(mass * part(slice_of(problem, labels == v), own).bound)
    return math.fsum(terms)


def about(problem: Problem, labels: NDArray[np.intp]) -> Problem:
    """The problem of saying most of one attribute."""
    targets = np.array([problem.masses * (labels == v) for v in np.unique(labels)])
    return Problem(problem.cone, problem.masses, problem.curve, targets)


def slice_of(problem: Problem, inside: NDArray[np.bool_]) -> Problem:
    """The problem of those who know that x is one of these letters."""
    kept = (problem.cone.A[:, ~inside] >= 0).all(axis=1)
    cone, masses = Cone(problem.cone.A[kept][:, inside]).active, problem.masses[inside]
    parts = tuple(labels[inside] for labels in problem.parts if len(np.unique(labels[inside])) > 1)
    return Problem(cone, masses / masses.sum(), problem.curve, parts=parts if len(parts) > 1 else ())


def _applies(problem: Problem) -> bool:
    return bool(problem.parts) and problem.targets is None and isinstance(problem.curve, Entropic)


def _own(budget: Budget, seconds: float) -> Budget:
    """The budget of a part: so many seconds from now, and heard by the same stop."""
    return Budget(budget.gap, seconds, start=time.monotonic(), stopped=budget.stopped)


def _left(budget: Budget) -> float:
    assert budget.seconds is not None
    return max(0.0, budget.seconds - budget.elapsed)
