"""The restricted master: the best weights for the columns that are known.

    maximise Σ_k θ_k φ(r_k)   subject to   Σ_k θ_k r_k = 1,  θ ≥ 0      (p·r_k = 1)

Its duals λ bound every protocol: OPT ≤ Σ λ + max_{r ∈ K, p·r = 1} [φ(r) − λ·r]. HiGHS works in posterior coordinates
v = p∘r, where every column sums to 1, and only proposes a basis; weights and duals are solved again from that basis
and checked here, so an answer that is not one is an error and never a protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from trechter.errors import SolverError
from trechter.geometry.cone import Array
from trechter.optimal import lp

TOLERANCE = 1e-9  # what a basis may violate before it counts as a lie; HiGHS is asked for 1e-10
BATCH = 1000  # columns that sifting starts from, and adds at most in one round


@dataclass(frozen=True, eq=False)
class Weights:
    """An optimum of the restricted master: weights θ (k), duals λ (n) of Σ θ r = 1, the value Σ θ φ."""

    theta: Array
    duals: Array
    value: float


class Master:
    """The restricted master, warm from one solve to the next; columns are only ever added."""

    def __init__(self, masses: Array) -> None:
        self.masses = masses
        self.posteriors = np.empty((0, len(masses)))
        self.values = np.empty(0)
        self._model = lp.model()
        lp.add_rows(self._model, np.zeros((len(masses), 0)), masses, masses)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def rows(self) -> Array:
        """The columns as rows r of a protocol, p·r = 1."""
        return self.posteriors / self.masses

    def add(self, rows: Array, values: Array) -> None:
        """Add columns r (k × n) with their φ(r); both are scaled to p·r = 1 here."""
        posteriors = rows * self.masses
        sums = posteriors.sum(axis=1)
        if not (np.all(np.isfinite(posteriors)) and np.all(sums > 0) and np.all(np.isfinite(values))):
            raise SolverError("a column is empty or not finite; give rows w ≥ 0 with p·w > 0 and a finite φ(w)")
        posteriors, values = posteriors / sums[:, None], values / sums
        self.posteriors = np.vstack([self.posteriors, posteriors])
        self.values = np.concatenate([self.values, values])
        free = np.full(len(values), lp.INFINITE)
        lp.add_columns(self._model, -values, posteriors, np.zeros(len(values)), free)

    def solve(self) -> Weights:
        """The optimum over the columns so far, checked; SolverError if no weights make Σ θ r = 1.

        Columns that are nearly one may confuse a warm start, and the primal simplex method: then it is tried afresh, and by
        the dual one.
        """
        try:
            return self._solved()
        except SolverError as error:
            first = error
        for method in (lp.PRIMAL, lp.DUAL):
            with suppress(SolverError), lp.afresh(self._model, method):
                return self._solved()
        raise first

    def _solved(self) -> Weights:
        status = lp.run(self._model)
        if status != lp.OPTIMAL:
            raise SolverError(
                f"the master LP over {len(self)} columns ended as {status.name}; some columns must be able to "
                "make Σ θ r = 1 (the constant row alone does)"
            )
        theta, duals = self._resolved()
        self._check(theta, duals)
        theta = np.maximum(theta, 0)
        return Weights(theta, duals * self.masses, float(theta @ self.values))

    def _resolved(self) -> tuple[Array, Array]:
        """Weights and duals (of posteriors) of the basis that HiGHS ends with."""
        basic = lp.basic(self._model)
        slacks = np.eye(len(self.masses))[:, ::-1]  # row i is written −1 − i; its slack is worth nothing
        matrix = np.where(basic >= 0, self.posteriors[np.maximum(basic, 0)].T, slacks[:, np.minimum(basic, -1)])
        theta = np.zeros(len(self))
        weights = lp.refined(self._model, matrix, self.masses)
        theta[basic[basic >= 0]] = weights[basic >= 0]
        costs = np.where(basic >= 0, self.values[np.maximum(basic, 0)], 0)
        return theta, lp.refined(self._model, matrix, costs, transposed=True)

    def _check(self, theta: Array, duals: Array) -> None:
        residual = float(np.max(np.abs(theta @ self.posteriors - self.masses)))
        priced = float(np.max(self.values - self.posteriors @ duals))
        worst = max(residual, -float(np.min(theta)), priced / (1 + float(np.max(np.abs(duals)))))
        if not worst <= TOLERANCE:
            raise SolverError(
                f"the LP solver calls a basis optimal that is off by {worst:.2g} (residual {residual:.2g}, least "
                f"weight {np.min(theta):.2g}, best reduced cost {priced:.2g}); the columns may be badly scaled"
            )


def sift(rows: Array, values: Array, masses: Array, over: Callable[[], bool] = lambda: False) -> Weights:
    """The master over a long list of columns whose first is the constant row: a part at a time, by reduced cost."""
    master, theta = Master(masses), np.zeros(len(rows))
    known = np.zeros(0, int)
    fresh = np.union1d([0], _promising(rows * masses, values))
    while len(fresh):
        known = np.append(known, fresh)
        master.add(rows[fresh], values[fresh])
        weights = master.solve()
        reduced = values - rows @ weights.duals
        reduced[known] = -np.inf
        fresh = np.argsort(-reduced)[:BATCH]
        fresh = fresh[reduced[fresh] > TOLERANCE] if not over() else fresh[:0]
    theta[known] = weights.theta
    return Weights(theta, weights.duals, weights.value)


def _promising(posteriors: Array, values: Array) -> Array:
    """The most valuable columns, and for every letter those that say most of it."""
    each = 1 + BATCH // posteriors.shape[1]
    return np.union1d(np.argsort(-values)[:BATCH], np.argsort(-posteriors, axis=0)[:each])
