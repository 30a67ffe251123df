"""The conic program: the robust problem over χ² sets as one convex program, by the closed forms of paper 004.

Theorem 2: the distortion v of the cells is at most z for all P ∈ F if and only if z ≥ μ − λ²/(B+1) for some μ ≥ max v, with
λ = Σ P̂√(μ − v). Theorem 4: `P(w|A) ≤ e^ε P(w|B)` for all P ∈ F if and only if there are μ₁, μ₂ and Γ ≥ 0 with

    μ₁ + μ₂ + 2 Γ C ≤ 3 Σ_i (Γ λ_i)^(2/3),      C = √(B+1) − 1 + P̂(A) + P̂(B)

where λ₁ = Σ_A P̂√(μ₁ − w) and λ₂ = Σ_B P̂√(μ₂ + e^ε w); the paper's equation (30) lacks the minus of −e^ε. A cell with P̂ = 0
asks only that μ ≥ v. As B falls, μ, λ² and Γ grow as 1/κ, κ = √B, and cancel each other: a solver loses its digits. So it is
given what is left of them. With λ² = P̂(A)² m, m = M/κ, μ = m + e and f for each cell, `m ≤ (Σ P̂√(μ − v) / P̂(A))²` is

    (e − v − κ f)² ≤ 4 M f,      e ≥ Σ P̂ (v + κ f) / P̂(A)

which is mean and variance; z ≥ e + κ M/(B+1). And `2 P̂(A) Γ + m − 3 (Γ λ)^(2/3)`, arithmetic less geometric mean, is at most
κ (D + 2 D') if, with G = κ Γ and M = P̂(A) G + 3 κ s + κ² (D + 2 D'),

    (2 s + κ (D + 2 D'))² ≤ D (4 P̂(A) G + 8 κ s + κ² (D + 4 D')),      (2 s + κ D')² ≤ D' (4 P̂(A) G + 4 κ s + κ² D')

The solver's multipliers of v are masses: of P(·|A) and P(·|B), or of P. Moved into F, if they are not in it, they prove a
bound, whatever the solver says.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.errors import RequestError, TrechterWarning
from trechter.geometry.cone import Array
from trechter.optimal.cone_program import ROUND, SIGN, ZERO, Answer, ConeProgram, Index, library
from trechter.optimal.cuts import RobustProblem, Spread, constants, proven, repaired
from trechter.optimal.problem import Budget, Problem, Solution
from trechter.privacy.robust import Among
from trechter.sets import ChiSquare

Mask = NDArray[np.bool_]
LACK = 1e-9  # of the largest cost: a reduced cost below that is none
SHARE = 0.3  # of the gap may be spent on fewer outputs
FEW = 3_000  # letters times readings; of more only some have variables at first
NEAR = 8  # readings of least distortion, for each letter
ROUNDS = 12
FAINT = 1e-6  # a row with nothing larger is what the solver leaves of none
INSIDE = 1 - 1e-12  # of what F allows, for what is moved into it


def solve(problem: Problem, budget: Budget) -> Solution:
    """The optimum as far as the solver gets, one row for each reading."""
    known = _known(problem)
    active, bound, rounds = nearest(known), -math.inf, 0
    while True:
        program, rounds = RobustProgram(known, active), rounds + 1
        answer = program.solve(budget)
        rows, wanted = program.best(answer.x, SHARE * budget.gap), program.lacking(answer)
        bound = max(bound, program.bound(answer))
        apart = float(known.worst_costs(rows[None])[0][0]) - bound
        _tell(budget, apart + bound, bound, program.size)
        if apart <= budget.gap or not wanted.any() or not answer.solved or budget.over or rounds == ROUNDS:
            break
        active = active | wanted
    stats = {"rounds": rounds, "iterations": answer.rounds, "variables": program.size} | budget.halt
    if not answer.solved and not budget.over:
        stats["failed"] = f"Clarabel ended as {answer.status}"
        warnings.warn(f"the design stopped early: {stats['failed']}", TrechterWarning, stacklevel=3)
    return Solution(rows, -bound, "conic", stats, readings=np.arange(len(rows)))


def nearest(problem: RobustProblem) -> Mask:
    """The letters that each reading may have at first: all of them, or where that is many those that it costs little to read
    so; and all for the best constant reading."""
    costs = problem.costs.T
    if costs.size <= FEW:
        return np.ones(costs.shape, bool)
    d = problem.distortions.T
    active = np.asarray(d <= np.sort(d, axis=0)[min(NEAR, len(d) - 1)])
    active[np.argmin(problem.worst_costs(constants(problem))[0])] = True
    return active


def _tell(budget: Budget, cost: float, bound: float, size: int) -> None:
    if budget.progress is not None:
        known = {"utility": -cost, "bound": -bound, "gap": cost - bound, "columns": size, "phase": "conic"}
        budget.progress({"seconds": budget.elapsed} | known)


def knows(problem: Problem) -> bool:
    """Whether the problem has closed forms, and the solver is installed."""
    try:
        _known(problem)
        library()
    except RequestError:
        return False
    return True


def _known(problem: Problem) -> RobustProblem:
    """The problem, if paper 004 has its closed forms."""
    if not isinstance(problem, RobustProblem):
        raise RequestError("solver 'conic' is for distortions with a promise over a set of distributions; use solver='auto'")
    for part in (problem.among, problem.spread):
        if part is not None and (not isinstance(part.around.kind, ChiSquare) or part.around.radius == 0):
            raise RequestError(
                f"solver 'conic' knows χ² sets that are not a point, not {part.around.kind!r}; use solver='cuts'"
            )
    if problem.among is not None and not problem.among.events.disjoint:
        raise RequestError(
            "solver 'conic' knows ratios between disjoint events, as in LDP; use solver='cuts' for other notions"
        )
    return problem


class RobustProgram(ConeProgram):
    """The cone program of a robust problem, and what its answer proves."""

    def __init__(self, problem: RobustProblem, active: Mask | None = None) -> None:
        super().__init__()
        self.problem, (n, readings) = problem, problem.costs.shape
        self.active = active = np.ones((readings, n), bool) if active is None else active
        nil = self.new(1)
        self.add(ZERO, self.rows(ZERO, 1), nil, 1)
        self.w = np.full((readings, n), nil[0])
        self.w[active] = self.new(int(active.sum()))
        self.add(SIGN, self.rows(SIGN, int(active.sum())), self.w[active], 1)
        sums = self.rows(ZERO, n)
        self.add(ZERO, sums, self.w, 1)
        self.constant(ZERO, sums, -1)
        self.cone = problem.cone.active.A.astype(np.float64)
        self.plain = self.rows(SIGN, readings, len(self.cone))
        self.add(SIGN, self.plain[:, :, None], self.w[:, None, :], -self.cone)
        if problem.spread is None:
            self.cost(self.w, problem.costs.T)
        self.groups: list[Groups] = []
        self.distortion = [] if problem.spread is None else [self._distort(problem.spread)]
        self.ratios = [] if problem.among is None else self._bound_ratios(problem.among)

    def best(self, x: Array, room: float) -> Array:
        """The rows of x, made whole and private, without those that are noise if that costs no more than `room`; or constant
        ones, if they are better."""
        rows = np.maximum(np.nan_to_num(x[self.w]), 0)
        found = constants(self.problem)
        if rows.sum(axis=0).min() > 0.5:
            whole = rows / rows.sum(axis=0)
            found = np.concatenate([[repaired(self.problem, _merged(whole)), repaired(self.problem, whole)], found])
        costs = self.problem.worst_costs(found)[0]
        return np.asarray(found[np.argmax(costs <= costs.min() + room)])

    def bound(self, answer: Answer) -> float:
        """What every protocol costs at least, by the multipliers."""
        return proven(*self._multiplied(answer))

    def lacking(self, answer: Answer) -> Mask:
        """The letters without a variable, of each reading, that the multipliers would rather have."""
        costs, whose, priced = self._multiplied(answer)
        reduced = costs.T.copy()
        np.add.at(reduced, whose, priced)
        least = np.where(self.active, reduced, np.inf).min(axis=0)
        return np.asarray(~self.active & (reduced < least - LACK * np.abs(costs).max()))

    def _multiplied(self, answer: Answer) -> tuple[Array, Index, Array]:
        """The costs, and the conditions of readings times their multipliers."""
        problem, readings = self.problem, np.arange(len(self.w))
        given = np.maximum(np.nan_to_num(answer.multipliers[SIGN][self.plain]), 0)
        whose, priced = [np.repeat(readings, len(self.cone))], [(given[:, :, None] * self.cone).reshape(-1, self.w.shape[1])]
        if problem.among is not None:
            whose.append(np.repeat(readings, len(problem.among.events)))
            priced.append(self._priced(problem.among, answer))
        costs = problem.costs if problem.spread is None else problem.spread.costs(self._worst(problem.spread, answer)[None])[0]
        return costs, np.concatenate(whose), np.concatenate(priced)

    def _distort(self, spread: Spread) -> Side:
        """The cost: the distortion of the worst P."""
        kappa = math.sqrt(spread.around.radius)
        side = self._side(np.zeros(len(spread.letter), np.intp), spread.around.p, kappa, self.w[:, spread.letter].T, spread.d)
        self.cost(side.e, 1)
        self.cost(side.M, kappa / (1 + kappa**2))
        return side

    def _bound_ratios(self, among: Among) -> list[Side]:
        """The condition of every reading and pair of events."""
        readings, pairs, kappa, sides = len(self.w), len(among.events), math.sqrt(among.around.radius), []
        G, condition = self.new(readings * pairs), self.rows(SIGN, readings * pairs)
        self.add(SIGN, condition, G, -2 * kappa / (math.sqrt(1 + kappa**2) + 1))
        for events, weight in ((among.events.over, 1 / among.factor), (among.events.under, -1.0)):
            pair, cell = np.nonzero(events)
            question, letter = (np.arange(readings)[:, None] * pairs + pair).ravel(), np.tile(among.letter[cell], readings)
            whose = np.repeat(np.arange(readings), len(cell))
            found = Groups.of(
                question, np.tile(among.around.p[cell], readings), self.w[whose, letter], self.active[whose, letter]
            )
            side = self._side(found.question, found.p, kappa, found.w[:, None], np.array([[weight]]))
            self.groups.append(found)
            self.add(SIGN, condition, side.e, -1)
            for term, times in zip(self._means(G, side, kappa), (1, 2), strict=True):
                self.add(SIGN, condition, term, -kappa * times)
            sides.append(side)
        return sides

    def _side(self, question: Index, p: Array, kappa: float, w: Index, values: Array) -> Side:
        """Mean and variance of v = values·w over the cells of each question."""
        whole: Array = np.bincount(question, p).astype(np.float64)
        (seen,), (unseen,), v = np.nonzero(p > 0), np.nonzero(p == 0), np.broadcast_to(values, w.shape)
        share, e, M, f = p / whole[question], self.new(len(whole)), self.new(len(whole)), self.new(len(seen))
        mean = self.rows(SIGN, len(whole))
        self.add(SIGN, mean, e, 1)
        self.add(SIGN, mean[question[:, None]], w, -share[:, None] * v)
        self.add(SIGN, mean[question[seen]], f, -kappa * share[seen])
        cones = self.squares([(e[question[seen]], 0.5), (f, -kappa / 2)], [(M[question[seen]], 1)], [(f, 1)])
        self.add(ROUND, cones[:, 2:], w[seen], -v[seen])
        free = self.rows(SIGN, len(unseen))
        self.add(SIGN, free, e[question[unseen]], kappa)
        self.add(SIGN, free, M[question[unseen]], 1)
        self.add(SIGN, free[:, None], w[unseen], -kappa * v[unseen])
        return Side(question, p, whole, kappa, e, M, mean, seen, cones[:, 2], unseen, free)

    def _means(self, G: Index, side: Side, kappa: float) -> tuple[Index, Index]:
        """D and D' of each question."""
        s, one, two, row = self.new(len(G)), self.new(len(G)), self.new(len(G)), self.rows(ZERO, len(G))
        square = kappa**2
        for variable, value in ((side.M, -1.0), (G, side.whole), (s, 3 * kappa), (one, square), (two, 2 * square)):
            self.add(ZERO, row, variable, value)
        large = [(G, 4 * side.whole)]
        self.squares(
            [(s, 2), (one, kappa), (two, 2 * kappa)], [(one, 1)], [*large, (s, 8 * kappa), (one, square), (two, 4 * square)]
        )
        self.squares([(s, 2), (two, kappa)], [(two, 1)], [*large, (s, 4 * kappa), (two, square)])
        return one, two

    def _worst(self, spread: Spread, answer: Answer) -> Array:
        """The P of the multipliers."""
        return _inside(self.distortion, answer, np.array([math.sqrt(1 + spread.around.radius)]))[1][0]

    def _priced(self, among: Among, answer: Answer) -> Array:
        """e^-ε P(·|A) − P(·|B) over letters, times its multiplier, for every reading and pair."""
        readings, n = self.w.shape
        size, found = _inside(self.ratios, answer, np.tile(_allowed(among), readings))
        priced = np.zeros((len(size), n))
        events = (among.events.over, 1 / among.factor), (among.events.under, -1.0)
        for group, R, (cells, weight) in zip(self.groups, found, events, strict=True):
            letter = np.tile(among.letter[np.nonzero(cells)[1]], readings)
            question = group.question[group.of_cell]
            np.add.at(priced, (question, letter), weight * size[question] * R[group.of_cell] * group.part)
        return priced


