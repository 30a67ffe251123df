"""A matrix that somebody wrote down: its numbers exactly as written, and the labels of its rows and columns if it has any.

Text is taken for the decimals or quotients that it shows, floats for the binary fractions that they are. A text file has
labels for its rows and its columns if its first cell is empty, as R writes them; otherwise wherever there are no numbers.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.errors import ProtocolError, reason
from trechter.exact import as_fraction

Names = tuple[str, ...] | None
DECIMAL = re.compile(r"\s*[+-]?\d*\.?(\d*)(?:[eE]([+-]?\d+))?\s*")
SHORT = {2: 3, 4: 6}  # bytes of a float that is too short to be taken for more than so many decimals
TEXT = (".csv", ".tsv", ".txt")


@dataclass(frozen=True, eq=False)
class Written:
    """Integers over `whole`, names of rows and columns, and how many decimals the numbers have (None: no decimals)."""

    units: NDArray[np.object_]
    whole: int
    rows: Names = None
    columns: Names = None
    decimals: int | None = None

    @property
    def turned(self) -> Written:
        """Rows as columns."""
        return Written(self.units.T, self.whole, self.columns, self.rows, self.decimals)

    @property
    def sums(self) -> list[Fraction]:
        """The sum of each column."""
        return [Fraction(total, self.whole) for total in self.units.sum(axis=0).tolist()]


def read_matrix(source: Any) -> Written:
    """A matrix from a file (.csv, .tsv, .txt, .npy), a data frame with labels, or anything that is an array."""
    if isinstance(source, str | Path):
        path = Path(source)
        if path.suffix.lower() in TEXT:
            return _labelled(_fields(path), str(path))
        if path.suffix.lower() == ".npy":
            return _plain(_array(path), str(path))
        if path.suffix.lower() == ".json":
            raise ProtocolError(f"{path} is no matrix; what a protocol promises is decided by `trechter verify`")
        raise ProtocolError(
            f"{path} is no matrix that can be read; give a file ending in {', '.join(TEXT)} or .npy, or an array"
        )
    names = [_frame_names(getattr(source, axis, None)) for axis in ("index", "columns")]
    return _plain(source, "the matrix", *names)


def _plain(source: Any, what: str, rows: Names = None, columns: Names = None) -> Written:
    try:
        array = np.asarray(source)
    except ValueError:
        raise ProtocolError(f"{what} is ragged: every row needs the same number of entries") from None
    if array.ndim != 2 or 0 in array.shape:
        raise ProtocolError(f"{what} has shape {array.shape}: expected two axes, outputs and values, at least one of each")
    if array.dtype.kind == "f" and np.isfinite(array).all():
        units, whole = _binary(array.astype(np.float64))
        return Written(units, whole, rows, columns, SHORT.get(array.dtype.itemsize))
    cells = [_number(value, f"row {i + 1}, column {j + 1}") for (i, j), value in np.ndenumerate(array)]
    texts = [value for value in array.ravel().tolist() if isinstance(value, str)]
    whole = math.lcm(*(cell.denominator for cell in cells))
    units = np.array([int(cell * whole) for cell in cells], object).reshape(array.shape)
    return Written(units, whole, rows, columns, _decimals(texts) if len(texts) == array.size else None)


def _binary(array: NDArray[np.float64]) -> tuple[NDArray[np.object_], int]:
    """Floats as integers over a power of two, without rounding."""
    mantissa, exponent = np.frexp(array)
    least = min(0, int(exponent.min()) - 53)
    shifts = (exponent - 53 - least).astype(object)
    return np.ldexp(mantissa, 53).astype(np.int64).astype(object) << shifts, 1 << -least


def _labelled(fields: list[list[str]], what: str) -> Written:
    """Cells and labels of a file."""
    if not fields:
        raise ProtocolError(f"{what} is empty: it needs a row for each output and a column for each value")
    first, rest = fields[0], fields[1:]
    short = bool(rest) and len(first) + 1 == len(rest[0])  # R's write.table leaves the first cell out
    corner = not first[0].strip() and not short
    header = short or corner or not all(map(_is_number, first[1:])) or _all_but_first(first, rest)
    body = rest if header else fields
    named = short or corner or any(not _is_number(row[0]) for row in body)
    columns = tuple(name.strip() for name in first[1 if named and not short else 0 :]) if header else None
    rows = tuple(row[0].strip() for row in body) if named else None
    width = len(body[0]) if body else 0
    ragged = [i for i, row in enumerate(body) if len(row) != width]
    if ragged:
        raise ProtocolError(f"{what} is ragged: row {ragged[0] + 1} has {len(body[ragged[0]])} fields, the first has {width}")
    if width == named:
        raise ProtocolError(f"{what} has labels but no numbers; a table of released rows is audited beside its original")
    return _plain([row[1:] if named else row for row in body], what, rows, columns)


def _all_but_first(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """A header that only its first cell gives away: there it is no number, and everywhere below it is."""
    return not _is_number(first[0]) and bool(rest) and all(_is_number(row[0]) for row in rest)


def _fields(path: Path) -> list[list[str]]:
    try:
        lines = [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
        mark = next((mark for mark in "\t,;" if lines and mark in lines[0]), None)
        return [line.split() for line in lines] if mark is None else list(csv.reader(lines, delimiter=mark, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ProtocolError(f"cannot read {path}: {reason(error)}") from None


def _array(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ProtocolError(f"cannot read {path}: {reason(error)}") from None


def _frame_names(axis: Any) -> Names:
    """The labels of a data frame's axis; counting from 0 is no label."""
    names = None if axis is None or callable(axis) else list(axis)
    return None if names is None or names == list(range(len(names))) else tuple(map(str, names))


def _number(value: Any, place: str) -> Fraction:
    plain = value.item() if isinstance(value, np.generic) else value
    try:
        return as_fraction(plain)
    except ValueError:
        raise ProtocolError(f"{place}: {plain!r} is no finite number; probabilities are numbers from 0 to 1") from None


def _is_number(text: str) -> bool:
    """Whether it is meant as one: what is no finite number is refused later, not taken for a label."""
    try:
        float(text)
    except ValueError:
        return bool(re.fullmatch(r"\s*\d+\s*/\s*\d+\s*", text)) or text.strip() in ("NA", "")
    return True


def _decimals(texts: Sequence[str]) -> int | None:
    """The most decimals that any of the texts is written with; None if one is a quotient."""
    found = [DECIMAL.fullmatch(text) for text in texts]
    if not all(found):
        return None
    return max(len(m[1]) - int(m[2] or 0) for m in found if m)
