"""Acc(Q, f̂) = Σ_x E(f̂_x − f_x)²: the error of unbiased inversion after n rows, for shares f whose mean is that of the prior.

f̂ = R·(shares of the outputs) with R Q = 1. Of all such R the least error at the prior mean m has

    R = F⁻¹ Qᵀ D⁻¹,   D = diag(Q m),   F = Qᵀ D⁻¹ Q,   so that   Acc = (tr F⁻¹ − 1) / n;

R is Q⁻¹ where Q is square. A unary encoding is inverted bit by bit, f̂_x = (b_x − q)/(p − q), as everybody does:

    Acc = ( p(1 − p) + (a − 1) q(1 − q) ) / ( n (p − q)² ).

It is ∞ where Q has a rank below a: nothing unbiased exists then.
"""

from __future__ import annotations

import math

import numpy as np

from trechter.measures.dirichlet import Dirichlet, Prior
from trechter.measures.fisher import Rows
from trechter.measures.metric import Metric
from trechter.measures.raw_information import check_rows
from trechter.model.protocol import Protocol
from trechter.model.unary import UnaryProtocol


def accuracy(protocol: Protocol, n: int, *, prior: Prior = 1) -> Metric:
    """Acc(Q, f̂) after n rows; less is better."""
    believed = Dirichlet.of(protocol, prior)
    check_rows(n)
    return Metric("Acc", _of_one_row(protocol, believed) / int(n))


def _of_one_row(protocol: Protocol, believed: Dirichlet) -> float:
    if isinstance(protocol, UnaryProtocol):
        p, q, no_p, no_q = protocol.shares
        gap = (protocol.p - protocol.q) / (1 << protocol.places)
        return (p * no_p + (believed.a - 1) * q * no_q) / gap**2 if gap else math.inf
    found = Rows.of(protocol)
    if not found.tell_all:
        return math.inf
    rows = found.all()
    scaled = rows / np.sqrt(rows @ believed.mean)[:, None]
    return max(0.0, float((np.linalg.svd(scaled, compute_uv=False) ** -2.0).sum()) - 1)
