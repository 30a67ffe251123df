"""Kullback–Leibler: F = {P : Σ P̂ ln(P̂/P) ≤ r}, the empirical likelihood region.

    δ*(v) = min_{μ ≥ max v} μ − e^-r exp(Σ P̂ ln(μ−v));     the worst P is γ P̂/(μ−v), γ = e^-r exp(Σ P̂ ln(μ−v))

If a cell with P̂ = 0 has the largest v and the root μ is below that, μ = max v and the cell takes what the others leave.
"""

from __future__ import annotations

import numpy as np

from trechter.sets.uncertainty import Around, Array, UncertaintySet

HALVINGS = 70
FAR = 60.0  # of ln((μ − max v) / spread): beyond that F has no extent that floats could see


class KullbackLeibler(UncertaintySet):
    """All P under which the counts are not too unlikely, by their likelihood ratio."""

    name = "kullback-leibler"

    def support(self, around: Around, v: Array) -> Array:
        """P ∝ P̂/(μ−v), one root μ for each row of v."""
        p, seen = around.p, around.p > 0
        top, most = v[:, seen].max(axis=1), v.max(axis=1)
        spread = most - v.min(axis=1)
        flat = (spread <= 1e-14 * np.abs(v).max(axis=1)) | (around.radius == 0)
        scale = np.where(flat, 1, spread)
        with np.errstate(divide="ignore"):
            floor = np.log((most - top) / scale)
        low, high = np.maximum(floor, -FAR), np.full(len(v), FAR)
        for _ in range(HALVINGS):
            s = (low + high) / 2
            above = _distance(_gaps(v, top, scale, s)[:, seen], p[seen]) > around.radius
            low, high = np.where(above, s, low), np.where(above, high, s)
        z = _gaps(v, top, scale, low)
        logs = np.log(z[:, seen]) @ p[seen]
        worst = np.zeros_like(v)
        worst[:, seen] = np.exp(logs - around.radius)[:, None] * p[seen] / z[:, seen]
        sums = worst.sum(axis=1)
        hidden = (most > top) & (sums < 1)
        worst[~hidden] /= sums[~hidden, None]
        worst[hidden, v[hidden].argmax(axis=1)] += 1 - sums[hidden]
        worst[flat] = p
        return worst


def _gaps(v: Array, top: Array, scale: Array, s: Array) -> Array:
    """μ − v at μ = top + scale·e^s."""
    return np.asarray(np.maximum((top + scale * np.exp(s))[:, None] - v, 1e-300))


def _distance(z: Array, p: Array) -> Array:
    """Σ P̂ ln(P̂/P) of P ∝ P̂/z."""
    logs = np.log(z)
    centred = logs - (logs @ p)[:, None]
    return np.asarray(np.log1p((np.expm1(-centred) + centred) @ p))
