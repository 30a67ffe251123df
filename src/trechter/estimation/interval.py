"""95 % intervals of a linear function θ = Σ_y a_y π_y of the shares π of outputs, from the counts n_y of n rows.

Without noise it is a binomial share, and for rare values nothing that relies on a normal distribution can be trusted. Clopper
and Pearson's limits are quantiles of Beta(k, n − k + 1) and Beta(k + 1, n − k): one row more on the side that is further
away. The same works for any a (Gaffke 2005): with D ~ Dirichlet(n_y, and one row more far below or far above the mean), the
limits are quantiles of T = Σ_y a_y D_y. Those are too wide by half a row, which is much where few rows decide and nothing
where many do: so w rows are added on the one side and 1 − w on the other, w from 1 down to ½, and less where θ̂ does not move
in steps of one row.

    P(T ≤ t) = P(Σ_y (a_y − t) G_y ≤ 0),  G_y ~ Gamma(α_y) independent,

and a sum of Gammas has a saddlepoint approximation that is right to three digits (Lugannani and Rice, in the form r*).

A share lies between 0 and 1, and what is out of reach needs no protection: near 0 the 5 % go to the one tail that can be
missed, as Feldman and Cousins (1998) divide them. So no interval is empty, and none is longer for being cut off.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CONFIDENCE = 0.95
TAIL = (1 - CONFIDENCE) / 2
FEW = 10.0  # rows that decide: for so few the limits are Clopper and Pearson's
SMOOTH = 0.3  # what is left of half a row where θ̂ does not move in steps
STEPS = 45
FAR = 8.0  # standard errors: what is further from 0 does not feel it
GRID = 1 << 13
TINY = 1e-300


def interval(coefficients: Array, counts: Array) -> tuple[Array, Array]:
    """Lower and upper limits; the last axis of both arguments is that of the outputs, the others are broadcast."""
    a, n = np.broadcast_arrays(np.asarray(coefficients, np.float64), np.asarray(counts, np.float64))
    below, above, w = _one_row_more(a, n)
    low = _limit(a, n + w * below + (1 - w) * above, upper=False)
    high = _limit(a, n + w * above + (1 - w) * below, upper=True)
    certain = np.ptp(a, axis=-1) < 1e-9
    return np.where(certain, np.clip(a[..., 0], 0, 1), low), np.where(certain, np.clip(a[..., 0], 0, 1), high)


def _one_row_more(a: Array, n: Array) -> tuple[Array, Array, Array]:
    """Where a row is added below the mean and above it, and w: by what outputs, each seen once more, give to the variance."""
    ends = [a == a.min(axis=-1, keepdims=True), a == a.max(axis=-1, keepdims=True)]
    mean, _ = _moments(a, n + sum(end / end.sum(axis=-1, keepdims=True) for end in ends) / 2)
    d = a - mean[..., None]
    given = (n + 1) * d**2
    sides = [np.where(side, given, 0) for side in (d < 0, d > 0)]
    below, above = (side / np.maximum(side.sum(axis=-1, keepdims=True), TINY) for side in sides)
    deciding = given.sum(axis=-1, keepdims=True) ** 2 / np.maximum((given * d**2).sum(axis=-1, keepdims=True), TINY)
    return below, above, 0.5 + 0.5 * np.minimum(1, FEW / np.maximum(deciding, TINY)) * _steps(a, n, given)


def _steps(a: Array, n: Array, given: Array) -> Array:
    """How much θ̂ moves in steps: |E e^{2πi nθ̂/J}|, J from the commonest output to the one that gives most variance."""
    far, common = (np.take_along_axis(a, np.argmax(x, axis=-1)[..., None], axis=-1) for x in (given, n))
    step = far - common
    phase = np.exp(2j * np.pi * np.divide(a, step, out=np.zeros_like(a), where=step != 0))
    total = n.sum(axis=-1, keepdims=True)
    return np.asarray(np.clip(np.abs((n * phase).sum(axis=-1, keepdims=True) / np.maximum(total, 1)) ** total, SMOOTH, 1))


def _moments(a: Array, alpha: Array) -> tuple[Array, Array]:
    total = alpha.sum(axis=-1)
    mean = (a * alpha).sum(axis=-1) / total
    return mean, np.maximum((a**2 * alpha).sum(axis=-1) / total - mean**2, 0)


def _limit(a: Array, alpha: Array, upper: bool) -> Array:
    """Where the tail of T beyond t is as large as a limit at t may miss.

    The saddlepoint s of t has Σ α d/(1 − s d) = 0, d = a − t. With λ = s/(1 + s t) it says t = Σ α a/(1 − λa) / Σ α/(1 − λa):
    so the range of λ is halved, and t follows. Measured from the mean, λ = 0 is t = mean.
    """
    mean, _ = _moments(a, alpha)
    d = np.where(alpha > 0, a - mean[..., None], 0.0)
    far = d.max(axis=-1) if upper else d.min(axis=-1)
    near, end = np.zeros_like(far), np.divide(1.0, far, out=np.zeros_like(far), where=far != 0)
    for _ in range(STEPS):
        middle = (near + end) / 2
        t, sigma, root = _saddlepoint(d, alpha, middle)
        more = _normal(-root if upper else root) > _missed(mean + t, sigma, upper)
        near, end = np.where(more, middle, near), np.where(more, end, middle)
    return np.clip(mean + _saddlepoint(d, alpha, near)[0], 0, 1)


def _saddlepoint(d: Array, alpha: Array, slope: Array) -> tuple[Array, Array, Array]:
    """t − mean for a λ, the standard error of θ̂ if θ = t, and r*: the tail beyond t is Φ(−r*)."""
    left = 1 - slope[..., None] * d
    shrunk = alpha / left
    t, variance = _moments(d, shrunk)
    s, inside = slope / (1 - slope * t), left / (1 - slope * t)[..., None]
    cumulant = -(alpha * np.log(inside)).sum(axis=-1)
    curvature = (alpha * ((d - t[..., None]) / inside) ** 2).sum(axis=-1)
    r = np.sign(s) * np.sqrt(np.maximum(-2 * cumulant, 0))
    u = s * np.sqrt(curvature)
    steep = np.abs(r) > 1e-4
    ratio = np.divide(u, r, out=np.ones_like(r), where=steep)
    return t, np.sqrt(variance / alpha.sum(axis=-1)), r + np.divide(np.log(ratio), r, out=np.zeros_like(r), where=steep)


def _missed(t: Array, sigma: Array, upper: bool) -> Array:
    """How often a limit may miss t: 2.5 %, and near 0 or 1 what Feldman and Cousins give the tail."""
    low, high = (_unequal(np.maximum(edge, 0) / np.maximum(sigma, 1e-300)) for edge in (t, 1 - t))
    return TAIL + (low - high if upper else high - low)


def _unequal(distance: Array) -> Array:
    """What the tail towards a bound at this distance (in standard errors) gets less than its half of the 5 %; negative."""
    grid, values = _shift()
    return np.interp(distance, grid, values, right=0.0)


@cache
def _shift() -> tuple[Array, Array]:
    """The level of the tail towards the bound, minus 2.5 %, by distance.

    x is accepted for μ ≥ 0 if its likelihood is at least e^−c times the best one, that of max(x, 0): between μ − x₁ and μ + x₂
    with x₂ = √2c and x₁ = √2c or, if that is beyond 0, μ/2 + c/μ; c is such that 95 % of x are accepted.
    """
    grid = np.linspace(0, FAR, 801)
    low, high = np.zeros_like(grid), np.full_like(grid, 4.0)
    for _ in range(60):
        c = (low + high) / 2
        below, above = _reach(grid, c)
        short = _normal(below) + _normal(above) - 1 < CONFIDENCE
        low, high = np.where(short, c, low), np.where(short, high, c)
    return grid, _normal(-_reach(grid, low)[0]) - TAIL


def _reach(mu: Array, c: Array) -> tuple[Array, Array]:
    even = np.sqrt(2 * c)
    with np.errstate(divide="ignore"):
        return np.where(even <= mu, even, mu / 2 + c / mu), even


def _normal(x: Array) -> Array:
    """Φ, from a table."""
    grid, values = _table()
    return np.interp(x, grid, values)


@cache
def _table() -> tuple[Array, Array]:
    grid = np.linspace(-FAR, FAR, GRID + 1)
    return grid, np.array([math.erfc(-x / math.sqrt(2)) / 2 for x in grid])
