"""The posterior of the shares p given the released rows, by data augmentation, and what single outputs then say.

Before anything was seen p ~ Dirichlet(β, …, β). Given p, the letters of the n_y rows with output y are multinomial with

    P(i | y) = p_i Q[y, i] / (Qp)_y,

and given the numbers N_i of rows with each letter, p ~ Dirichlet(β + N). Drawing the one and the other in turn gives draws
from the posterior; but where outputs leave much open it takes thousands of them to get from one end of it to the other. So
between them p goes along lines, in directions that the curvature of the density

    ln f = Σ_i (β − 1) ln p_i + Σ_y n_y ln (Qp)_y + const

stretches, each time to a point of the line drawn from that density ("hit and run", by slices). Draws still depend on each
other, so every mean comes with the standard error of having drawn so few of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.estimation.likelihood import most_likely

Array = NDArray[np.float64]

PRIOR = 0.5  # Jeffreys
BURN = 0.2  # of the draws, before the first that counts
LINES = 20  # between two draws, at most
WINDOW = 4.0  # of a line, in standard deviations
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of the shares of cells: one row each."""

    cells: Array

    @property
    def mean(self) -> Array:
        """The mean of each cell."""
        return np.asarray(self.cells.mean(axis=0))

    @property
    def spread(self) -> Array:
        """The standard deviation of each cell: how uncertain its share is."""
        return np.asarray(self.cells.std(axis=0, ddof=1))

    @property
    def limits(self) -> tuple[Array, Array]:
        """The middle 95 % of each cell."""
        low, high = np.quantile(self.cells, [0.025, 0.975], axis=0)
        return low, high

    @property
    def effective(self) -> Array:
        """How many independent draws say as much of each mean (Geyer's initial positive sequence)."""
        centred = self.cells - self.cells.mean(axis=0)
        n = len(centred)
        spectrum = np.abs(np.fft.rfft(centred, 2 * n, axis=0)) ** 2
        covariance = np.fft.irfft(spectrum, axis=0)[:n] / n
        correlation = covariance / np.maximum(covariance[0], TINY)
        pairs = correlation[: n // 2 * 2].reshape(n // 2, 2, -1).sum(axis=1)
        kept = np.cumprod(pairs > 0, axis=0)
        return np.where(covariance[0] > 0, n / np.maximum(2 * (pairs * kept).sum(axis=0) - 1, 1 / n), n)

    @property
    def errors(self) -> Array:
        """The standard error of each mean that comes from the number of draws."""
        return np.asarray(self.spread / np.sqrt(np.minimum(self.effective, len(self.cells))))


def posterior(matrix: Array, counts: NDArray[np.int64], draws: int, prior: float, random: np.random.Generator) -> Array:
    """So many draws of p, one a row; they start at the most likely p."""
    seen = counts > 0
    q, n = matrix[seen], counts[seen]
    p, _ = most_likely(q, n.astype(np.float64))
    lines, burn, found = Lines.near(p, q, n, prior), int(BURN * draws), []
    for step in range(burn + draws):
        p = lines.along(random.dirichlet(prior + random.multinomial(n, given(q, p)).sum(axis=0)), random)
        if step >= burn:
            found.append(p)
    return np.stack(found)


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines through the simplex; `spread` makes directions of normal numbers."""

    q: Array
    counts: NDArray[np.int64]
    prior: float
    spread: Array

    @classmethod
    def near(cls, likely: Array, q: Array, counts: NDArray[np.int64], prior: float) -> Lines:
        """The curvature is that at the most likely p, moved inside as the prior would."""
        p = likely * counts.sum() + prior
        p, rows = p / p.sum(), q * (np.sqrt(counts) / (q @ (p / p.sum())))[:, None]
        within = np.linalg.svd(np.ones((1, len(p))))[2][1:].T  # directions that leave Σ p at 1
        values, vectors = np.linalg.eigh(within.T @ (rows.T @ rows + np.diag(prior / p**2)) @ within)
        return cls(q, counts, prior, within @ (vectors / np.sqrt(values)))

    def along(self, p: Array, random: np.random.Generator) -> Array:
        """Where some random lines, one after the other, lead to."""
        p = np.maximum(p, TINY)
        dimensions = self.spread.shape[1]
        for push in random.standard_normal((min(LINES, 2 * dimensions), dimensions)):
            p = self._on_line(p, self.spread @ push, random)
        return p

    def _on_line(self, p: Array, direction: Array, random: np.random.Generator) -> Array:
        """A point of the line, in a window around p, where the density is above a random part of that at p."""
        least, below = self._log_density(p) - random.exponential(), WINDOW * random.random()
        with np.errstate(divide="ignore", over="ignore"):
            ends = -p / direction
        low = max(-below, float(ends[direction > 0].max(initial=-np.inf)))
        high = min(WINDOW - below, float(ends[direction < 0].min(initial=np.inf)))
        while low < high:
            step = random.uniform(low, high)
            new = np.maximum(p + step * direction, TINY)
            if self._log_density(new) >= least:
                return np.asarray(new / new.sum())
            low, high = (step, high) if step < 0 else (low, step)
        return p

    def _log_density(self, p: Array) -> float:
        return float((self.prior - 1) * np.log(p).sum() + self.counts @ np.log(self.q @ p))


def given(matrix: Array, p: Array) -> Array:
    """P(letter | output), one row an output; of an output that no letter with p > 0 has, the same for all that have it."""
    joint = matrix * p
    sums = joint.sum(axis=1, keepdims=True)
    known = np.where(sums > 0, joint, matrix)
    return np.asarray(known / np.maximum(known.sum(axis=1, keepdims=True), TINY))
