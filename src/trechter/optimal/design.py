"""Design: the protocol of most utility that keeps a promise, with a bound on what any protocol could reach."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.audit.certify import certify, holds, judge_entries, keeps
from trechter.errors import RequestError, SolverError, expect
from trechter.finish import (
    deliver,
    deliver_rays,
    deliver_sparse,
    deliver_sparse_rays,
    protocol_of,
    read_as,
    sparse_protocol_of,
)
from trechter.geometry import Cone
from trechter.geometry.cone import Array
from trechter.measures import Distortion, Measure, MutualInformation, WorstCase
from trechter.measures.measure import Information
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.kinds import Plain
from trechter.model.letters import letters
from trechter.model.result import Result
from trechter.model.sparse_weights import SparseWeights
from trechter.optimal.auto import SOLVERS, solve
from trechter.optimal.cuts import RobustProblem, Spread
from trechter.optimal.interrupt import stoppable
from trechter.optimal.linear import Flat, LinearProblem
from trechter.optimal.outer import UNSEEN, RobustInformation, seen
from trechter.optimal.problem import LARGE, Budget, Problem, Solution
from trechter.privacy import Notion, Robust
from trechter.privacy.robust import Among

TINY = Fraction(1, 10**7)  # below this floats cannot tell what is private from what is not, and bounds from them mean little


def design(
    joint: Joint,
    notion: Notion,
    *,
    measure: Measure | None = None,
    reads: str = "x",
    solver: str = "auto",
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    like: Result | None = None,
) -> Result:
    """The best certified protocol; `status` is "optimal" if its utility is within `gap` of the bound.

    Where columns are generated, the search starts from the outputs of `like`, a result for the same joint.
    """
    start, measure = time.perf_counter(), MutualInformation() if measure is None else measure
    check_request(joint, notion, measure)
    if solver != "auto" and solver not in SOLVERS:
        raise RequestError(f"unknown solver {solver!r}; use 'auto', {', '.join(map(repr, SOLVERS))}")
    request = Request(joint, notion, measure, reads, solver, Budget(gap, time_limit, progress), _rows(like, joint, reads))
    found = _identity(request) or _constant(request) or (_nearly_perfect(request) if _is_tiny(notion) else _solved(request))
    utility = measure.utility(joint, found.protocol)
    bound = utility if found.bound is None else _outward(found.bound, utility, measure)
    status = "optimal" if abs(bound - utility) <= gap else "gap"
    seconds = time.perf_counter() - start
    certificate = found.protocol.certificate
    assert certificate is not None
    return Result(found.protocol, utility, bound, status, found.solver, seconds, certificate, measure, found.stats)


@dataclass(frozen=True, eq=False)
class Request:
    """What `design` was asked for."""

    joint: Joint
    notion: Notion
    measure: Measure
    reads: str
    solver: str
    budget: Budget
    hint: Array | None  # rows of a protocol that is good at about this level, over letters of positive mass

    def solution(self) -> tuple[Problem, Solution]:
        """What a solver says."""
        problem = replace(make_problem(self.joint, self.notion, self.measure, self.reads), hint=self.hint)
        with stoppable(self.budget):
            return problem, solve(problem, self.budget, self.solver)


def _outward(bound: float, utility: float, measure: Measure) -> float:
    """The solver's bound (it maximises) as one of the measure, which what was reached does not pass."""
    return min(-bound, utility) if measure.less_is_better else max(bound, utility)


def make_problem(joint: Joint, notion: Notion, measure: Measure, reads: str) -> Problem:
    """The row-cone problem over the letters of positive mass; in exact numbers at ε = 0."""
    found = letters(joint, reads)
    masses, kept = found.masses, found.masses > 0
    cone = notion.cone(joint, reads, exact=notion.epsilon == 0)
    if isinstance(notion, Robust) or isinstance(measure, WorstCase):
        return make_robust(joint, notion, measure, reads)
    if isinstance(measure, Distortion):
        return LinearProblem(Cone(cone.A[:, kept]).active, masses[kept], Flat(), costs=measure.costs(joint, reads)[kept])
    assert isinstance(measure, Information)
    targets = measure.targets(joint, reads)
    seen = None if targets is None else targets[:, kept]
    if seen is not None:
        seen = seen[seen.sum(axis=1) > 0]
    parts = tuple(found.attributes[:, kept]) if len(found.attributes) > 1 else ()
    return Problem(Cone(cone.A[:, kept]).active, masses[kept], measure.curve, seen, parts=parts)


