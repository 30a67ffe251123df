"""Informations of a unary encoding over 2^a outputs, by one-dimensional integrals.

Against the reference P₀ under which every bit is 1 with probability q, each by itself, the outputs of x ~ r have

    V_r(y) = P_r(y) / P₀(y) = 1 + β Σ_x r_x (B_x − q),    β = (p − q) / (q (1 − q)),    B_x = 1[x ∈ y],

and since V ln V − V + 1 = ∫₀^∞ (e^-τV − e^-τ + (V − 1) τ e^-τ) dτ/τ² and V averages 1, their divergence from it is

    K(r) = D(P_r ‖ P₀) = ∫₀^∞ (M_r(τ) − e^-τ) dτ/τ²,     M_r(τ) = E₀ e^-τV = e^-τ Π_x e^ψ(τ β r_x),
    ψ(s) = ln(1 + q (e^-s − 1)) + q s,

of a positive integrand. So I(T;Y) = Σ_t P(t) K(p(·|t)) − K(p), and I(X;Y) = K(1) − K(p), where K(1) is that of one x alone.

The error: with τ = e^u the trapezoid rule of step h converges exponentially. For |θ| < π/2 and c = cos θ the integral of
the modulus along the line u + iθ is at most N = 4 + 2 ln(1 + (1 + β)/2c), so the step costs at most 2N / (e^(2πθ/h) − 1):
less than 1e-17 for h = 3/16, θ = 3/2, β ≤ 1e200. What lies below u₁ is at most e^u₁ Var(V)/2, and what lies above u₂ at most
e^-u₂: 1e-17 each. Rounding of floats is all that is left: against 50 digits less than 1e-15 of K. An information is
lowered by a few times that, so that no release is said to be worth more than it is.
"""

from __future__ import annotations

import numpy as np

from trechter.measures.entropic import Array, entropy
from trechter.model.unary import UnaryProtocol

STEP = 3 / 16  # as a float, so are its multiples, and the nodes are where they should be
TAIL = 39.2  # −ln 1e-17
SMALL = 0.01  # below this the cumulants of a bit give ψ
ROUNDING = 4e-15
BLOCK = 1 << 20  # so many terms at a time


def unary_information(protocol: UnaryProtocol, masses: Array, targets: Array | None) -> float:
    """I(T;Y) of targets T[t, x] = p(t, x); None is x itself."""
    p, q, no_p, no_q = protocol.shares
    if protocol.p < protocol.q:  # a set and its complement tell the same
        p, q, no_p, no_q = no_p, no_q, p, q
    if protocol.p == protocol.q:
        return 0.0
    if q == 0:  # Y is {x} or ∅
        rest = 0.0 if targets is None else entropy(targets.sum(axis=1)) - entropy(targets.ravel())
        return p * (1 - ROUNDING) * (entropy(masses) + rest)
    beta = abs(protocol.p - protocol.q) / (1 << protocol.places) / (q * no_q)
    whole = divergence(masses, beta, q, no_p / no_q)
    known = [(1.0, np.ones(1))] if targets is None else [(float(t.sum()), t) for t in targets if t.any()]
    given = sum(mass * divergence(t / mass, beta, q, no_p / no_q) for mass, t in known)
    return (1 - ROUNDING) * given - whole


def divergence(r: Array, beta: float, q: float, least: float) -> float:
    """K(r); `least` is the smallest value of V, (1 − p)/(1 − q)."""
    values, counts = np.unique(r[r > 0], return_counts=True)
    times = counts.astype(np.float64)
    variance = beta**2 * q * (1 - q) * float((times * values**2).sum())
    nodes = STEP * np.arange(-((TAIL + max(0.0, np.log(variance))) // STEP) - 1, TAIL // STEP + 2)
    many = max(1, BLOCK // len(values))
    parts = [_integrand(np.exp(nodes[i : i + many]), values, times, beta, q, least) for i in range(0, len(nodes), many)]
    return STEP * float(np.concatenate(parts).sum())


def _integrand(tau: Array, values: Array, times: Array, beta: float, q: float, least: float) -> Array:
    """(M(τ) − e^-τ) / τ; where M is near e^-τ, by their quotient e^Ψ."""
    s = tau[:, None] * (beta * values)
    logs = np.log1p(q * np.expm1(-s))
    psi = np.where(s < SMALL, _cumulants(np.minimum(s, SMALL), q), logs + q * s) @ times
    log_m = logs @ times - tau * least
    near = psi < 1
    difference = np.where(near, np.exp(-tau) * np.expm1(np.where(near, psi, 0)), np.exp(log_m) - np.exp(-tau))
    return np.asarray(difference / tau)


def _cumulants(s: Array, q: float) -> Array:
    """ψ(s) = Σ κ_n (−s)^n / n! from n = 2 on, for the cumulants κ_n of a bit."""
    v, odd = q * (1 - q), 1 - 2 * q
    third, fourth, fifth, sixth = odd, 1 - 6 * v, odd * (1 - 12 * v), 1 - 30 * v + 120 * v * v
    return np.asarray(v * s * s * (1 / 2 + s * (-third / 6 + s * (fourth / 24 + s * (-fifth / 120 + s * sixth / 720)))))
