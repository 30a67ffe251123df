"""Slices: side-channel resistance asks a notion of every p(s, i | x^J), for each set J of attributes and value x^J.

Conditions of probability zero are void, in that slice only. With J = all attributes nothing is left to tell about x, so
that slice matters only when the protocol reads the secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.model.letters import Letters
from trechter.privacy.notion import Conditions, check_size


def sliced(conditions: Callable[[NDArray[Any]], Conditions], letters: Letters, protect: str) -> Conditions:
    """The conditions of every slice, stacked."""
    table = letters.protected(protect)
    parts, rows = [], 0
    for inside in slices(letters):
        if table[:, inside].any():
            parts.append(conditions(table * inside))
            rows += len(parts[-1][0])
            check_size(rows, table.shape[1])
    return np.vstack([F for F, _ in parts]), np.vstack([G for _, G in parts])


def slices(letters: Letters) -> Iterator[NDArray[np.bool_]]:
    """Which letters lie in each slice (J, x^J), from J = ∅ upwards."""
    m, n = letters.attributes.shape
    yield np.ones(n, bool)
    for size in range(1, m + 1 if letters.reads == "sx" else m):
        for J in combinations(range(m), size):
            seen = letters.attributes[list(J)]
            for value in np.unique(seen, axis=1).T:
                yield np.all(seen == value[:, None], axis=0)
