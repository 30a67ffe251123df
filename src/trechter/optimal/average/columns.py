"""Column generation for a trade: the best mixture of the columns known, and what its prices prove of all others.

The master has a row for every letter and one for the limit, whose dual is β: a basic solution time-shares where it must.
Columns come from climbing; when that finds no more, the search over simplices finds what is missing, or proves that there
is nothing. Where that is beyond reach, what climbing finds is all there is, and the bound is that of data processing.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import comb

import numpy as np

from trechter.errors import SolverError
from trechter.optimal import lp
from trechter.optimal.average.pricing import pricing
from trechter.optimal.average.search import Search
from trechter.optimal.average.trade import Array, Prices, Trade
from trechter.optimal.polytope import NOISE
from trechter.optimal.problem import Budget

FACES = 20_000  # simplices of two letters to begin with that are searched; half as many of three, and so on
CORNERS = 5  # of a simplex that is searched
SHARE = 0.5  # of the gap is left to the search
ENOUGH = 0.9  # of the gap: the rest is for rounding
FINEST = 1e-9
DIGITS = 9  # columns that agree to so many digits are one
MOST_NODES = 2_000_000  # of one search: about ten seconds
ROUNDS = 1000
ADDED = 50  # columns at a time, and one for each letter
FEW, MANY = 60, 1000  # passes of Blahut–Arimoto over a whole mixture
PATIENCE, STARTS = 5, 300  # how often, and from how many random columns, climbing is tried in vain


@dataclass(frozen=True, eq=False)
class Mixture:
    """Columns v with their shares q, the duals, and what they are worth."""

    columns: Array
    shares: Array
    prices: Prices
    value: float


class Master:
    """The best shares for the columns that are known."""

    def __init__(self, trade: Trade) -> None:
        self.trade = trade
        self._unit = trade.all_leaked or 1.0  # of the limit's row: a solver's tolerance is absolute
        self.columns = np.zeros((0, trade.letters))
        self._known: set[bytes] = set()
        self._model = lp.model()
        none = np.zeros((trade.letters, 0))
        lp.add_rows(self._model, none, trade.masses, trade.masses)
        lp.add_rows(self._model, none[:1], np.array([-lp.INFINITE]), np.array([trade.tightened(0) / self._unit]))

    def add(self, columns: Array) -> int:
        """Add posteriors; how many were new."""
        keys = [column.tobytes() for column in np.round(columns, DIGITS) + 0.0]
        fresh = [k for k, key in enumerate(keys) if key not in self._known and not self._known.add(key)]  # type: ignore[func-returns-value]
        if fresh:
            new, sign = columns[fresh], self.trade.sign
            self.columns = np.vstack([self.columns, new])
            matrix = np.hstack([new, sign / self._unit * self.trade.leaked(new)[:, None]])
            zero = np.zeros(len(new))
            lp.add_columns(self._model, -sign * self.trade.said(new), matrix, zero, zero + lp.INFINITE)
        return len(fresh)

    def solve(self) -> Mixture:
        """The best mixture; its prices are a proposal, which any bound may use.

        Columns that are nearly one may confuse a warm start: then it is tried afresh, and by the dual simplex method.
        """
        status = lp.run(self._model)
        for method in (lp.PRIMAL, lp.DUAL):
            if status == lp.OPTIMAL:
                return self._mixture()
            with lp.afresh(self._model, method):
                status = lp.run(self._model)
                if status == lp.OPTIMAL:
                    return self._mixture()
        raise SolverError(f"the master LP over {len(self.columns)} columns ended as {status.name}")

    def _mixture(self) -> Mixture:
        answer = self._model.getSolution()
        theta, duals = np.maximum(answer.col_value, 0), -np.array(answer.row_dual)
        used = np.flatnonzero(theta > 0)
        value = self.trade.sign * float(theta[used] @ self.trade.said(self.columns[used]))
        return Mixture(self.columns[used], theta[used], Prices(duals[:-1], max(0.0, float(duals[-1]) / self._unit)), value)

    def tighten(self, margin: float) -> None:
        """Ask for a little more than the limit."""
        self._model.changeRowBounds(self.trade.letters, -lp.INFINITE, self.trade.tightened(margin) / self._unit)


def searchable(trade: Trade) -> bool:
    """Whether the simplices can be searched."""
    if trade.sign < 0:
        return len(trade.prior) <= CORNERS
    r = min(len(trade.prior), trade.letters)
    return r <= CORNERS and comb(trade.letters, r) << r <= 4 * FACES


class Run:
    """One solve: what is known at any moment is a mixture and a bound."""

    def __init__(self, trade: Trade, budget: Budget, start: Array, exact: bool) -> None:
        self.trade, self.budget, self.exact = trade, budget, exact
        self.master = Master(trade)
        self.master.add(start)
        self.mixture = self.master.solve()
        self.bound = trade.easy
        self.stats = {"rounds": 0, "nodes": 0}
        self._random = np.random.default_rng(0)

    @property
    def gap(self) -> float:
        """How far the mixture can be from the optimum."""
        return self.bound - self.mixture.value

    def to_the_end(self) -> None:
        """Until the gap is closed, the time is up or nothing new is found; if the solver fails, what is known stays."""
        with suppress(SolverError):
            while not self._done:
                self._climb_out()
                if not (self._searched() if self.exact else self._sought()):
                    return

    @property
    def _done(self) -> bool:
        return self.gap <= ENOUGH * self.budget.gap or self.budget.over or self.stats["rounds"] >= ROUNDS

    def _solve(self) -> None:
        self.mixture = self.master.solve()
        self.stats["rounds"] += 1

    def mixed(self, margin: float) -> tuple[Array, Array]:
        """The best columns known and their shares, for a limit that is tighter by a margin."""
        self.master.tighten(margin)
        mixture = self.master.solve()
        return mixture.columns, mixture.shares

    def _climb_out(self) -> None:
        """Add what climbing from the columns in use finds, until that gains nothing."""
        while not self._done:
            before, prices = self.mixture.value, self.mixture.prices
            columns, _ = pricing(self.trade, prices).improved(self.mixture.columns, self.mixture.shares, FEW)
            if not self._added(columns, prices) or self.mixture.value <= before + self.budget.gap / 100:
                return

    def _added(self, columns: Array, prices: Prices) -> bool:
        """Add the columns that are worth the most above their price; whether any was new."""
        worth = self.trade.worth(columns, prices)
        best = np.argsort(-worth)[: ADDED + self.trade.letters]
        new = self.master.add(columns[best[worth[best] > FINEST]])
        if new:
            self._solve()
        return new > 0

    def _searched(self) -> bool:
        """Search at smoothed prices, then at those of the master; whether there are new columns."""
        prices = self.mixture.prices
        columns, smooth = pricing(self.trade, prices).improved(self.mixture.columns, self.mixture.shares, MANY)
        if smooth is not prices and (self._priced(smooth, columns) or self._done):
            return True
        return self._priced(prices, columns)

    def _sought(self) -> bool:
        """Climb from random columns; whether any of several attempts gained more than the gap."""
        for _ in range(PATIENCE):
            before, prices = self.mixture.value, self.mixture.prices
            named = self._random.random((STARTS, self.trade.letters)).argsort(axis=1) < len(self.trade.prior)
            start = named * self._random.exponential(size=named.shape)
            start = start / start.sum(axis=1, keepdims=True)
            self._added(pricing(self.trade, prices).climbed(start), prices)
            if self.budget.over or self.mixture.value > before + self.budget.gap:
                return not self.budget.over
        return False

    def _priced(self, prices: Prices, columns: Array) -> bool:
        """Search at the prices: a bound, and perhaps new columns."""
        cut = max(FINEST, SHARE * self.budget.gap)
        family = pricing(self.trade, prices)
        search, base = Search(family, cut), self.trade.base(prices)
        while search.open and search.nodes < MOST_NODES and not self.budget.over:
            if search.best > cut and search.best > search.bound / 2:
                break
            search.step()
        noise = NOISE * (1 + prices.limit * self.trade.all_said + float(np.abs(prices.letters).max()))
        self.bound = min(self.bound, base + search.bound + noise)
        self.stats["nodes"] += search.nodes
        found = search.found
        return self._added(np.vstack([columns, family.climbed(found), found]), self.mixture.prices)
