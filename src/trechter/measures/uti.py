"""Uti_n(Q) = I(Yⁿ;P) / I(Xⁿ;P): of what n rows could say of the distribution P of X, the share that their release says.

I(Xⁿ;P) is a closed form (`raw_information`). I(Yⁿ;P) is the mean divergence of the posterior of P from its prior, over
simulated releases: P from the prior, counts of outputs from P, and the divergence from weighted draws (`posterior`). Its
controls are Σ_y h_y ln L_y and Σ_x β_x ln P_x of the simulated P, which explain most of what differs between long releases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from trechter.errors import RequestError, TooLargeError
from trechter.measures.dirichlet import Array, Dirichlet, Prior
from trechter.measures.draws import controlled, generator
from trechter.measures.fisher import Rows, leverages
from trechter.measures.linear_forms import LinearForms
from trechter.measures.metric import Metric
from trechter.measures.posterior import Posteriors
from trechter.measures.raw_information import check_rows, raw_information
from trechter.model.protocol import Protocol
from trechter.model.unary import UnaryProtocol

DRAWS = 1000  # simulated releases
WITHIN = (1 << 10, 1 << 14)  # draws from each posterior; the second number where the first is too few
FEWEST, PILOT = 50, 32  # equal draws that these must be worth, for nine of so many releases
CELLS = 1 << 21  # so many numbers at a time
MOST_ROWS = 4096  # outputs that differ


@dataclass(frozen=True)
class Uti(Metric):
    """Uti_n, and the two informations in nats that it is the quotient of."""

    n: int = 1
    information: float = 0.0
    information_error: float = 0.0
    raw: float = 0.0


def uti(protocol: Protocol, n: int, *, prior: Prior = 1, draws: int = DRAWS, seed: int = 0) -> Uti:
    """Uti_n(Q) for P ~ Dirichlet(prior), over so many simulated releases of n rows."""
    believed = Dirichlet.of(protocol, prior)
    check_rows(n)
    raw = raw_information(believed, n)
    value, error = _learned(_outputs(protocol), int(n), believed, draws, seed)
    return Uti(f"Uti_{n}", value / raw, error / raw, int(n), value, error, raw)


def _learned(rows: Array, n: int, prior: Dirichlet, draws: int, seed: int) -> tuple[float, float]:
    """I(Yⁿ;P) in nats and its standard error."""
    random = generator(draws, seed)
    if len(rows) == 1:
        return 0.0, 0.0
    P = prior.draw(random, draws)
    L = P @ rows.T
    counts = random.multinomial(n, L / L.sum(axis=1, keepdims=True)).astype(np.float64)
    with threadpool_limits(1, "blas"):  # many small matrices: threads would only wait for each other
        divergences = _divergences(counts, rows, prior, random)
    weights = leverages(rows, prior)
    controls = np.stack([np.log(L) @ weights, np.log(P) @ prior.beta], axis=1)
    means = np.array([LinearForms.of(rows, prior).logs() @ weights, prior.log_mean @ prior.beta])
    return controlled(divergences, controls, means)


def _divergences(counts: Array, rows: Array, prior: Dirichlet, random: np.random.Generator) -> Array:
    """Of the posterior of each release from the prior."""
    for within in WITHIN:
        many = max(1, CELLS // (within * max(rows.shape)))
        parts = [Posteriors(counts[i : i + many], rows, prior) for i in range(0, len(counts), many)]
        _, worth = Posteriors(counts[:PILOT], rows, prior).divergences(random, within)
        if np.quantile(worth, 0.1) >= FEWEST:
            return np.concatenate([part.divergences(random, within)[0] for part in parts])
    raise TooLargeError(
        f"the posteriors of {prior.a} shares after {counts[0].sum():,.0f} rows are too far from normal to be weighed by "
        "draws; tr.digits(…).information(n) says what I(Yⁿ;P) tends to"
    )


def _outputs(protocol: Protocol) -> Array:
    """Rows that say different things; all that say nothing are one."""
    if isinstance(protocol, UnaryProtocol) and not protocol.listed:
        raise RequestError(
            f"Uti_n of a unary encoding needs a list of its outputs, and {len(protocol.inputs):,} values have too many; "
            "tr.priv and tr.digits do without a list"
        )
    rows = Rows.of(protocol).all()
    if len(rows) > MOST_ROWS:
        raise TooLargeError(f"Uti_n takes up to {MOST_ROWS:,} outputs, got {len(rows):,}; tr.digits takes more")
    return rows