def make_robust(joint: Joint, notion: Notion, measure: Measure, reads: str) -> Problem:
    """The problem of a promise or a distortion for every P in a set, over all letters: P may have mass where P̂ has none."""
    among = notion.among(joint, reads) if isinstance(notion, Robust) and notion.epsilon is not None else None
    if isinstance(measure, Information):
        assert among is not None
        return robust_information(joint, notion, measure, reads, among)
    inner = measure.measure if isinstance(measure, WorstCase) else measure
    assert isinstance(inner, Distortion)
    spread = Spread.of(measure, joint, reads) if isinstance(measure, WorstCase) else None
    found = letters(joint, reads)
    cone = Cone(notion.cone(joint, reads).A[: 0 if among else None])
    return RobustProblem(cone, found.masses, Flat(), costs=inner.costs(joint, reads), among=among, spread=spread)


def robust_information(joint: Joint, notion: Notion, measure: Information, reads: str, among: Among) -> Problem:
    """The problem of an information: letters that never occurred are lent some mass."""
    masses = letters(joint, reads).masses
    lent, targets = seen(masses, measure.targets(joint, reads), measure.curve)
    cone = Cone(notion.cone(joint, reads).A).active
    return RobustInformation(cone, lent, measure.curve, targets, among=among, lent=UNSEEN if (masses == 0).any() else 0.0)


@dataclass(frozen=True, eq=False)
class Found:
    """A certified protocol and what is known of the optimum; without a bound the protocol is itself the optimum."""

    protocol: Plain
    bound: float | None
    solver: str
    stats: dict[str, Any]


def _identity(request: Request) -> Found | None:
    """Publishing x itself, if that is private: nothing can say more."""
    joint, notion, reads = request.joint, request.notion, request.reads
    if not isinstance(request.measure, Information):
        return None
    seen = letters(joint, reads)
    conditions = np.zeros((len(notion.cone(joint, reads).A), len(joint.p_x)))
    np.add.at(conditions.T, seen.x_of, notion.cone(joint, reads).A.T)
    if np.any(conditions > 1e-9):
        return None
    if len(joint.p_x) * len(seen.x_of) > LARGE:
        return _sparse_identity(request, seen.x_of)
    weights = (np.arange(len(joint.p_x))[:, None] == seen.x_of).astype(np.int64) << 1
    if not keeps(weights, reads, joint, notion.spec):
        return None
    return Found(protocol_of(weights, 1, joint, notion.spec, reads), None, "identity", {})


def _constant(request: Request) -> Found | None:
    """Saying nothing, where no more is possible: perfect privacy for all P of a set that has an inside."""
    notion, joint, spec = request.notion, request.joint, request.notion.spec
    if not isinstance(notion, Robust) or notion.epsilon is None or notion.epsilon >= TINY or notion.radius(joint) == 0:
        return None
    weights = np.full((1, len(letters(joint, request.reads).x_of)), 2)
    measure = request.measure.measure if isinstance(request.measure, WorstCase) else request.measure
    bound = None if notion.epsilon == 0 else _above(request)[1]
    if not isinstance(measure, Distortion):
        return Found(protocol_of(weights, 1, joint, spec, request.reads), bound, "constant", {})
    said = [protocol_of(weights, 1, joint, spec, request.reads, [reading]) for reading in measure.readings(joint)]
    best = min(said, key=lambda protocol: request.measure.utility(joint, protocol))
    return Found(best, bound, "constant", {})


def _sparse_identity(request: Request, x_of: NDArray[np.intp]) -> Found | None:
    """The same without a matrix: each letter has all its weight on its own value."""
    n, spec = len(x_of), request.notion.spec
    background = np.zeros(len(request.joint.p_x), np.int64)
    weights = SparseWeights(background, x_of, np.arange(n), np.full(n, 2), n, bits=1)
    if not holds(judge_entries(weights, request.reads, request.joint, spec), spec.epsilon):
        return None
    return Found(sparse_protocol_of(weights, request.joint, spec, request.reads), None, "identity", {})