@dataclass(frozen=True, eq=False)
class Groups:
    """The cells of all questions; those without a variable are taken together: those seen, and those never seen."""

    question: Index
    p: Array
    w: Index
    of_cell: Index  # the group of each cell
    part: Array  # of the mass of its group

    @classmethod
    def of(cls, question: Index, p: Array, w: Index, active: Mask) -> Groups:
        """From the question, P̂ and the variable of each cell."""
        alone = np.cumsum(active) - 1
        kinds, first, together, counts = np.unique(
            2 * question[~active] + (p[~active] > 0), return_index=True, return_inverse=True, return_counts=True
        )
        of_cell = np.where(active, alone, 0)
        of_cell[~active] = active.sum() + together
        whole: Array = np.append(p[active], np.bincount(together, p[~active], len(kinds))).astype(np.float64)
        size = np.append(np.ones(active.sum()), counts)[of_cell]
        part = np.where(whole[of_cell] > 0, p / np.where(whole[of_cell] > 0, whole[of_cell], 1), 1 / size)
        return cls(np.append(question[active], kinds // 2), whole, np.append(w[active], w[~active][first]), of_cell, part)


@dataclass(frozen=True, eq=False)
class Side:
    """The cells of one event, question by question, its variables e and M, and the rows whose multipliers are masses."""

    question: Index
    p: Array
    whole: Array  # P̂ of the event
    kappa: float
    e: Index
    M: Index
    mean: Index
    seen: Index
    middle: Index
    unseen: Index
    free: Index

    def multipliers(self, answer: Answer) -> Array:
        """Those of v, cell by cell."""
        sign = answer.multipliers[SIGN]
        found = self.p / self.whole[self.question] * sign[self.mean][self.question]
        found[self.seen] += answer.multipliers[ROUND][self.middle]
        found[self.unseen] += self.kappa * sign[self.free]
        return np.maximum(np.nan_to_num(found), 0)


def _merged(rows: Array) -> Array:
    """Faint rows added to the largest one, which keeps every promise."""
    faint, rows = rows.max(axis=1) < FAINT, rows.copy()
    rows[np.argmax(rows.sum(axis=1))] += rows[faint].sum(axis=0)
    rows[faint] = 0
    return rows


def _inside(sides: list[Side], answer: Answer, allowed: Array) -> tuple[Array, list[Array]]:
    """For each question its multiplier, and the distributions on its sides; where Σ √(Σ P̂²/R) is more than allowed they are
    moved towards P̂, of which it is P̂(A) + P̂(B): it is convex."""
    size, spent, least = np.zeros_like(allowed), np.zeros_like(allowed), np.zeros_like(allowed)
    given, likely = [], []
    for side in sides:
        masses = side.multipliers(answer)
        total = np.bincount(side.question, masses, len(allowed))
        likely.append(side.p / side.whole[side.question])
        given.append(np.where(total[side.question] > 0, masses / np.maximum(total[side.question], 1e-300), likely[-1]))
        with np.errstate(divide="ignore"):
            squares = np.where(side.p > 0, side.p**2 / given[-1], 0)
        spent += np.sqrt(np.bincount(side.question, squares, len(allowed)))
        least += side.whole
        size += total / len(sides)
    over = spent > allowed * INSIDE
    share = np.where(over, 1 - np.maximum(allowed * INSIDE - least, 0) / np.where(over, spent - least, 1), 0)
    return size, [R + share[side.question] * (hat - R) for side, R, hat in zip(sides, given, likely, strict=True)]


def _allowed(among: Among) -> Array:
    """C of every pair of events."""
    p, radius, events = among.around.p, among.around.radius, among.events
    return np.asarray(radius / (math.sqrt(1 + radius) + 1) + events.over @ p + events.under @ p)
