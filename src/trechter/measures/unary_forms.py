"""The poster's metrics of a unary encoding over 2^a outputs, none of which is listed.

Against the reference P₀ under which every bit is 1 with probability q, each by itself, the outputs of x ~ P have

    V(y) = P(y|P) / P₀(y) = Σ_x P_x v_x,     v_x = p/q where the bit of x is 1, and (1 − p)/(1 − q) where it is 0,

of mean 1. Over P ~ Dirichlet(β) and the bits together this is a linear form with weights drawn by themselves, so its
transform is still a product (`linear_forms`):

    M(τ) = Π_x ( q (1 + τ p/q)^-β_x + (1 − q)(1 + τ (1−p)/(1−q))^-β_x )
    I(X;Y|P) = p ln(p/q) + (1 − p) ln((1 − p)/(1 − q)) − E V ln V,   E V ln V = ∫₀^∞ ( (1 + τ)^-(β₀+1) + M'(τ)/β₀ ) dτ/τ.

Given P, F_xx' = E₀ v_x v_x' / V is an integral too, since 1/V = ∫₀^∞ e^-τV dτ and e^-τV is a product over the bits.
"""

from __future__ import annotations

import math

import numpy as np

from trechter.measures.dirichlet import Array, Dirichlet
from trechter.measures.linear_forms import STEP, TAIL, softplus
from trechter.model.unary import UnaryProtocol

COARSE = 1 / 4  # the step of integrals that only averages are made of


def odds(protocol: UnaryProtocol) -> tuple[float, float, float, float]:
    """p, q, 1 − p and 1 − q with p ≥ q: a set and its complement tell the same."""
    p, q, no_p, no_q = protocol.shares
    return (p, q, no_p, no_q) if protocol.p >= protocol.q else (no_p, no_q, p, q)


def unary_told(protocol: UnaryProtocol, believed: Dirichlet) -> float:
    """I(X;Y|P) in nats."""
    p, q, no_p, no_q = odds(protocol)
    if protocol.p == protocol.q:
        return 0.0
    if q == 0:  # Y is {x} or ∅
        return p * believed.entropy
    own = p * math.log(p / q) + (no_p * math.log(no_p / no_q) if no_p else 0.0)
    return max(0.0, own - _mixed(believed, p, q, no_p, no_q))


def _mixed(believed: Dirichlet, p: float, q: float, no_p: float, no_q: float) -> float:
    """E V ln V."""
    beta, times = np.unique(believed.beta, return_counts=True)
    total = believed.total
    u = STEP * np.arange(-(TAIL + math.log(total + 1) + math.log(p / q)) // STEP, TAIL // STEP + 2)
    has, has_not = softplus(u + math.log(p / q)), softplus(u + math.log(no_p / no_q)) if no_p else np.zeros_like(u)
    one, none = (-beta * grown[:, None] for grown in (has, has_not))
    each = np.logaddexp(math.log(q) + one, math.log(no_q) + none)
    rest = (each @ times)[:, None] - each  # ln of the product over all other values
    slope = p * np.exp(rest + one - has[:, None]) + no_p * np.exp(rest + none - has_not[:, None])
    return STEP * float((np.exp(-(total + 1) * softplus(u)) - slope @ (times * beta) / total).sum())


def unary_fisher(protocol: UnaryProtocol, P: Array) -> Array:
    """F_xx' = Σ_y Q[y,x] Q[y,x'] / P(y), for one P; 0 < q < p."""
    p, q, no_p, no_q = odds(protocol)
    one, none = p / q, no_p / no_q
    slowest = none + (0.0 if none else float(P.min()) * one)
    u = COARSE * np.arange(-(TAIL + math.log(one)) // COARSE, math.log(TAIL / slowest) // COARSE + 2)
    tau = np.exp(u)
    has = np.exp(-tau[:, None] * P * (one - none))
    each = q * has + no_q
    weights = COARSE * tau * np.exp(np.log(each).sum(axis=1) - tau * none)
    first, second = (p * has + no_p) / each, (p * one * has + no_p * none) / each
    F = (first * weights[:, None]).T @ first
    np.fill_diagonal(F, weights @ second)
    return np.asarray(F)
