"""The boundary of what is feasible in (Priv, c): the best c(Q) of all protocols with a given Priv, with a bound.

A protocol is a measure θ on rows r scaled to m·r = 1, of mean 1: Σ θ_k r_k = 1. What it says of X, given P, is linear in θ,
I(X;Y|P) = Σ θ_k φ(r_k), and so is its Fisher information, J(P) = Σ θ_k j(r_k, P); therefore E ln det J is concave in θ. So

    maximise E ln det J(θ) − μ Σ θ_k φ(r_k)

is a convex problem for every price μ ≥ 0 of information, of the kind known from the optimal design of experiments, and the
boundary is what it finds from μ = 0 to ∞. For any other measure θ' the concavity gives, with D(r) = E tr J(θ)⁻¹ j(r, P),

    E ln det J(θ') ≤ E ln det J(θ) + μ (I' − I) + δ,      δ = max_r [ D(r) − μ φ(r) ] − [ (a − 1) − μ I ].

So δ, found over all rows r, bounds how far the measure is from the best one (Kiefer and Wolfowitz: it is best iff δ = 0).
A prior that treats all values alike lets every row come with its permutations, each as often; then the means are 1 by
themselves. Rows live in one chamber, r₁ ≥ r₂ ≥ …, one point for each orbit. The number of outputs is free. Where each person
is to have ε-LDP towards X as well, r₁ ≤ e^ε r_a, and the chamber is a smaller simplex.

E over P ~ Dirichlet(1, …, 1) is a product rule of Gauss and Legendre on the chamber of P, its nodes drawn towards the edges
where shares are 0. All of this is in floats: δ is what it is for the rule, and up to the width of the search for r.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from trechter.measures.dirichlet import Dirichlet
from trechter.measures.linear_forms import LinearForms

Array = NDArray[np.float64]
NODES = {2: 60, 3: 22}  # of the rule in each direction
GRID = {2: 200, 3: 40}  # rows along an edge of the chamber
LEAST = 1e-7  # a share of a row below this is none
TOLERANCE, ENOUGH = 1e-9, 1e-8  # of δ in nats, for a search and for the answer
ROUNDS = 60  # of adding rows
BARRIERS = 10.0 ** np.arange(-1, -12, -1)
STEPS = 50
SMALL = 1e-3  # a share of a row that an answer may do without
NEAR = 1e-4  # rows nearer than this are one


@dataclass(frozen=True, eq=False)
class Optimum:
    """A point of the boundary: rows (one of each orbit) with their shares, I(X;Y|P), E ln det J, and how far it can be off."""

    price: float
    rows: Array
    shares: Array
    information: float
    log_det: float
    gap: float

    def matrix(self) -> Array:
        """The protocol: every row with its permutations."""
        orbits = (orbit(row) * share / len(orbit(row)) for row, share in zip(self.rows, self.shares, strict=True))
        return np.concatenate(list(orbits))


def orbit(row: Array) -> Array:
    """A row with its permutations, each once."""
    return np.array(sorted(set(permutations(row.tolist()))))


@cache
def corners(a: int, epsilon: float = math.inf) -> Array:
    """The corners of the chamber: rows with weight e^ε on the first k values and 1 on the others, for k = 1, …, a."""
    first = np.tril(np.ones((a, a)))
    weights = first if math.isinf(epsilon) else 1 + math.expm1(epsilon) * first
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@cache
def rule(a: int) -> tuple[Array, Array]:
    """Nodes P and weights of the uniform distribution on the chamber."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES[a])
    u = (nodes + 1) / 2
    drawn, spread = u**3 * (10 - 15 * u + 6 * u * u), 30 * (u * (1 - u)) ** 2 * weights / 2
    if a == 2:
        return np.outer(1 - drawn, corners(2)[0]) + np.outer(drawn, corners(2)[1]), spread
    s, t = (axis.ravel() for axis in np.meshgrid(drawn, drawn, indexing="ij"))
    mix = np.stack([1 - s, s * (1 - t), s * t], axis=1)  # the corner where all are equal is no singular one
    return mix @ corners(3), 2 * np.outer(spread, spread).ravel() * s


def chamber(a: int, size: int) -> Array:
    """Mixtures of the corners on a grid."""
    if a == 2:
        t = np.arange(size + 1) / size
        return np.stack([1 - t, t], axis=1)
    grid = [(i, j, size - i - j) for i in range(size + 1) for j in range(size + 1 - i)]
    return np.array(grid) / size


