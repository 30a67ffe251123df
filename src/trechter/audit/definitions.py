"""The definitions of privacy, written a second time: literally, in integers, sharing nothing with the solvers.

A verdict needs one number: the largest ratio of probabilities that a notion bounds by e^ε. Given integer weights w[y, i]
over 2^bits and integer counts N[s, i], P(y|s) = Σ_i w[y, i] N[s, i] / (2^bits Σ_i N[s, i]). The power of two cancels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import lcm

Ratio = tuple[int, int]  # numerator, denominator; a zero denominator is +∞
Drawn = Iterable[Sequence[int]]  # for every output y: Σ_i w[y, i] N[s, i] by s
Sums = Sequence[int]  # Σ_i N[s, i] by s


def lip(drawn: Drawn, sums: Sums) -> Iterator[Ratio]:
    """P(y|s)/P(y) and P(y)/P(y|s), for every y and s of positive probability."""
    total = sum(sums)
    for row in drawn:
        whole = sum(row)
        for part, size in zip(row, sums, strict=True):
            if size and whole:
                yield part * total, size * whole
                yield size * whole, part * total


def ldp(drawn: Drawn, sums: Sums) -> Iterator[Ratio]:
    """P(y|s)/P(y|s') for every y, s and s' of positive probability: the largest over the smallest."""
    common = lcm(*(size for size in sums if size))
    scales = [common // size if size else None for size in sums]
    for row in drawn:  # P(y|s), times a constant
        given = [part * scale for part, scale in zip(row, scales, strict=True) if scale is not None]
        if high := max(given, default=0):
            yield high, min(given)


Definition = Callable[[Drawn, Sums], Iterator[Ratio]]
DEFINITIONS: dict[str, tuple[Definition, bool]] = {
    "lip": (lip, False),
    "ldp": (ldp, False),
    "srlip": (lip, True),
    "srldp": (ldp, True),
}


def worst_ratio(
    name: str,
    among: Callable[[Sequence[int] | slice], tuple[Drawn, Sums]],
    attributes: Sequence[Sequence[int]],
    reads: str,
) -> Fraction | None:
    """e^level: the largest ratio that the notion bounds; None if it is infinite.

    `among(chosen)` adds up over the chosen letters only; `attributes[j][i]` is attribute j of letter i.
    """
    definition, side_channels = DEFINITIONS[name]
    worst = 1, 1
    for chosen in slices(attributes, reads) if side_channels else [slice(None)]:
        for over, under in definition(*among(chosen)):
            if under == 0:
                return None
            if over * worst[1] > worst[0] * under:
                worst = over, under
    return Fraction(*worst)


def slices(attributes: Sequence[Sequence[int]], reads: str) -> Iterator[list[int]]:
    """The letters with x^J = v, for every set J of attributes and every v; all of them known only if S is read."""
    m, letters = len(attributes), range(len(attributes[0]))
    for size in range(m + (reads == "sx")):
        for J in combinations(range(m), size):
            for v in product(*(sorted(set(attributes[j])) for j in J)):
                yield [i for i in letters if all(attributes[j][i] == k for j, k in zip(J, v, strict=True))]
