"""How far the posterior of P, given n outputs, is from its prior, for many releases at once.

Given how often each output was seen, n_y, the posterior in logits z (P_x ∝ e^z_x) has the log density

    ln f = Σ_x β_x ln P_x + Σ_y n_y ln L_y + const,     L_y = Σ_x Q[y,x] P_x.

As a function of P it is concave: Newton's method finds its mode. Half of the logits are drawn from a t distribution around the
mode with the curvature there, the other half from the prior, so that no tail is left out; each draw is weighted by f over the
density of both halves together. With mean weight Z the divergence is D = E ln Π L_y^n_y − ln Z. Both are ratios of means, so D
is biased by O(1/draws): every other draw alone tells by how much, and what is left is O(1/draws²).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trechter.errors import SolverError
from trechter.measures.dirichlet import Array, Dirichlet

FREEDOM = 6.0  # of the t distribution
STEPS = 200
CLOSE = 1e-3  # in standard deviations of the posterior: the mode is only where draws are centred


@dataclass(frozen=True, eq=False)
class Posteriors:
    """The posteriors after releases: counts (releases, b) of the outputs, whose rows are `rows`."""

    counts: Array
    rows: Array
    prior: Dirichlet

    def divergences(self, random: np.random.Generator, draws: int) -> tuple[Array, Array]:
        """D of each release, and how many equal draws its weighted draws are worth."""
        logs, weights = self.draws(random, draws)
        likely = self._log_likelihoods(logs)
        whole, *parts = (_divergence(likely[:, k], weights[:, k]) for k in (slice(None), slice(0, None, 2), slice(1, None, 2)))
        scaled = np.exp(weights - weights.max(axis=1, keepdims=True))
        return 2 * whole - (parts[0] + parts[1]) / 2, scaled.sum(axis=1) ** 2 / (scaled**2).sum(axis=1)

    def draws(self, random: np.random.Generator, draws: int) -> tuple[Array, Array]:
        """ln P (releases, draws, a) and their log weights (releases, draws)."""
        logs, weights = self._proposed(random, draws)
        return logs, weights + self._log_likelihoods(logs)

    def _log_likelihoods(self, logs: Array) -> Array:
        """Σ_y n_y ln L_y."""
        return np.asarray(np.einsum("rmb,rb->rm", self._log_forms(np.exp(logs)), self.counts))

    def modes(self) -> Array:
        """The mode of each posterior density of logits."""
        P, rough = np.tile(self.prior.mean, (len(self.counts), 1)), math.sqrt(min(1.0, float(self.prior.beta.min())))
        for _ in range(STEPS):
            H, g = self._curvature(P), self._slope(P)
            both = np.linalg.solve(H, np.stack([g, np.ones_like(g)], axis=2))
            along = both.sum(axis=1)
            step = both[:, :, 0] - both[:, :, 1] * (along[:, :1] / along[:, 1:])
            decrement = np.sqrt(np.maximum(0, np.einsum("ri,rij,rj->r", step, H, step)))
            P = self._better(P, step, 1 / (1 + decrement / rough))
            if decrement.max() < CLOSE:
                return P
        raise SolverError(f"the mode of a posterior was not found in {STEPS} steps; tr.digits says what many rows tell")

    def _better(self, P: Array, step: Array, safe: Array) -> Array:
        """As far along the step as shares stay positive, if that is better; otherwise what never fails, the damped step."""
        bold = np.minimum(1, 0.9 / np.maximum((-step / P).max(axis=1), 1e-300))
        far, near = (P + size[:, None] * step for size in (bold, safe))
        chosen = np.where((self._log_density(far) > self._log_density(near))[:, None], far, near)
        return np.asarray(chosen / chosen.sum(axis=1, keepdims=True))

    def _log_density(self, P: Array) -> Array:
        """ln f, but for a constant."""
        return np.asarray(np.log(P) @ self.prior.beta + (self._log_forms(P) * self.counts).sum(axis=1))

    def _curvature(self, P: Array) -> Array:
        """−∂² ln f / ∂P²."""
        weights = self.counts / np.exp(2 * self._log_forms(P))
        H = np.einsum("rb,bi,bj->rij", weights, self.rows, self.rows, optimize=True)
        each = np.arange(self.prior.a)
        H[:, each, each] += self.prior.beta / P**2
        return np.asarray(H)

    def _slope(self, P: Array) -> Array:
        """∂ ln f / ∂P."""
        return np.asarray(self.prior.beta / P + (self.counts / np.exp(self._log_forms(P))) @ self.rows)

    def _log_forms(self, P: Array) -> Array:
        """ln L."""
        return np.asarray(np.log(np.maximum(P @ self.rows.T, np.finfo(float).tiny)))

    def _proposed(self, random: np.random.Generator, draws: int) -> tuple[Array, Array]:
        """ln P from both halves, and the log of prior density over the density that they were drawn with."""
        P, d = self.modes(), self.prior.a - 1
        slopes = (P[:, :, None] * (np.eye(d + 1) - P[:, None, :]))[:, :, :d]
        root = np.asarray(np.linalg.cholesky(slopes.transpose(0, 2, 1) @ self._curvature(P) @ slopes), np.float64)
        near = _normalised(_around(P, root, random, draws - draws // 2))
        logs = np.concatenate([near, _normalised(_log_gammas(self.prior, random, (len(P), draws // 2)))], axis=1)
        away = logs - np.log(P)[:, None, :]
        distances = (((away[:, :, :d] - away[:, :, d:]) @ root) ** 2).sum(axis=2)
        scale = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1) + _t_constant(d)
        local = scale[:, None] - (FREEDOM + d) / 2 * np.log1p(distances / FREEDOM)
        prior = logs @ self.prior.beta + _constant(self.prior)
        return logs, prior - np.logaddexp(local, prior) + math.log(2)


def _around(P: Array, root: Array, random: np.random.Generator, draws: int) -> Array:
    """Logits of a t distribution of precision root·rootᵀ around those of each P; the last one stays."""
    releases, values = P.shape
    normal = random.standard_normal((releases, values - 1, draws))
    normal *= np.sqrt(FREEDOM / random.chisquare(FREEDOM, (releases, 1, draws)))
    logits = np.repeat(np.log(P)[:, None, :], draws, axis=1)
    logits[:, :, :-1] += np.linalg.solve(root.transpose(0, 2, 1), normal).transpose(0, 2, 1)
    return logits


def _log_gammas(prior: Dirichlet, random: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Logits from the prior: ln of a Gamma(β) is that of a Gamma(β + 1) plus (ln of a uniform) / β, however small β is."""
    size = (*shape, prior.a)
    return np.asarray(np.log(random.gamma(prior.beta + 1, size=size)) - random.exponential(size=size) / prior.beta)


def _normalised(logits: Array) -> Array:
    """ln P."""
    return np.asarray(logits - np.logaddexp.reduce(logits, axis=2)[:, :, None])


def _divergence(likely: Array, weights: Array) -> Array:
    """E ln Π L^n − ln Z, from log weights."""
    top = weights.max(axis=1, keepdims=True)
    scaled = np.exp(weights - top)
    return np.asarray((scaled * likely).sum(axis=1) / scaled.sum(axis=1) - np.log(scaled.mean(axis=1)) - top[:, 0])


def _constant(prior: Dirichlet) -> float:
    """ln of what Dirichlet(β) is divided by."""
    return math.lgamma(prior.total) - math.fsum(map(math.lgamma, prior.beta))


def _t_constant(d: int) -> float:
    """The same of a t distribution in d dimensions."""
    return math.lgamma((FREEDOM + d) / 2) - math.lgamma(FREEDOM / 2) - d / 2 * math.log(FREEDOM * math.pi)