class Rows:
    """Rows as mixtures of corners, with φ and j of each."""

    def __init__(self, mixes: Array, epsilon: float) -> None:
        a = mixes.shape[1]
        self.mixes, self.rows = mixes, a * mixes @ corners(a, epsilon)
        self.phi = told(self.rows)
        self.j = np.array([_fisher(orbit(np.round(row, 12))) for row in self.rows])

    def __add__(self, other: Rows) -> Rows:
        both = object.__new__(Rows)
        for name in ("mixes", "rows", "phi", "j"):
            setattr(both, name, np.concatenate([getattr(self, name), getattr(other, name)]))
        return both

    def __getitem__(self, chosen: Array | slice) -> Rows:
        some = object.__new__(Rows)
        for name in ("mixes", "rows", "phi", "j"):
            setattr(some, name, getattr(self, name)[chosen])
        return some


def told(rows: Array) -> Array:
    """φ of each row."""
    prior = Dirichlet(np.ones(rows.shape[1]))
    return np.array([LinearForms.of(row[None], prior).information() for row in rows])


def _fisher(rows: Array) -> Array:
    """j at each node: the mean of d dᵀ / (r·P) over an orbit, in all coordinates of P but the last."""
    P, _ = rule(rows.shape[1])
    d = rows[:, :-1] - rows[:, -1:]
    return np.einsum("ki,kj,nk->nij", d, d, 1 / (P @ rows.T)) / len(rows)


def log_det(shares: Array, rows: Rows) -> float:
    """E ln det J."""
    _, weights = rule(rows.mixes.shape[1])
    return float(weights @ np.linalg.slogdet(np.tensordot(shares, rows.j, 1))[1])


def gains(shares: Array, rows: Rows, others: Rows) -> Array:
    """D(r) of other rows."""
    _, weights = rule(rows.mixes.shape[1])
    inverse = np.linalg.inv(np.tensordot(shares, rows.j, 1)) * weights[:, None, None]
    return np.asarray(np.tensordot(others.j, inverse, axes=((1, 2, 3), (0, 2, 1))))


def best_shares(rows: Rows, price: float) -> Array:
    """The best measure on these rows, by Newton's method with a vanishing barrier."""
    shares = np.full(len(rows.phi), 1 / len(rows.phi))
    for barrier in BARRIERS:
        for _ in range(STEPS):
            step, gain = _newton(shares, rows, price, barrier)
            size = min(1.0, 0.9 / max(float((-step / shares).max()), 1e-300))
            now = _penalised(shares, rows, price, barrier)
            while size > 1e-9 and _penalised(shares + size * step, rows, price, barrier) < now + 0.1 * size * gain:
                size /= 2
            shares = shares + size * step
            shares /= shares.sum()
            if gain < 1e-3 * barrier:
                break
    return shares


def _penalised(shares: Array, rows: Rows, price: float, barrier: float) -> float:
    return log_det(shares, rows) - price * float(shares @ rows.phi) + barrier * float(np.log(shares).sum())


def _newton(shares: Array, rows: Rows, price: float, barrier: float) -> tuple[Array, float]:
    """Newton's step within measures of mass 1, and what it gains in the first order."""
    _, weights = rule(rows.mixes.shape[1])
    seen = np.linalg.inv(np.tensordot(shares, rows.j, 1))[None] @ rows.j  # J⁻¹ j of each row at each node
    slope = np.einsum("knii,n->k", seen, weights) - price * rows.phi + barrier / shares
    flat = (seen * weights[None, :, None, None]).reshape(len(seen), -1)
    curve = flat @ seen.transpose(0, 1, 3, 2).reshape(len(seen), -1).T + np.diag(barrier / shares**2)
    both = np.linalg.solve(curve, np.stack([slope, np.ones_like(slope)], axis=1))
    step = both[:, 0] - both[:, 1] * both[:, 0].sum() / both[:, 1].sum()
    return step, float(slope @ step)


