"""The certified product: one protocol for each attribute, drawn independently, which together keep the promise.

It starts from a sequential product: Qʲ keeps εʲ given every output of the attributes before it, so by the chain rule
(`factors`) ΠQʲ keeps Σεʲ = ε, for every notion. Qʲ that keeps εʲ by itself, as in `papers_product`, does not suffice.

A sequential product rarely uses all of ε. So each factor in turn is replaced by the best one with which the product keeps ε,
the others being what they are, until nothing is gained. The conditions are exactly those of the product, so no level is left
unused, and orders and splits of ε matter only as places to start from.

The best factor is the one of most I(Xʲ;Yʲ). What the product gains is I(Xʲ;Yʲ | all other Y), which only one of the solvers
could maximise; on 60 joints that made 0.0003 nats on average. Products are compared by I(X;Y).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from trechter.errors import ProtocolError, SolverError
from trechter.exact import epsilon_text
from trechter.measures import Measure, mutual_information
from trechter.mechanisms.calibration import Array
from trechter.mechanisms.factors import Epsilon, Factors, Rows, Split, named
from trechter.mechanisms.plain import identity
from trechter.mechanisms.record import record
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.result import Result
from trechter.optimal import design
from trechter.optimal.design import TINY, check_request
from trechter.optimal.problem import Budget
from trechter.privacy import Notion

Order = tuple[int, ...]
PARTS = 4  # splits are tried in steps of ε/4
FEW = 3  # attributes: all orders and steps of the split are tried
ROUNDS = 20
GAIN = 1e-7  # nats; what gains less is the same


def product(joint: Joint, notion: Notion, *, measure: Measure | None = None, time_limit: float | None = None) -> Result:
    """The best product found that keeps the promise; a time limit ends the search, not the first product."""
    check_request(joint, notion, measure)
    start, budget = time.perf_counter(), Budget(seconds=time_limit)
    if len(joint.release) == 1:
        best = design(joint, notion, measure=measure, time_limit=time_limit).protocol
        return record("product", best, joint, notion, measure, start)
    factors = Factors(joint, notion)
    everything = identity(joint, notion, measure=measure)
    if everything.certificate.holds:  # nothing says more
        plan = _plan(joint, tuple(range(len(joint.release))), next(splits(notion.epsilon, len(joint.release))))
        return record("product", everything.protocol, joint, notion, measure, start, **plan)
    perfect = notion.epsilon is not None and notion.epsilon < TINY
    protocol, stats = _perfect(factors) if perfect else _searched(factors, budget)
    return record("product", protocol, joint, notion, measure, start, **stats)


@dataclass(frozen=True, eq=False)
class Found:
    """A product and where it comes from."""

    rows: Rows
    utility: float
    order: Order
    split: Split
    sequential: float  # the utility that it started from


@dataclass(eq=False)
class Search:
    """Products by order and split; what two of them have in common is computed once."""

    factors: Factors
    known: dict[tuple[tuple[int, Epsilon], ...], Array] = field(default_factory=dict)
    tried: int = 0

    def best(self, starts: Iterable[tuple[Order, Split]], budget: Budget, best: Found | None = None) -> Found:
        """The best of several starts; one is tried even if time is up."""
        for order, split in starts:
            if best is None or not budget.over:
                found = self.found(order, split)
                best = found if best is None or found.utility > best.utility + GAIN else best
        assert best is not None
        return best

    def found(self, order: Order, split: Split) -> Found:
        """The sequential product, then its factors in turn, each the best given the others."""
        self.tried += 1
        rows: Rows = self.sequential(tuple((j, split[j]) for j in order))
        sequential = utility = self.factors.utility(rows)
        for _ in range(ROUNDS):
            try:
                turned = self._turned(rows, order)
            except SolverError:  # at tiny ε the float noise of one factor can leave no room for another
                break
            gained = self.factors.utility(turned) - utility
            if gained > 0:
                rows, utility = turned, utility + gained
            if gained < GAIN:
                break
        return Found(rows, utility, order, split, sequential)

    def sequential(self, plan: tuple[tuple[int, Epsilon], ...]) -> dict[int, Array]:
        """Each factor of the plan given those before it."""
        rows: dict[int, Array] = {}
        for k, (j, epsilon) in enumerate(plan):
            if plan[: k + 1] not in self.known:
                self.known[plan[: k + 1]] = self._earlier(j, rows, epsilon)
            rows[j] = self.known[plan[: k + 1]]
        return rows

    def _earlier(self, j: int, rows: Rows, epsilon: Epsilon) -> Array:
        """The factor to start from; without a budget, or where floats cannot tell what is private, a constant."""
        nothing = np.ones((1, len(self.factors.marginals[j])))
        try:
            return nothing if epsilon == 0 else self.factors.given_earlier(j, rows, epsilon)
        except SolverError:
            return nothing

    def _turned(self, rows: Rows, order: Order) -> Rows:
        for j in order:
            rows = {**rows, j: self.factors.given_others(j, {i: Q for i, Q in rows.items() if i != j})}
        return rows


def _searched(factors: Factors, budget: Budget) -> tuple[DenseProtocol, dict[str, Any]]:
    """All splits in one order, the attribute of most values first; then other orders of the best split."""
    search, m = Search(factors), len(factors)
    largest = tuple(sorted(range(m), key=lambda j: -len(factors.marginals[j])))
    best = search.best([(largest, split) for split in splits(factors.notion.epsilon, m)], budget)
    turned = search.best([(order, best.split) for order in neighbours(best.order)], budget, best)
    while m > FEW and turned is not best:
        best = turned
        turned = search.best([(order, best.split) for order in neighbours(best.order)], budget, best)
    protocol, mixed = factors.certified(turned.rows)
    stats = {"sequential": turned.sequential, "tried": search.tried, "mixed": mixed} | budget.halt
    return protocol, _plan(factors.joint, turned.order, turned.split) | stats


def _plan(joint: Joint, order: Order, split: Split) -> dict[str, Any]:
    """In which order the factors were found, and with which budgets of their own to start with."""
    names = [a.name for a in joint.release]
    return {"order": [names[j] for j in order], "epsilons": [epsilon_text(epsilon) for epsilon in split]}


def splits(epsilon: Epsilon, m: int) -> Iterator[Split]:
    """Evenly; then everything that is made of quarters, or all for one attribute where there are many of them."""
    if epsilon is None:
        yield (None,) * m
        return
    yield (epsilon / m,) * m
    units = PARTS if m <= FEW else 1
    for parts in np.ndindex(*[units + 1] * m):
        if sum(parts) == units:
            yield tuple(Fraction(part, units) * epsilon for part in parts)


def neighbours(order: Order) -> Iterator[Order]:
    """All other orders; where there are many, those with two neighbours exchanged."""
    if len(order) <= FEW:
        yield from (other for other in permutations(order) if other != order)
        return
    for k in range(len(order) - 1):
        yield (*order[:k], order[k + 1], order[k], *order[k + 2 :])


def _perfect(factors: Factors) -> tuple[DenseProtocol, dict[str, Any]]:
    """ε = 0, in exact numbers: the best order; or constants, if that takes numbers too large."""
    m = len(factors)
    best, value, chosen = factors.constant(), 0.0, tuple(range(m))
    for order in (chosen, *neighbours(chosen)):
        protocols: dict[int, DenseProtocol] = {}
        try:
            for j in order:
                protocols[j] = factors.perfect(j, protocols)
            found = named([protocols[j] for j in range(m)])
        except (SolverError, ProtocolError):
            continue
        utility = mutual_information(factors.joint, found)
        if utility > value:
            best, value, chosen = found, utility, order
    return best, _plan(factors.joint, chosen, (Fraction(0),) * m)
