"""What a protocol reads: letters i, each a value x, or a pair (s, x) in C order when the protocol may see the secret.

A notion needs p(s, i) and the attributes of each letter; a measure needs p(target, i). Seen through letters, a protocol
that reads x and one that reads (s, x) obey the same formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.errors import ProtocolError
from trechter.model.joint import Joint

READS = ("x", "sx")


@dataclass(frozen=True, eq=False)
class Letters:
    """`secret[s, i]` is p(s, i), or an integer proportional to it; letter i has the value `x_of[i]`, whose attribute j
    is `attributes[j, i]`."""

    secret: NDArray[Any]
    x_of: NDArray[np.intp]
    attributes: NDArray[np.intp]
    reads: str

    @property
    def masses(self) -> NDArray[Any]:
        """p(i), in the same numbers."""
        return np.asarray(self.secret.sum(axis=0))

    def protected(self, protect: str) -> NDArray[Any]:
        """p(v, i) for what is protected: the secret, or x itself."""
        if protect == "s":
            return self.secret
        table = np.zeros((self.x_of.max() + 1, len(self.x_of)), self.secret.dtype)
        table[self.x_of, np.arange(len(self.x_of))] = self.masses
        return table


def letters(joint: Joint, reads: str, exact: bool = False) -> Letters:
    """The letters of a protocol that reads "x" or "sx"; in floats, or in exact integers."""
    if reads not in READS:
        raise ProtocolError(f"reads={reads!r} is unknown; use 'x', or 'sx' for a protocol that may see the secret")
    table: NDArray[Any] = joint.exact.astype(object) if exact else joint.p
    c, a = table.shape
    x_of, secret = np.arange(a), table
    if reads == "sx":
        x_of = np.tile(x_of, c)
        secret = np.zeros((c, c * a), table.dtype)
        secret[np.repeat(np.arange(c), a), np.arange(c * a)] = table.ravel()
    return Letters(secret, x_of, np.array(np.unravel_index(x_of, joint.shape[1:])), reads)


def values_of(attributes: tuple[Attribute, ...]) -> tuple[Any, ...]:
    """What several attributes can be together, in C order: plain values of one attribute, tuples of more."""
    if len(attributes) == 1:
        return attributes[0].values
    return tuple(product(*(a.values for a in attributes)))
