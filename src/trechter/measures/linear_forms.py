"""The law of a linear form L = Σ_x w_x P_x of P ~ Dirichlet(β): what an output is drawn with, given P.

Let S ~ Gamma(β₀) be drawn by itself, so that S·P are Gamma(β_x) by themselves. Then T = S·L has

    E e^-τT = M(τ) = Π_x (1 + τ w_x)^-β_x,     and that of S is (1 + τ)^-β₀.

Since ln t = ∫₀^∞ (e^-τ − e^-τt) dτ/τ, and a row is scaled to E L = Σ m_x w_x = 1,

    E ln L   = ∫₀^∞ ( (1 + τ)^-β₀ − M(τ) ) dτ/τ
    E L ln L = ∫₀^∞ ( (1 + τ)^-(β₀+1) + M'(τ)/β₀ ) dτ/τ,     −M'/β₀ = M Σ_x m_x w_x / (1 + τ w_x),

the second because −M'/β₀ is the transform of T under the law weighted by L. So what an output says of X, given P,

    φ(w) = E Σ_x P_x w_x ln( w_x / L ) = Σ_x m_x w_x ln w_x − E L ln L,

is an integral in one dimension, however many values X has.

The error: with τ = e^u both integrands are analytic for |Im u| < π, and along Im u = π/2 bounded by what is integrated; so the
trapezoid rule of step h = 3/16 errs by about e^(−π²/h) < 1e-22. Below u₁ and above u₂ lie less than 1e-17 each.
Rounding of floats is all that is left, about 1e-15 for each row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.errors import TooLargeError
from trechter.measures.dirichlet import Array, Dirichlet

STEP = 3 / 16
TAIL = 39.2  # −ln 1e-17
BLOCK = 1 << 20  # so many terms at a time
MOST_TERMS = 50_000_000  # of a matrix
Integrand = Callable[["Law", Array, float], Array]


@dataclass(frozen=True, eq=False)
class Law:
    """A row scaled to E L = 1: its distinct values, and the β that each of them has together; `mass` is the E L it had."""

    values: Array
    betas: Array
    mass: float


@dataclass(frozen=True, eq=False)
class LinearForms:
    """The laws of rows; rows of the same law share it, and `which` is that of each row."""

    laws: tuple[Law, ...]
    which: NDArray[np.intp]
    prior: Dirichlet

    @classmethod
    def of(cls, rows: Array, prior: Dirichlet) -> LinearForms:
        """The laws of rows, none of which is 0 everywhere."""
        if rows.size > MOST_TERMS:
            raise TooLargeError(f"{rows.shape[0]:,} outputs × {rows.shape[1]:,} values are more than these metrics can take")
        known: dict[bytes, int] = {}
        laws: list[Law] = []
        which: list[int] = []
        for row in rows:
            values, where = np.unique(row, return_inverse=True)
            betas = np.bincount(where, prior.beta).astype(np.float64)
            which.append(known.setdefault(values.tobytes() + betas.tobytes(), len(laws)))
            if which[-1] == len(laws):
                mass = float(values @ betas) / prior.total
                laws.append(Law(values / mass, betas, mass))
        return cls(tuple(laws), np.array(which, np.intp), prior)

    def information(self) -> float:
        """Σ_y φ(w_y) = I(X;Y|P)."""
        told = np.array([law.mass * self._told(law) for law in self.laws])
        return max(0.0, float(told[self.which].sum()))

    def logs(self) -> Array:
        """E ln L of each row."""
        found = [np.log(law.mass) + self._integral(_plain, law, _lightness(law)) for law in self.laws]
        return np.array(found)[self.which]

    def _told(self, law: Law) -> float:
        """φ of a row, scaled."""
        values, betas = law.values[law.values > 0], law.betas[law.values > 0]
        return float(betas @ (values * np.log(values))) / self.prior.total - self._integral(_weighted, law, 1.0)

    def _integral(self, integrand: Integrand, law: Law, decay: float) -> float:
        """∫ f dτ/τ of an f that decays as τ^-decay or faster."""
        start = -(TAIL + np.log(self.prior.total + 1) + np.log(law.values[-1]))
        nodes = STEP * np.arange(start // STEP, TAIL / decay // STEP + 2)
        many = max(1, BLOCK // len(law.values))
        parts = [integrand(law, nodes[i : i + many], self.prior.total).sum() for i in range(0, len(nodes), many)]
        return STEP * float(np.sum(parts))


def _plain(law: Law, u: Array, total: float) -> Array:
    """(1 + τ)^-β₀ − M(τ), τ = e^u."""
    return np.asarray(np.exp(-total * softplus(u)) - np.exp(-_grown(law, u) @ law.betas))


def _weighted(law: Law, u: Array, total: float) -> Array:
    """(1 + τ)^-(β₀+1) + M'(τ)/β₀."""
    grown = _grown(law, u)
    share = np.exp(-grown) @ (law.betas * law.values) / total
    return np.asarray(np.exp(-(total + 1) * softplus(u)) - np.exp(-grown @ law.betas) * share)


def _grown(law: Law, u: Array) -> Array:
    """ln(1 + τ w) for each value w."""
    with np.errstate(divide="ignore"):
        return softplus(u[:, None] + np.log(law.values))


def softplus(u: Array) -> Array:
    """ln(1 + e^u)."""
    return np.asarray(np.logaddexp(0, u))


def _lightness(law: Law) -> float:
    """How fast M decays: by what β is on the support."""
    return float(law.betas[law.values > 0].sum())
