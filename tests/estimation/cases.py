"""Protocols of every kind, and the counts of outputs that populations give."""

from __future__ import annotations

import numpy as np

import trechter as tr

SHARES = np.array([0.0005, 0.0015, 0.003, 0.01, 0.035, 0.1, 0.25, 0.6])  # with 10,000 rows from 5 to 6,000 of each


def population(seed: int, secrets: int = 2) -> tr.Joint:
    """A joint with these shares of X, in which each value has its own distribution of the secret."""
    draw = np.random.default_rng(seed)
    table = SHARES * draw.dirichlet(np.ones(secrets), len(SHARES)).T
    return tr.Joint(np.rint(1e6 * table).astype(int) + 1, release={"X": [f"v{x}" for x in range(len(SHARES))]})


def lip(seed: int, secrets: int, epsilon: str) -> tr.Protocol:
    """An optimal LIP protocol."""
    return tr.design(population(seed, secrets), tr.LIP(epsilon)).protocol


def grr(epsilon: str) -> tr.Protocol:
    """GRR that is ε-LDP with respect to X itself."""
    return tr.grr(population(0), tr.LDP(epsilon, protect="x")).protocol


def oue(epsilon: str) -> tr.Protocol:
    """OUE that is ε-LDP with respect to X itself."""
    return tr.oue(population(0), tr.LDP(epsilon, protect="x")).protocol
