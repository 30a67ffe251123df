"""What the poster's figures share: protocols on a values without order, a uniform prior, and how they look."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import trechter as tr
from experiments import charts
from trechter.model.dense import DenseProtocol

GRR, OUE, SUE, BEST = "GRR", "OUE", "SUE", "LDP optimum for I(X;Y)"
SILENT, RANDOM, X = "truth or nothing", "random protocols", "X itself"
COLOURS = {
    RANDOM: "#b9b9b9",
    SILENT: charts.GREEN,
    BEST: charts.PURPLE,
    GRR: charts.BLUE,
    OUE: charts.RED,
    SUE: charts.ORANGE,
    X: "#333333",
}


def joint(a: int) -> tr.Joint:
    """a values of X, all as frequent; the secret plays no part, X itself is protected."""
    return tr.Joint(np.ones((2, a), int))


def of_matrix(matrix: Any) -> DenseProtocol:
    """A protocol on as many values as the matrix has columns."""
    return DenseProtocol.from_matrix(matrix, joint(len(matrix[0])))


def silent(a: int, share: float) -> DenseProtocol:
    """x as it is with probability `share`, and nothing otherwise."""
    return of_matrix(np.vstack([share * np.eye(a), np.full((1, a), 1 - share)]))


def random_protocol(a: int, seed: int) -> DenseProtocol:
    """Two to six outputs; the smaller the Dirichlet's parameter, the nearer a column is to a single output."""
    random = np.random.default_rng([a, seed])
    outputs, parameter = int(random.integers(2, 7)), float(10 ** random.uniform(-1.5, 0.7))
    matrix = random.dirichlet(np.full(outputs, parameter), a).T
    return of_matrix(matrix / matrix.sum(axis=0))


def _at_level(mechanism: Callable[..., Any]) -> Callable[[int, float], tr.Protocol]:
    def made(a: int, epsilon: float) -> tr.Protocol:
        protocol: tr.Protocol = mechanism(joint(a), tr.LDP(epsilon, protect="x")).protocol
        return protocol

    return made


FAMILIES: dict[str, Callable[[int, Any], tr.Protocol]] = {
    GRR: _at_level(tr.grr),
    OUE: _at_level(tr.oue),
    SUE: _at_level(tr.sue),
    BEST: _at_level(tr.design),
    SILENT: silent,
    RANDOM: random_protocol,
    X: lambda a, _: of_matrix(np.eye(a)),
}
LEVELS = (0.5, 1, 1.5, 2, 3, 4, 6)  # of LDP towards X
SHARES = (0.03, 0.1, 0.2, 0.4, 0.6, 0.75, 0.9)  # of people whose value is told
SHORT = ((1,), (0.2,))


def parameters(quick: bool, cloud: int) -> list[tuple[str, float]]:
    """The families at their levels, and random protocols by number."""
    levels, shares = SHORT if quick else (LEVELS, SHARES)
    named = [(name, level) for name in (GRR, OUE, SUE, BEST) for level in levels]
    return [*named, *((SILENT, share) for share in shares), *((RANDOM, seed) for seed in range(3 if quick else cloud))]


def nats(protocol: tr.Protocol) -> tr.measures.Digits:
    """c(Q) in nats."""
    return tr.digits(protocol, base=math.e, draws=1000)