def solve(price: float, start: Rows, grid: Rows, epsilon: float = math.inf) -> Optimum:
    """Rows are added where D(r) − μ φ(r) is largest, on the grid and then nearer, until none gains; then few are kept."""
    rows, new = start, start[:0]
    for _ in range(ROUNDS):
        rows = rows + new
        rows, shares = _merged(rows, best_shares(rows, price))
        found, excess = _priced(shares, rows, grid, price, epsilon)
        new = found[excess > TOLERANCE / 2]
        if excess.max() < TOLERANCE:
            break
    few = Rows(np.unique(np.round(rows.mixes[shares > SMALL], 3), axis=0), epsilon)
    fewer = best_shares(few, price)
    _, after = _priced(fewer, few, grid, price, epsilon)
    if after.max() < max(ENOUGH, excess.max()):
        rows, shares, excess = few, fewer, after
    return Optimum(price, rows.rows, shares, float(shares @ rows.phi), log_det(shares, rows), max(0.0, float(excess.max())))


def _merged(rows: Rows, shares: Array) -> tuple[Rows, Array]:
    """Without rows of no share; rows that are nearly one are the largest of them."""
    kept: list[int] = []
    sums: list[float] = []
    for k in np.argsort(-shares):
        near = [i for i, other in enumerate(kept) if np.abs(rows.mixes[k] - rows.mixes[other]).max() <= NEAR]
        if near:
            sums[near[0]] += shares[k]
        elif shares[k] > LEAST:
            kept.append(int(k))
            sums.append(float(shares[k]))
    return rows[np.array(kept)], np.array(sums) / sum(sums)


def _priced(shares: Array, rows: Rows, grid: Rows, price: float, epsilon: float) -> tuple[Rows, Array]:
    """The local maxima of D(r) − μ φ(r), those of the grid followed to where they lead; and how far they exceed the level."""
    a = grid.mixes.shape[1]
    level = a - 1 - price * float(shares @ rows.phi)
    value = gains(shares, rows, grid) - price * grid.phi
    found = Rows(np.array([grid.mixes[k] for k in _peaks(grid.mixes, value, 1.5 / GRID[a])]), epsilon)
    for width in 0.5 ** np.arange(14) / GRID[a]:
        near = np.maximum(found.mixes[:, None, :] + width * _around(a), 0)
        some = Rows((near / near.sum(axis=2, keepdims=True)).reshape(-1, a), epsilon)
        worth = (gains(shares, rows, some) - price * some.phi).reshape(near.shape[:2])
        found = some[worth.argmax(axis=1) + np.arange(len(near)) * near.shape[1]]
    return found, gains(shares, rows, found) - price * found.phi - level


def _peaks(mixes: Array, value: Array, radius: float) -> list[int]:
    """The best points of a grid of which no neighbour is better; at most eight."""
    order, peaks = np.argsort(-value), []
    for k in order[: len(order) // 4 + 1]:
        near = np.abs(mixes - mixes[k]).max(axis=1) <= radius
        if value[k] >= value[near].max():
            peaks.append(int(k))
    return peaks[:8]


def _around(a: int) -> Array:
    """Steps from a point of the chamber to its neighbours, and none."""
    if a == 2:
        return np.array([[0, 0], [1, -1], [-1, 1]]) * 1.0
    steps = [(i, j, -i - j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    return np.array(sorted(steps, key=lambda s: s != (0, 0, 0))) * 1.0


def frontier(a: int, prices: Sequence[float], epsilon: float = math.inf) -> list[Optimum]:
    """The boundary at each price; with ε, of protocols that are ε-LDP towards X."""
    grid = Rows(chamber(a, GRID[a]), epsilon)
    start = grid[:: len(grid.phi) // 8]
    with threadpool_limits(1, "blas"):  # many small matrices
        return [solve(price, start, grid, epsilon) for price in prices]


def exchange(row: Array, prior: Dirichlet) -> float:
    """What a row learns for what it says, E χ² / (a − 1) over φ / H(X|P); 1 for the row of a value that is told outright.

    χ² = Var_P(r) / L is the row's part of tr J_X⁻¹ J. By the generator of the diffusion whose stationary law is Dirichlet(β),
    applied to L ln L − L, with r scaled to E L = 1, E χ² = β₀ (E L ln L − E ln L): two integrals in one dimension.
    """
    scaled = row / (row @ prior.mean)
    forms, own = LinearForms.of(scaled[None], prior), scaled[scaled > 0]
    mean = float(prior.mean[scaled > 0] @ (own * np.log(own)))  # of r ln r
    known = forms.information()
    learned = prior.total * (mean - known - float(forms.logs()[0]))
    return learned / (prior.a - 1) / (known / prior.entropy)
