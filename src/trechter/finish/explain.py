"""What an output means: the posterior of x given the output, read off the protocol and the prevalence of x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from trechter.errors import ProtocolError
from trechter.model.joint import Joint
from trechter.model.letters import letters, values_of
from trechter.model.outputs import Input, Mixture, Output, show
from trechter.model.sparse_weights import MOST_CELLS, SparseWeights

Array = NDArray[np.float64]
Index = NDArray[np.intp]

SURE = 1 - 1e-6  # a posterior above this is called a value
SHOWN = 1e-6  # a posterior below this is left out of a mixture
NAMED = 4  # a label names at most this many values


def explain(matrix: NDArray[np.float64], joint: Joint, reads: str) -> tuple[tuple[Output, ...], tuple[str, ...]]:
    """The meaning of every row, and the released columns: one per attribute if every output is a value, else Y."""
    names = tuple(a.name for a in joint.release)
    values = values_of(joint.release)
    return _told([_meaning(row, values) for row in posteriors(matrix, joint, reads)], names)


def explain_sparse(weights: SparseWeights, joint: Joint, reads: str) -> tuple[tuple[Output, ...], tuple[str, ...]]:
    """The same for sparse weights."""
    values = values_of(joint.release)
    y, x, odds = likely(weights, joint, reads)
    start, found, shares = np.searchsorted(y, np.arange(weights.outputs + 1)).tolist(), x.tolist(), odds.tolist()
    rows = [slice(*ends) for ends in pairwise(start)]
    return _told([_said(found[row], shares[row], values) for row in rows], tuple(a.name for a in joint.release))


def likely(weights: SparseWeights, joint: Joint, reads: str) -> tuple[Index, Index, Array]:
    """All (y, x, P(x|y)) with P(x|y) ≥ SHOWN, by output and falling odds.

    P(x, y) is the mass of the entries of x, and from the background its share of p_x, more of it where a letter has no
    entries. Of an output that never occurs the values that it names are taken to be equally likely.
    """
    seen, whole = letters(joint, reads), float(1 << weights.bits)
    q, base = weights.products(seen.masses[None])[0], weights.background / whole
    own = weights.weight / whole * np.where(q[weights.output] > 0, seen.masses[weights.letter], 1)
    times = np.where(weights.named, 1.0, float(weights.times))
    drawing = np.bincount(seen.x_of, seen.masses * times, len(joint.p_x)).astype(np.float64)
    y, x = _common(drawing, base, q)
    y, x = np.append(weights.output, y), np.append(seen.x_of[weights.letter], x)
    cell, place = np.unique(y * len(joint.p_x) + x, return_inverse=True)
    y, x = np.divmod(cell, len(joint.p_x))
    mass = np.bincount(place[: len(own)], own, len(cell)) + base[y] * drawing[x]
    sums = np.where(q > 0, q, np.bincount(y, mass, weights.outputs))
    odds = mass / np.where(sums > 0, sums, 1)[y]
    kept = np.flatnonzero(odds >= SHOWN)
    kept = kept[np.lexsort((x[kept], -odds[kept], y[kept]))]
    return y[kept], x[kept], odds[kept]


def _common(drawing: Array, base: Array, q: Array) -> tuple[Index, Index]:
    """All (y, x) where the background alone says enough of x to be shown: none, unless the protocol is nearly constant."""
    order = np.argsort(-drawing, kind="stable")
    least = np.divide(SHOWN * q, base, out=np.full(len(q), np.inf), where=base > 0)
    number = np.searchsorted(-drawing[order], -least, side="right")
    if number.sum() > MOST_CELLS:
        raise ProtocolError(f"{number.sum():,} values to name in {len(q):,} outputs are too many; use bins, or a larger ε")
    y = np.repeat(np.arange(len(q)), number)
    return y, order[np.arange(len(y)) - np.repeat(np.cumsum(number) - number, number)]


def _told(outputs: Sequence[Output], names: tuple[str, ...]) -> tuple[tuple[Output, ...], tuple[str, ...]]:
    if all(not isinstance(o, Mixture) for o in outputs) and len(set(map(show, outputs))) == len(outputs):
        return tuple(outputs), names
    return tuple(_distinct(outputs)), ("Y",)


def posteriors(matrix: NDArray[np.float64], joint: Joint, reads: str) -> NDArray[np.float64]:
    """P(x | y), one row an output; for letters that never occur every value is taken to be equally likely."""
    seen = letters(joint, reads)
    table = np.zeros((len(matrix), len(joint.p_x)))
    np.add.at(table.T, seen.x_of, (matrix * seen.masses).T)
    sums = table.sum(axis=1, keepdims=True)
    return np.where(sums > 0, table / np.where(sums > 0, sums, 1), 1 / table.shape[1])


def _meaning(odds: NDArray[np.float64], values: Sequence[Any]) -> Output:
    order = [int(x) for x in np.argsort(-odds, kind="stable") if odds[x] >= SHOWN]
    return _said(order, odds[order].tolist(), values)


def _said(order: Sequence[int], odds: Sequence[float], values: Sequence[Any]) -> Output:
    """The output under which these values have these odds, the likeliest first."""
    if odds[0] > SURE:
        return values[order[0]]  # type: ignore[no-any-return]
    parts = [f"{show(values[x])} {_percent(p)}" for x, p in zip(order[:NAMED], odds[:NAMED], strict=False)]
    text = " | ".join(parts) + (" | …" if len(order) > NAMED else "")
    return Mixture(tuple(values[x] for x in order), tuple(round(p, 4) for p in odds), text)


def _percent(share: float) -> str:
    """Whole percents, and two digits of what is below one percent or above ninety-nine."""
    if 0.01 <= share <= 0.99:
        return f"{100 * share:.0f}%"
    small = f"{100 * min(share, 1 - share):.2g}"
    return f"{small}%" if share < 0.5 else f"{100 - float(small):.{len(small.partition('.')[2])}f}%"


def _distinct(outputs: Sequence[Output]) -> list[Output]:
    """The same with numbered labels where two would read the same; only mixtures can be numbered."""
    seen: dict[str, int] = {}
    result: list[Output] = []
    for output in outputs:
        text = show(output)
        seen[text] = seen.get(text, 0) + 1
        result.append(output if seen[text] == 1 else _numbered(output, f"{text} #{seen[text]}"))
    return result


def _numbered(output: Output, text: str) -> Mixture:
    if isinstance(output, Mixture):
        return replace(output, label=text)
    return Mixture((cast(Input, output),), (1.0,), text)
