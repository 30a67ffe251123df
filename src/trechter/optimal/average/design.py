"""The average-case privacy funnel and the information bottleneck: protocols, with what they say and leak on average.

They are here to be compared with. A limit on I(S;Y) promises nothing for any one output: some readers may be told all of
S if that is rare enough. So the certificate of these protocols promises nothing either; it says how bad the worst output is.
What is delivered obeys the limit, decided in rigorous arithmetic for the integers that are drawn from.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import takewhile
from math import gcd
from typing import Any

import numpy as np

from trechter.audit import certify
from trechter.audit.information import keeps_at_least, leaks_at_most, secret_information
from trechter.errors import RequestError, SolverError, expect
from trechter.exact import as_fraction
from trechter.finish import deliver
from trechter.measures import MutualInformation, entropy
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.result import Result
from trechter.model.spec import Spec
from trechter.optimal.average.columns import Run, searchable
from trechter.optimal.average.merging import Index, merged, starts, tidied
from trechter.optimal.average.trade import Array, Trade
from trechter.optimal.design import design
from trechter.optimal.interrupt import stoppable
from trechter.optimal.problem import Budget
from trechter.privacy import LIP

METHODS = ("auto", "columns", "ascent", "merging")
NOTHING = Spec("lip", None)
FAINT = 1e-6  # nats; below this what is perfectly private may say more than what floats find
NARROW = 1e-2  # nats
LEAST = 1e-9  # nats; a funnel that is narrower is bounded by one of this width
MOST_CLIMBED, MOST_MERGED = 400, 1000  # letters
MARGINS = (0.0, *(10.0**k for k in range(-12, 0)))  # of the limit, given up until the integers obey it
SLACK = 1e-9  # what a float may be off
TIDY = 0.005  # of the gap may go to adding up columns that are nearly the same


@dataclass(frozen=True)
class Rate:
    """I(X;Y) as what is spent."""

    symbol: str = "I(X;Y)"
    unit: str = "nats"
    less_is_better: bool = True


def average_funnel(
    joint: Joint, most: object, *, method: str = "auto", gap: float = 1e-6, time_limit: float | None = None
) -> Result:
    """The protocol that says the most of X while I(S;Y) ≤ `most` nats: a limit on average, no promise for any output.

    method "columns" proves a bound, "ascent" does not, "merging" is the greedy partition of the literature.
    """
    return _Request(joint, _limit(joint, most), 1, method, Budget(gap, time_limit)).result()


def information_bottleneck(
    joint: Joint, least: object, *, method: str = "auto", gap: float = 1e-6, time_limit: float | None = None
) -> Result:
    """The protocol that says the least of X while I(S;Y) ≥ `least` nats: X compressed to what it tells of S."""
    return _Request(joint, _reachable(joint, _limit(joint, least)), -1, method, Budget(gap, time_limit)).result()


@dataclass(frozen=True, eq=False)
class _Request:
    """What was asked for; `sign` as in `Trade`."""

    joint: Joint
    limit: Fraction
    sign: int
    method: str
    budget: Budget

    def result(self) -> Result:
        """The protocol and the record of it."""
        start, trade = time.perf_counter(), Trade.of(self.joint, float(self.limit), self.sign)
        method = self._method(trade)
        with stoppable(self.budget):
            protocol, bound, stats = self._found(trade, method)
        measure = MutualInformation()
        utility = measure.utility(self.joint, protocol)
        bound = max(bound, utility) if self.sign > 0 else min(-bound, utility)
        proved = abs(bound - utility) <= self.budget.gap
        status = "optimal" if proved else "gap" if method == "columns" else "heuristic"
        seconds, certificate = time.perf_counter() - start, protocol.certificate
        assert certificate is not None
        stats = stats | self._leaks(protocol)
        return Result(
            protocol, utility, bound, status, method, seconds, certificate, measure if self.sign > 0 else Rate(), stats
        )

    def _method(self, trade: Trade) -> str:
        if self.method not in METHODS:
            raise RequestError(f"unknown method {self.method!r}; use {', '.join(map(repr, METHODS))}")
        c, a, method = len(trade.prior), trade.letters, self.method
        if method == "auto":
            method = "columns" if searchable(trade) else "ascent" if a <= MOST_CLIMBED else "merging"
        sizes = f"{c} values of the secret and {a} of X"
        if method == "columns" and not searchable(trade):
            raise RequestError(f"{sizes} are too many to prove a bound for; use method='ascent' or 'merging'")
        if a > (MOST_MERGED if method == "merging" else max(MOST_CLIMBED, a * searchable(trade))):
            raise RequestError(f"{sizes} are too many for method={method!r}; use bins, or a worst-case notion with tr.design")
        return method

    def _found(self, trade: Trade, method: str) -> tuple[DenseProtocol, float, dict[str, Any]]:
        if method == "merging":
            return self._greedy(trade)
        if self.sign > 0 and self.limit == 0:
            return self._perfect
        if self.sign > 0 and self._obeys(identity := self._partitioned(trade, np.arange(trade.letters))):
            return identity, trade.all_said, {}
        if self.sign < 0 and self.limit == _all(self.joint):
            return self._last_resort(trade), -entropy(np.bincount(self._told, trade.masses).astype(np.float64)), {}
        wide = replace(trade, limit=max(trade.limit, LEAST)) if self.sign > 0 else trade
        run = Run(wide, self.budget, self._starts(trade), method == "columns")
        run.to_the_end()
        stats = run.stats | {"columns": len(run.master.columns), "beta": run.mixture.prices.limit} | self.budget.halt
        protocol = self._obedient(trade, run)
        if self.sign > 0 and self.limit < FAINT:
            protocol = max(protocol, self._perfect[0], key=lambda one: MutualInformation().utility(self.joint, one))
        return protocol, run.bound, stats

    def _greedy(self, trade: Trade) -> tuple[DenseProtocol, float, dict[str, Any]]:
        """The first partition that obeys a funnel's limit, or the last that obeys a bottleneck's."""
        near = SLACK * (1 + trade.limit)
        if self.sign > 0:
            kept: Iterable[Index] = (group for group, leaked in merged(trade) if leaked <= trade.limit + near)
        else:
            kept = [group for group, leaked in takewhile(lambda one: one[1] >= trade.limit - near, merged(trade))][::-1]
        for group in kept:
            protocol = self._partitioned(trade, group)
            if self._obeys(protocol):
                return protocol, trade.easy, {"merged": trade.letters - len(np.unique(group))}
        return self._last_resort(trade), trade.easy, {}

    def _starts(self, trade: Trade) -> Array:
        """Sets of letters, and for a narrow funnel what is perfectly private: the optimum is not far from it."""
        if self.sign < 0 or self.limit > NARROW:
            return starts(trade)
        rows = self._perfect[0].matrix[:, self.joint.p_x > 0] * trade.masses
        return np.vstack([starts(trade), rows / rows.sum(axis=1, keepdims=True)])

    def _partitioned(self, trade: Trade, group: Index) -> DenseProtocol:
        return self._delivered((group == np.unique(group)[:, None]).astype(np.float64))

    def _last_resort(self, trade: Trade) -> DenseProtocol:
        """Nothing of S for the funnel; all of it for the bottleneck: values of X that tell the same of S are one output."""
        return self._perfect[0] if self.sign > 0 else self._partitioned(trade, self._told)

    @property
    def _told(self) -> Index:
        """Which values of X tell the same of S: the least that says all of it."""
        columns = [tuple(n // gcd(*column) for n in column) for column in self.joint.exact.T.tolist() if any(column)]
        return np.array([columns.index(column) for column in columns])

    @cached_property
    def _perfect(self) -> tuple[DenseProtocol, float, dict[str, Any]]:
        """Nothing of S at all."""
        left = None if self.budget.seconds is None else max(0.0, self.budget.seconds - self.budget.elapsed)
        found = design(self.joint, LIP(0), gap=self.budget.gap, time_limit=left)
        assert isinstance(found.protocol, DenseProtocol)  # of so few letters
        bare = replace(found.protocol, promise=NOTHING, certificate=None)
        return bare.certified(certify(bare, self.joint)), found.bound, {"perfect": found.solver}

    def _obedient(self, trade: Trade, run: Run) -> DenseProtocol:
        """The first protocol whose integers obey the limit, each asked for a little more than the last."""
        with suppress(SolverError):
            for margin in MARGINS:
                columns, shares = tidied(trade, *run.mixed(margin), TIDY * self.budget.gap)
                protocol = self._delivered(columns * shares[:, None] / trade.masses)
                if self._obeys(protocol):
                    return protocol
        return self._last_resort(trade)

    def _obeys(self, protocol: DenseProtocol) -> bool:
        return (leaks_at_most if self.sign > 0 else keeps_at_least)(protocol, self.joint, self.limit)

    def _delivered(self, rows: Array) -> DenseProtocol:
        return deliver(rows, self.joint, NOTHING, "x")[0]

    def _leaks(self, protocol: DenseProtocol) -> dict[str, float]:
        """What is leaked on average, rounded to the side that counts, and at worst."""
        low, high = secret_information(protocol, self.joint)
        levels = {name: certify(protocol, self.joint, Spec(name, None)).level for name in ("lip", "ldp")}
        return {"leakage": high if self.sign > 0 else low} | levels


def _limit(joint: Joint, given: object) -> Fraction:
    """A limit in nats, exactly as given."""
    expect(joint, Joint, "tr.Joint(counts)")
    try:
        limit = as_fraction(given)
    except ValueError:
        limit = Fraction(-1)
    if limit < 0:
        raise RequestError(f"a limit of {given!r} on I(S;Y) makes no sense; give a finite number of nats ≥ 0")
    return limit


def _reachable(joint: Joint, limit: Fraction) -> Fraction:
    """What can be kept of S: at most I(S;X), where a float may be off by a little."""
    most = _all(joint)
    if limit > most * (1 + Fraction(SLACK)):
        raise RequestError(
            f"I(S;Y) ≥ {float(limit):.6g} is out of reach: X itself says {float(most):.6g} nats of S; ask for at most that"
        )
    return min(limit, most)


def _all(joint: Joint) -> Fraction:
    """I(S;X), rounded down."""
    identity = DenseProtocol.from_matrix(np.eye(len(joint.p_x)), joint, bits=1)
    return Fraction(secret_information(identity, joint)[0])
