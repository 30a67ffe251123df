"""The level of a protocol for every notion, by loops over the definition.

`Q[y][i]` are probabilities or integer weights (a common factor cancels), `N` is nested by the secret and then by each
attribute: N[s][x1][x2]…. A protocol that reads x has one column per x in C order, one that reads (s, x) one per pair.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import numpy as np


def worst_ratio(name: str, Q: Any, N: Any, reads: str = "x", protect: str = "s") -> Fraction | None:
    """e^level as a Fraction; None if it is infinite."""
    world = World(Q, N, reads, protect)
    m = len(world.sizes)
    subsets = chain.from_iterable(combinations(range(m), k) for k in range(m + 1)) if name.startswith("sr") else [()]
    worst = Fraction(1)
    for J in subsets:
        for known in product(*(range(world.sizes[j]) for j in J)):
            for y in range(len(world.Q)):
                for over, under in pairs(name, world, y, dict(zip(J, known, strict=True))):
                    if over is None or under is None or over == under == 0:
                        continue
                    if under == 0:
                        return None
                    worst = max(worst, over / under)
    return worst


def pairs(name, world, y, known):
    """Which probabilities the notion compares for one output, given x^J."""
    for v in world.protected:
        if name.endswith("ldp"):
            for other in world.protected:
                yield world.probability(y, v, known), world.probability(y, other, known)
        else:
            yield world.probability(y, v, known), world.probability(y, None, known)
            yield world.probability(y, None, known), world.probability(y, v, known)


class World:
    """All (s, x) with their counts and columns."""

    def __init__(self, Q: Any, N: Any, reads: str, protect: str) -> None:
        counts = np.asarray(N, object)
        self.sizes = counts.shape[1:]
        self.Q = [list(row) for row in np.asarray(Q, object).tolist()]
        inputs = list(product(*map(range, counts.shape if reads == "sx" else self.sizes)))
        self.cells = []
        for s, *x in product(*map(range, counts.shape)):
            read = (s, *x) if reads == "sx" else tuple(x)
            self.cells.append((s if protect == "s" else tuple(x), x, inputs.index(read), Fraction(counts[(s, *x)])))
        self.protected = sorted({v for v, *_ in self.cells})

    def probability(self, y: int, v: Any, known: dict[int, int]) -> Fraction | None:
        """P(y | v, x^J), or P(y | x^J) if v is None; None if nothing has that condition."""
        drawn = rows = Fraction(0)
        for value, x, column, n in self.cells:
            if v in (None, value) and all(x[j] == k for j, k in known.items()):
                drawn += self.Q[y][column] * n
                rows += n
        return drawn / rows if rows else None


def mutual_information(Q: Any, N: Any, reads: str = "x") -> float:
    """I(X;Y) in nats; the probabilities are exact, only the logarithms are floats."""
    world = World(Q, N, reads, "x")
    whole = sum(n for *_, n in world.cells)
    column = sum(row[0] for row in world.Q)
    joint: dict[tuple[int, Any], Fraction] = {}
    for x, _, i, n in world.cells:
        for y, row in enumerate(world.Q):
            joint[y, x] = joint.get((y, x), Fraction(0)) + Fraction(row[i]) * n / whole / column
    p_y, p_x = (margin(joint, axis) for axis in (0, 1))
    return math.fsum(float(p) * math.log(p / (p_y[y] * p_x[x])) for (y, x), p in joint.items() if p)


def margin(joint: dict[tuple[int, Any], Fraction], axis: int) -> dict[Any, Fraction]:
    """The distribution of one of two."""
    found: dict[Any, Fraction] = {}
    for key, p in joint.items():
        found[key[axis]] = found.get(key[axis], Fraction(0)) + p
    return found
