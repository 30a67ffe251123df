"""Column generation: the row-cone problem at sizes whose rays nobody can list.

The master holds the columns that are known; its duals λ price all others, and OPT ≤ Σ λ + the best reduced cost. Most
columns come from climbing over adjacent vertices, from those in use and from kicks of them; when that finds no more, branch
and bound finds those that are missing, or proves that none is worth more than what is left of the gap.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from trechter.errors import SolverError, TrechterWarning
from trechter.geometry import Cone
from trechter.geometry.cone import Array
from trechter.optimal.ascent import Vertex, climb, vertex_at
from trechter.optimal.master import Weights
from trechter.optimal.polytope import NOISE, Polytope
from trechter.optimal.pool import Pool
from trechter.optimal.pricing import Pricing
from trechter.optimal.problem import Budget, Problem, Solution
from trechter.optimal.protocols import completed
from trechter.optimal.relaxation import Relaxations
from trechter.optimal.start import MANY, corners, loosened, muffled

SHARE = 0.6  # of the gap is left to branch and bound
FINEST = 1e-9  # a gap below this is noise
KICKS = ((0.5, 0.0), (0.0, 0.3), (0.1, 0.0), (0.0, 1.0))  # noise on prices: relative, and in their standard deviations
PATIENCE = 8  # kicks in vain before branch and bound
NODES = 500  # before branch and bound stops for the columns that it met
GROWTH = 1.5  # of that number from one time to the next
TICK = 0.25  # seconds between reports


GiveUp = Callable[[float, float], bool]  # utility, bound


def never(utility: float, bound: float) -> bool:
    """Not to give up."""
    return False


def solve(problem: Problem, budget: Budget, give_up: GiveUp = never) -> Solution:
    """The best protocol within the gap or the time, or until it is time to give up; always a protocol and a true bound."""
    with threadpool_limits(1, "blas"):  # its threads spin when the cores are busy, which made a climb ten times slower
        run = Run(problem, budget, give_up)
        try:
            run.to_the_end()
        except SolverError as error:
            run.failed(error)
        finally:
            run.close()
        return run.solution()


class Run:
    """One solve: what is known at any moment is a protocol and a bound."""

    def __init__(self, problem: Problem, budget: Budget, give_up: GiveUp = never) -> None:
        cone = Cone(np.asarray(problem.cone.active.A, float))
        self.problem, self._exact = replace(problem, cone=cone), problem.cone.exact
        problem = self.problem
        self.budget, self.cut = budget, max(SHARE * budget.gap, FINEST)
        self._told, self._give_up = 0.0, give_up
        self.stats: dict[str, Any] = {"rounds": 0, "nodes": 0}
        self.space = Polytope.of(problem)
        self.pool = Pool(problem, self.space)
        self.rows, self.utility = np.ones((1, self.space.letters)), float(problem.phi(np.ones((1, self.space.letters)))[0])
        each = self.space.worth(self.space.points(np.eye(self.space.letters)))
        self.bound = _above(each * problem.masses)  # no protocol says more than x itself
        self._relaxations, self._random = Relaxations(self.space), np.random.default_rng(0)

    def to_the_end(self) -> None:
        """Until the gap is closed, the time is up or nothing new is found."""
        if self.space.letters <= MANY:
            self.pool.add_points(muffled(self.space))
            self._weigh()
        found, self._lower, self._upper = corners(self._relaxations, lambda: self._over)
        self.pool.add(found)
        if self.problem.hint is not None:
            posteriors = self.problem.hint * self.problem.masses
            posteriors = posteriors / posteriors.sum(axis=1, keepdims=True)
            self.pool.add_points(posteriors)
            self._harvest(self.space.points(posteriors), np.zeros(self.space.size))
        loosened(self.pool, self._late)
        nodes: float = NODES
        weights = self._climb_out()
        while not self._done and self._price(weights, nodes):
            weights, nodes = self._climb_out(), GROWTH * nodes

    def solution(self) -> Solution:
        """What is known now."""
        rows = self.rows if self._exact else completed(self.problem.cone, self.rows)  # exact rays need no completion here
        stats = self.stats | {"columns": len(self.pool), "lps": self._relaxations.solved, "support": len(rows)}
        if self.bound - self.utility > self.budget.gap:
            stats |= {"stopped": "nothing more was found"} | self.budget.halt
        return Solution(rows, self.bound, "columns", stats)

    def failed(self, error: SolverError) -> None:
        """What a solver has claimed in vain does not take away what is known; if that is where it began, it is an error."""
        if self.stats["rounds"] <= 1:
            raise error
        warnings.warn(f"the design stopped early: {error}", TrechterWarning, stacklevel=3)
        self.stats["failed"] = str(error)

    def close(self) -> None:
        """Let the threads go."""
        self._relaxations.close()

    def _late(self) -> bool:
        return self.budget.over

    @property
    def _done(self) -> bool:
        return self.bound - self.utility <= self.budget.gap or self._over

    @property
    def _over(self) -> bool:
        return self.budget.over or self._give_up(self.utility, self.bound)

    def _weigh(self) -> Weights:
        weights = self.pool.master.solve()
        kept = weights.theta > 0
        self.rows, self.utility = weights.theta[kept, None] * self.pool.master.rows[kept], weights.value
        self.stats["rounds"] += 1
        self._tell("climbing")
        return weights

    def _climb_out(self) -> Weights:
        """Add what climbing finds, until kicks of what is in use lead nowhere new."""
        kicks = 0
        while True:
            weights = self._weigh()
            prices, used = self.space.prices(weights.duals), self.pool.used(weights)
            new = self._climbed(used, prices)
            while not new and kicks < PATIENCE and not self._over:
                new = self._climbed(self._kicked(used, prices, kicks), prices)
                kicks += 1
            if not new or self._over:
                return weights

    def _climbed(self, starts: list[Vertex], prices: Array) -> int:
        found = climb(self.space, starts, prices, self.cut / 10, self._late, each=1).found
        best = sorted(found, key=lambda vertex: -found[vertex])
        return self.pool.add(best[: self.space.letters])

    def _kicked(self, starts: list[Vertex], prices: Array, kick: int) -> list[Vertex]:
        """Where climbing ends under prices with noise."""
        relative, absolute = KICKS[kick % len(KICKS)]
        n = self.space.letters
        noise = np.zeros((2, len(prices)))
        noise[:, :n] = self._random.standard_normal((2, n))
        shaken = prices * (1 + relative * noise[0]) + absolute * np.std(prices[:n]) * noise[1]
        return climb(self.space, starts, shaken, np.inf, self._late, each=1).stops

    def _price(self, weights: Weights, nodes: float) -> bool:
        """Branch and bound at the duals; whether there are new columns."""
        prices, base = self.space.prices(weights.duals), _above(weights.duals)
        pricing = Pricing(self._relaxations, prices, self.cut, self._lower, self._upper)
        try:
            self.bound = min(self.bound, base + pricing.bound)
            while pricing.open and not self._enough(pricing, nodes):
                pricing.step()
                self.bound = min(self.bound, base + pricing.bound)
                self._tell("pricing")
        finally:
            self.stats["nodes"] += pricing.nodes
        new = self._harvest(pricing.found, prices)
        if new:
            self._weigh()
        return new > 0

    def _enough(self, pricing: Pricing, nodes: float) -> bool:
        """Whether it is time to go back to the master: it must be if the best found is most of the bound."""
        if self._done:
            return True
        if pricing.best <= self.cut:
            return False
        early = self.budget.seconds is None or self.budget.elapsed < self.budget.seconds / 2
        return pricing.best > pricing.bound / 2 or (early and pricing.nodes > nodes)

    def _harvest(self, points: Array, prices: Array) -> int:
        """Columns from the points that branch and bound met: vertices of their faces, and what is above these."""
        if not len(points):
            return 0
        space, n = self.space, self.space.letters
        slopes = np.zeros_like(points)
        slopes[:, space.curved] = space.curve.slope(np.maximum(points[:, space.curved], FINEST), space.prior)
        upper = np.ones_like(points)
        upper[:, :n] = points[:, :n] > FINEST
        answer = self._relaxations.solve(slopes - prices, np.zeros_like(points), upper, [None] * len(points))
        ends = answer.points[~np.isnan(answer.points[:, 0])]
        vertices = [vertex_at(space, point[:n]) for point in ends]
        new = self._climbed([vertex for vertex in vertices if vertex is not None], prices)
        lost = [k for k, vertex in enumerate(vertices) if vertex is None]
        worth = space.worth(ends[lost]) - ends[lost] @ prices
        return new + self.pool.add_points(ends[lost][worth > self.cut / 10][:, :n])

    def _tell(self, phase: str) -> None:
        now = self.budget.elapsed
        if self.budget.progress is None or now - self._told < TICK:
            return
        self._told = now
        gap = self.bound - self.utility
        known = {"utility": self.utility, "bound": self.bound, "gap": gap, "columns": len(self.pool), "phase": phase}
        self.budget.progress({"seconds": now} | known)


def _above(terms: Array) -> float:
    """Σ terms, rounded up."""
    return math.fsum(terms) + NOISE * (1 + float(np.abs(terms).sum()))
