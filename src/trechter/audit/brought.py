"""A matrix that somebody brought, made fit to be judged: which way round it is, what its labels mean, whether it is one.

What is judged is the matrix as written. Its columns must sum to 1, or miss it by no more than writing explains:
- float noise (at most 10⁻⁹): the largest entry of the column takes what is missing;
- n entries rounded to d ≥ 2 decimals miss by less than n·10^-d/2: the column is divided by its sum, exactly.
Everything else is refused, since nobody knows what would be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from trechter.alphabet import Attribute
from trechter.alphabet.attribute import shorten
from trechter.errors import ProtocolError
from trechter.exact.matrices import Integers
from trechter.model.joint import Joint
from trechter.model.matrix_file import Written, read_matrix

NOISE = Fraction(1, 10**9)
FEWEST = 2  # decimals from which a sum that is off is taken for rounding, not for a slip


@dataclass(frozen=True, eq=False)
class Brought:
    """Integer weights (outputs × letters) whose columns have one sum, what the outputs are called, and what had to be done."""

    weights: Integers
    reads: str
    outputs: tuple[str, ...]
    transposed: bool
    notes: tuple[str, ...]

    @property
    def whole(self) -> int:
        """The sum of every column."""
        return sum(self.weights[:, 0].tolist())


def bring(matrix: Any, joint: Joint, transposed: bool | None = None) -> Brought:
    """A matrix for a joint; `transposed`: its rows are the values of x, None: see which way round its sums are 1."""
    written = read_matrix(matrix)
    _check_signs(written)
    turned, notes = _direction(written, transposed)
    side, made = ("row", written.turned) if turned else ("column", written)
    reads, names = _letters(made, joint, side)
    order = _order(made.columns, names, side)
    if made.columns is None:
        notes.append(f"it has no labels for its {side}s: they are taken as {shorten(names)}, in this order")
    weights, remarks = _whole(made, side)
    values = _values(joint.release)
    numbers = tuple(f"output {y}" for y in range(1, len(weights) + 1))
    outputs = made.rows or (values if len(weights) == len(values) else numbers)
    return Brought(weights[:, order], reads, outputs, turned, (*notes, *remarks))


def _check_signs(written: Written) -> None:
    wrong = np.argwhere(written.units < 0)
    if len(wrong):
        i, j = wrong[0].tolist()
        value = written.units[i, j] / written.whole
        raise ProtocolError(f"row {i + 1}, column {j + 1}: {value:g} is negative; probabilities are numbers from 0 to 1")


def _direction(written: Written, transposed: bool | None) -> tuple[bool, list[str]]:
    """Whether rows are values, and what to say about it; sums that are 1 tell more than sums that rounding explains."""
    columns, rows = _misses(written), _misses(written.turned)
    if transposed is None and columns and rows:
        raise ProtocolError(f"{_sums(columns, 'column')}, and {_sums(rows, 'row')}: neither way round to 1; {COUNTS}")
    if transposed and rows:
        raise ProtocolError(f"no transposed matrix: {_sums(rows, 'row')}, not to 1; {COUNTS}")
    if transposed is False and columns:
        raise ProtocolError(f"{_sums(columns, 'column')}, not to 1; {COUNTS}")
    if transposed is not None:
        return transposed, []
    if not rows and (columns or (_off(written) and not _off(written.turned))):
        return True, ["its rows sum to 1 and its columns do not: it is read transposed, a row for each value"]
    if rows or (_off(written.turned) and not _off(written)) or _symmetric(written):
        return False, []
    return False, ["its rows sum to 1 as its columns do: it is read with a column for each value; --transposed turns it"]


COUNTS = "a probability matrix is needed: divide counts or percentages by their sums, and write out enough decimals"


def _misses(written: Written) -> dict[int, Fraction]:
    """The columns whose sums no rounding explains."""
    return {j: total for j, total in _off(written).items() if not _rounded(written, total)}


def _off(written: Written) -> dict[int, Fraction]:
    """The columns whose sums are not 1, beyond float noise."""
    return {j: total for j, total in enumerate(written.sums) if abs(total - 1) > NOISE}


def _symmetric(written: Written) -> bool:
    b, n = written.units.shape
    return b == n and bool(np.all(written.units == written.units.T))


def _rounded(written: Written, total: Fraction) -> bool:
    """Whether entries rounded to the decimals that are written can have this sum."""
    d = written.decimals
    return d is not None and d >= FEWEST and abs(total - 1) < len(written.units) * Fraction(1, 2 * 10**d)


def _sums(misses: dict[int, Fraction], side: str) -> str:
    j, total = next(iter(misses.items()))
    return f"{side} {j + 1} sums to {float(total):.10g}"


def _letters(made: Written, joint: Joint, side: str) -> tuple[str, tuple[str, ...]]:
    """What the matrix reads, and the names of its letters."""
    values, pairs = _values(joint.release), _values(joint.secret + joint.release)
    for reads, names in (("x", values), ("sx", pairs)):
        if made.units.shape[1] == len(names):
            return reads, names
    raise ProtocolError(
        f"a matrix of {made.units.shape[1]} {side}s: expected one for each of {len(values)} values ({shorten(values, 6)}), "
        f"or for each of {len(pairs)} pairs of the secret and a value"
    )


def _order(labels: Sequence[str] | None, names: Sequence[str], side: str) -> list[int]:
    """The place of each letter among the labels."""
    if labels is None:
        return list(range(len(names)))
    unknown = [label for label in labels if label not in names]
    if unknown or len(set(labels)) < len(names):
        what = f"{unknown[0]!r} is no value of the counts" if unknown else "a label stands there twice"
        raise ProtocolError(
            f"the labels of the {side}s do not fit: {what}; the values are {shorten(names)}. Rename the labels, declare the "
            "values in a schema, turn the matrix (--transposed), or leave all labels out if their order is that of the values"
        )
    return [labels.index(name) for name in names]


def _whole(made: Written, side: str) -> tuple[Integers, list[str]]:
    """Integer columns of one sum, and what had to be done to them."""
    rounded = _off(made)
    noise = max(abs(total - 1) for j, total in enumerate([*made.sums, Fraction(1)]) if j not in rounded)
    parts = [total.numerator for total in rounded.values()]  # a column divided by n/d has entries over n
    scale = math.lcm(*parts)
    units, factors = made.units.copy(), np.full(len(made.sums), scale, object)
    for j, total in enumerate(made.sums):
        if j in rounded:
            factors[j] = int(scale / total)
        else:
            units[int(np.argmax(units[:, j])), j] += int((1 - total) * made.whole)
    weights, said = units * factors, []
    if noise:
        said.append(f"its {side}s sum to 1 only up to {float(noise):.1e}: the largest entry of each took the rest")
    if rounded:
        why = f"{_sums(rounded, side)}, as numbers of {made.decimals} decimals may: each was divided by its sum, exactly"
        said.append(f"{why}. The digits that were not written could make the level another")
    return weights.astype(np.int64) if scale * made.whole < 2**53 else weights, said


def _values(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    return tuple(" · ".join(labels) for labels in product(*(a.labels for a in attributes)))
