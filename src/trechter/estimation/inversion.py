"""Unbiased inversion: shares of cells as linear functions of the counts of outputs, where the protocol has an inverse.

A cell is a set C of letters, θ = Σ_{i ∈ C} p_i. Its share can be told from the distribution π = Qp of outputs alone if the
indicator of C is a combination aᵀQ of the rows of Q, and then

    θ̂ = Σ_y a_y n_y / n,     E θ̂ = θ,     Var θ̂ = (Σ_y a_y² π_y − θ²) / n

for rows that are drawn from a population. Of the rows themselves, which were drawn once, the noise alone makes θ̂ differ: Var
= (Σ_y a_y² π_y − θ) / n. Where several a will do, because there are more outputs than letters, the one is taken that is best
for the most likely shares. Whether there is one is decided in exact integers: floats cannot tell a small singular value from
none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from trechter.estimation.interval import interval
from trechter.estimation.released import Released
from trechter.exact.matrices import Integers

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

EXACTLY = 200  # letters: with more of them a rank that is not full is taken modulo a prime, wrong by accident once in 10^16
NEAR = 1e-6
PRIME = (1 << 61) - 1


@dataclass(frozen=True, eq=False)
class Linear:
    """θ̂ for each cell, its standard error for the population and for the rows alone, and 95 % limits for the population."""

    shares: Array
    errors: Array
    noise: Array
    low: Array
    high: Array

    def where(self, known: Mask) -> Linear:
        """The same, with limits only where a cell is not known."""
        shares, errors, noise = (np.where(known, figure, np.nan) for figure in (self.shares, self.errors, self.noise))
        return Linear(shares, errors, noise, self.low, self.high)


def identified(weights: Integers, cells: Mask) -> tuple[Mask, bool]:
    """Which cells the distribution of outputs determines, those that are 0 on every x with Qx = 0; and whether it does all."""
    matrix = [list(map(int, row)) for row in dict.fromkeys(map(tuple, weights.tolist()))]
    letters = cells.shape[1]
    modular = flint.nmod_mat([[entry % PRIME for entry in row] for row in matrix], PRIME)
    if modular.rank() == letters:  # a minor that is not 0 modulo a prime is not 0
        return np.ones(len(cells), bool), True
    kind: Any = flint.fmpz_mat if letters <= EXACTLY else modular_matrix
    kernel, nullity = kind(matrix).nullspace()
    basis = kind([[kernel[i, k] for k in range(nullity)] for i in range(letters)])
    left = kind(cells.astype(int).tolist()) * basis
    return np.array([all(left[i, k] == 0 for k in range(nullity)) for i in range(len(cells))]), nullity == 0


def modular_matrix(rows: list[list[Any]]) -> Any:
    """A matrix modulo the prime."""
    return flint.nmod_mat([[int(entry) % PRIME for entry in row] for row in rows], PRIME)


def coefficients(released: Released, cells: Mask, likely: Array) -> Array:
    """ã for each identified cell: Σ_y ã_y n_y / n over the rows of all releases; the best for these shares of letters."""
    pooled, counts = released.pooled
    usual = pooled @ (likely + 1 / released.rows)  # as if every letter had been there once more
    scale = np.divide(1, np.sqrt(usual), out=np.zeros_like(usual), where=usual > 0)
    found = (cells @ np.linalg.pinv(scale[:, None] * pooled, rcond=1e-14)) * scale
    return _centred(found, released, counts)


def expected_errors(a: Array, released: Released, cells: Mask) -> Array:
    """The standard errors if all letters were equally common; ∞ where floats do not find the inverse that there is."""
    pooled, _ = released.pooled
    found = np.abs(a @ pooled - cells).max(axis=1) < NEAR
    return np.where(found, np.sqrt(a**2 @ pooled.mean(axis=1) / released.rows), np.inf)


def _centred(a: Array, released: Released, counts: Array) -> Array:
    """The same θ̂ with every release at its mean: how many rows each one has is no matter of chance."""
    sizes = np.bincount(released.release, counts)
    means = (a * counts) @ np.eye(len(sizes))[released.release] / sizes
    return np.asarray(a + (means @ sizes / sizes.sum())[:, None] - means[:, released.release])


def linear(a: Array, counts: Array) -> Linear:
    """The estimates of cells with these coefficients; counts are common to all cells, or of each."""
    n = counts.sum(axis=-1)
    shares, squares = ((a**k * counts).sum(axis=-1) / n for k in (1, 2))
    errors = np.sqrt(np.maximum(squares - shares**2, 0) / np.maximum(n - 1, 1))
    noise = np.sqrt(np.maximum(squares - shares, 0) / n)
    return Linear(shares, errors, noise, *interval(a, counts))
