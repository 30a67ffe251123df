"""An estimate, or a posterior, as a table: for a terminal of any width, and as HTML."""

from __future__ import annotations

import math
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.model.outputs import show
from trechter.report.html import Html, join, paragraph
from trechter.report.html import table as html_table
from trechter.report.numbers import count, share
from trechter.report.text import clip, listing, visible
from trechter.workflow.comparison_table import aligned

if TYPE_CHECKING:
    from trechter.workflow.estimate import Estimate, Posterior

NARROW, WIDE = 40, 120
LEAST = 10  # letters of a value
MOST_LINES = 40
MOST_NAMED = 4
SMALLEST = 1e-5
FEW_DRAWS = 100  # for limits that are about right
NOTHING = "–"
TITLES = {"share": "share", "error": "± s.e.", "low": "from", "high": "to", "likely": "likely"}
SPARED = ("likely", "± s.e.", "± s.d.")
DRAWN = {"mean": "mean", "spread": "± s.d.", "low": "from", "high": "to"}


def text(found: Estimate | Posterior, width: int | None = None) -> str:
    """Lines for a terminal: of this width, or as wide as it is."""
    room = _room(width)
    titles, order = _titles(found), _order(found)
    names = [_title(found), *(_label(found, x) for x in order)]
    cells = [[titles[k], *column] for k, column in zip(titles, zip(*_figures(found, titles, order), strict=True), strict=True)]
    for title in SPARED:  # where names have no room
        if max(map(len, names)) > _left(room, cells):
            cells = [column for column in cells if column[0] != title]
    names = [clip(name, max(LEAST, _left(room, cells))) for name in names]
    notes = [textwrap.fill(note, room, subsequent_indent="  ") for note in _remarks(found, [column[0] for column in cells])]
    return "\n".join([textwrap.fill(_heading(found), room), "", *aligned([names, *cells]), "", *notes])


def _left(room: int, cells: Sequence[Sequence[str]]) -> int:
    return room - sum(2 + max(map(len, column)) for column in cells)


def markup(found: Estimate | Posterior) -> Html:
    """The same as HTML."""
    titles, order = _titles(found), _order(found)
    rows = zip(order, _figures(found, titles, order), strict=True)
    table = html_table([_title(found), *titles.values()], [[_label(found, x), *row] for x, row in rows], "figures")
    return join(
        paragraph(_heading(found)), table, *(paragraph(note, kind="note") for note in _remarks(found, list(titles.values())))
    )


def told(lines: pl.DataFrame, columns: Sequence[str], width: int | None = None) -> str:
    """What each output says: the likeliest values, from P(value | output) line by line."""
    room = _room(width)
    found = ["What an output says of the true value:", ""]
    for output, values in lines.group_by(columns, maintain_order=True):
        best = values.sort("probability", descending=True).head(MOST_NAMED)
        rows = best.select([name for name in best.columns if name not in columns]).iter_rows()
        named = [f"{_cells(row[:-1])} {share(row[-1])}" for row in rows if row[-1] > SMALLEST]
        shown = clip(_cells(output), room)
        found += [shown, *textwrap.wrap(", ".join(named), room, initial_indent="    ", subsequent_indent="    ")]
        if len(found) > 2 * MOST_LINES:
            return "\n".join([*found, "… (all are in the JSON)"])
    return "\n".join(found)


def _cells(cells: Sequence[object]) -> str:
    return " · ".join(visible("(null)" if cell is None else str(cell)) for cell in cells)


def _room(width: int | None) -> int:
    return max(NARROW, width or min(shutil.get_terminal_size((80, 24)).columns, WIDE))


def _titles(found: Estimate | Posterior) -> dict[str, str]:
    """The columns that there are."""
    titles = TITLES if "share" in found.figures else DRAWN
    return {name: title for name, title in titles.items() if name in found.figures}


def _title(found: Estimate | Posterior) -> str:
    return " · ".join(visible(a.name) for a in found.attributes)


def _label(found: Estimate | Posterior, x: int) -> str:
    return visible(show(found.values[x]))


def _heading(found: Estimate | Posterior) -> str:
    names = listing([visible(a.name) for a in found.attributes])
    if not hasattr(found, "draws"):
        return f"Estimated from {count(found.rows)} released rows: shares of {names} in the population."
    return f"The posterior of the shares of {names} in the population, from {len(found.draws.cells):,} draws."


def _remarks(found: Estimate | Posterior, titles: Sequence[str]) -> Iterator[str]:
    """What the columns mean, and what else there is to say."""
    left = len(found.values) - MOST_LINES
    if left > 0:
        yield f"The {MOST_LINES} largest of {len(found.values):,} shares; all are in the JSON."
    if not hasattr(found, "draws"):
        likely = "; likely: the shares, none negative, under which the release is most likely" if "likely" in titles else ""
        yield f"(from, to: 95 % limits of each share{likely})"
        yield from (f"{note}." for note in found.notes)
    else:
        worst = found.draws.errors.max()
        yield f"(from, to: the middle 95 %; the means are right to ± {share(worst)}, their standard error for so few draws)"
        worth = int(found.draws.effective.min())
        if worth < FEW_DRAWS:
            yield f"Draws depend on each other, and these are worth only {count(worth)} independent ones: take more."
        if not found.identified.all():
            yield "Some shares cannot be told from these outputs: there the prior decides, however many rows there are."


def _order(found: Estimate | Posterior) -> list[int]:
    """All lines; of many the largest shares."""
    lines = range(len(found.values))
    if len(lines) <= MOST_LINES:
        return list(lines)
    upper = found.figures["high"]
    return sorted(lines, key=lambda x: -float(upper[x]))[:MOST_LINES]


def _figures(found: Estimate | Posterior, titles: dict[str, str], order: Sequence[int]) -> list[list[str]]:
    figures = found.figures
    digits = _digits(figures["high"] - figures["low"])
    return [[_percent(float(figures[name][x]), int(digits[x])) for name in titles] for x in order]


def _digits(width: NDArray[np.float64]) -> NDArray[np.float64]:
    """Decimals of a percentage: about two digits of a standard error."""
    return np.asarray(np.clip(1 - np.floor(np.log10(np.maximum(25 * width, 1e-9))), 1, 6))


def _percent(value: float, digits: int) -> str:
    return NOTHING if math.isnan(value) else f"{100 * value + 0:.{digits}f}%"
