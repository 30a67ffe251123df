"""Priv(Q) = H(X|Y,P) / H(X|P) = 1 − I(X;Y|P) / H(X|P): the share of a person's own information that stays hidden.

P, the distribution of X, is known to whoever looks, and drawn from a Dirichlet prior. 1 is hidden altogether, 0 is known.
"""

from __future__ import annotations

import numpy as np

from trechter.measures.dirichlet import Array, Dirichlet, Prior
from trechter.measures.linear_forms import LinearForms
from trechter.measures.metric import Metric
from trechter.measures.unary_forms import unary_told
from trechter.model.protocol import Protocol
from trechter.model.unary import UnaryProtocol


def priv(protocol: Protocol, *, prior: Prior = 1) -> Metric:
    """Priv(Q) for P ~ Dirichlet(prior); no draws, whatever the size."""
    believed = Dirichlet.of(protocol, prior)
    return Metric("Priv", min(1.0, max(0.0, 1 - told(protocol, believed) / believed.entropy)))


def told(protocol: Protocol, believed: Dirichlet) -> float:
    """I(X;Y|P) in nats: what an output says of X to whoever knows P."""
    if isinstance(protocol, UnaryProtocol):
        return unary_told(protocol, believed)
    return LinearForms.of(rows_of(protocol), believed).information()


def rows_of(protocol: Protocol) -> Array:
    """The rows of the outputs that can occur."""
    rows = protocol.matrix
    return np.asarray(rows[rows.any(axis=1)])
