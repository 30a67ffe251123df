"""I(Xⁿ;P): what n rows of X itself say of their distribution P ~ Dirichlet(β). A closed form but for one sum over counts.

Given the counts N_x the posterior is Dirichlet(β + N), and I is the mean of its divergence from the prior:

    I(Xⁿ;P) = Σ_x ( ln Γ(β_x) + E κ(β_x + N_x, β_x) ) − ln Γ(β₀) − κ(β₀ + n, β₀),
    κ(z, β) = (z − β) ψ(z) − ln Γ(z) − z,     N_x ~ beta-binomial(n, β_x, β₀ − β_x).

κ grows as ln z only: what is of the order of n has cancelled, so a million rows cost no digits.
"""

from __future__ import annotations

import math

import numpy as np

from trechter.errors import RequestError, TooLargeError
from trechter.measures.dirichlet import Array, Dirichlet, digamma

MOST_ROWS = 10_000_000
FAR = 32  # from here on Stirling's series is exact in floats


def raw_information(prior: Dirichlet, n: int) -> float:
    """I(Xⁿ;P) in nats."""
    check_rows(n)
    betas, times = np.unique(prior.beta, return_counts=True)
    each = [math.lgamma(b) + float(_counts(n, b, prior.total - b) @ _kappa(b + np.arange(n + 1), b)) for b in betas]
    return float(times @ each) - math.lgamma(prior.total) - float(_kappa(np.array([prior.total + n]), prior.total)[0])


def check_rows(n: int) -> None:
    """A number of rows that can be summed over."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise RequestError(f"n = {n!r}: give the number of rows, an integer of at least 1")
    if n > MOST_ROWS:
        raise TooLargeError(f"n = {n:,}: sums over counts go up to {MOST_ROWS:,} rows; tr.digits says what holds beyond")


def _counts(n: int, beta: float, rest: float) -> Array:
    """The beta-binomial distribution, by the ratios of its terms."""
    k = np.arange(n)
    ratios = np.log((n - k) * (beta + k)) - np.log((k + 1) * (rest + n - k - 1))
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum())


def _kappa(z: Array, beta: float) -> Array:
    """κ for increasing z."""
    near, far = np.split(z, [np.searchsorted(z, FAR)])
    gammas = np.array([math.lgamma(value) for value in near])
    return np.concatenate([(near - beta) * digamma(near) - gammas - near, _stirling(far, beta)])


def _stirling(z: Array, beta: float) -> Array:
    """κ where Γ and ψ are their asymptotic series."""
    r = 1 / (z * z)
    gamma = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / z
    psi = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r / 240)))
    slow = (0.5 - beta) * np.log(z) - math.log(2 * math.pi) / 2
    return np.asarray(slow - gamma - (z - beta) * (0.5 / z + psi))