def check_request(joint: Joint, notion: Notion, measure: Measure | None) -> None:
    """Designs and mechanisms are given a joint, then a notion, and perhaps a measure."""
    expect(joint, Joint, "tr.Joint(counts)")
    expect(notion, Notion, 'tr.LIP("0.5")')
    if measure is not None:
        expect(measure, Measure, "tr.MutualInformation()")


def _rows(like: Result | None, joint: Joint, reads: str) -> Array | None:
    """The outputs that a search may start from."""
    if like is None or not isinstance(like.protocol, DenseProtocol):
        return None
    masses = letters(joint, reads).masses
    if like.protocol.integers.shape[1] != len(masses):
        raise RequestError("like= must be a result for the same joint that reads the same; leave it out to start afresh")
    return np.asarray(like.protocol.matrix[:, masses > 0])


def _solved(request: Request) -> Found:
    problem, solution = request.solution()
    if request.budget.stopped.is_set() and solution.pairs is None and not problem.groups(solution.rows).any():
        raise KeyboardInterrupt  # stopped with nothing in hand
    joint, spec, reads = request.joint, request.notion.spec, request.reads
    if solution.pairs is not None:
        letters_of, weights = solution.pairs.letters, solution.pairs.weights
        if solution.rays is None or solution.scale is None:
            few, stats = deliver_sparse(letters_of, weights, joint, spec, reads)
        else:
            few, stats = deliver_sparse_rays(letters_of, solution.rays, solution.scale, joint, spec, reads)
        return Found(few, solution.bound, solution.solver, solution.stats | stats)
    if solution.readings is not None:
        readings = [readings_of(request.measure, joint)[k] for k in solution.readings]
        named, stats = deliver(solution.rows, joint, spec, reads, readings)
        return Found(named, solution.bound, solution.solver, solution.stats | stats)
    same = problem.groups(solution.rows)
    if solution.rays is None or solution.scale is None:
        rows = np.array([solution.rows[same == g].sum(axis=0) for g in range(same.max() + 1)])
        protocol, stats = deliver(rows, joint, spec, reads)
    else:
        protocol, stats = deliver_rays(solution.rays, solution.scale, same, joint, spec, reads)
    if isinstance(request.measure, Distortion):
        protocol = read_as(protocol, joint, request.measure)
    return Found(protocol, solution.bound, solution.solver, solution.stats | stats)


def readings_of(measure: Measure, joint: Joint) -> tuple[Any, ...]:
    """What outputs are taken for where a distortion counts."""
    inner = measure.measure if isinstance(measure, WorstCase) else measure
    assert isinstance(inner, Distortion)
    return inner.readings(joint)


def _is_tiny(notion: Notion) -> bool:
    return notion.epsilon is not None and 0 < notion.epsilon < TINY


def _nearly_perfect(request: Request) -> Found:
    """Below TINY: the perfectly private optimum, which is exact, or what floats find if that is more; bounded by the optimum
    at a higher level."""
    perfect = _solved(replace(request, notion=request.notion.at(0)))
    level, bound = _above(request)
    bare = replace(perfect.protocol, promise=request.notion.spec, certificate=None)
    found = [replace(perfect, protocol=bare.certified(certify(bare, request.joint)))]
    with suppress(SolverError):
        found += [] if request.budget.over else [_solved(request)]
    measure, sign = request.measure, -1 if request.measure.less_is_better else 1
    best = max(found, key=lambda one: sign * measure.utility(request.joint, one.protocol))
    return replace(best, bound=bound, stats=best.stats | {"bounded": f"by the optimum at ε = {float(level):g}"})


def _above(request: Request) -> tuple[Fraction, float]:
    """The first level from TINY upwards where a solver knows its way, and what bounds any protocol there."""
    level = TINY
    while True:
        try:
            return level, replace(request, notion=request.notion.at(level)).solution()[1].bound
        except SolverError:
            level *= 10
            if level > 1:
                raise
