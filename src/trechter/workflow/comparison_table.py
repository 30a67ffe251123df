"""A comparison as a table: for a terminal of any width, and as HTML.

At one level a line is a protocol and a column a figure; where there is no room, the least important columns are left out. At
several levels a column is a level, and a cell what is kept there.
"""

from __future__ import annotations

import math
import shutil
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from trechter.measures import entropy
from trechter.model.spec import Spec
from trechter.report.html import Html, join, paragraph
from trechter.report.html import table as html_table
from trechter.report.numbers import at_most, count, duration, number, share
from trechter.report.text import clip, listing, visible
from trechter.workflow.comparison_row import BIT, LONGEST, OPTIMUM, Row

if TYPE_CHECKING:
    from trechter.workflow.comparison import Comparison

Cells = list[str]
GAP = "  "
NARROW, WIDE = 40, 120
NOTHING = "–"
BEST = "to best"
NOISE = 1e-12


@dataclass(frozen=True)
class Column:
    """A figure: its title, what it says of a row, and its place when there is no room for all."""

    title: str
    cell: Callable[[Row], str]
    rank: int


def text(comparison: Comparison, width: int | None = None) -> str:
    """Lines for a terminal: of this width, or as wide as it is."""
    room = max(NARROW, width or min(shutil.get_terminal_size((80, 24)).columns, WIDE))
    single = len(comparison.notions) == 1
    body = _lines_of_figures(comparison, room) if single else _lines_of_levels(comparison, room)
    remarks = [*comparison.sentences, *reasons(comparison), key(comparison, body[0])]
    wrapped = [textwrap.fill(remark, room, subsequent_indent="  ") for remark in remarks if remark]
    return "\n".join([*textwrap.wrap(heading(comparison), room), "", *body, "", *wrapped])


def markup(comparison: Comparison) -> Html:
    """The same as HTML; text from the data stays text."""
    rows = _rows_of_figures(comparison) if len(comparison.notions) == 1 else _rows_of_levels(comparison)
    remarks = [*reasons(comparison), key(comparison, " ".join(rows[0]))]
    table = html_table(rows[0], [list(row) for row in rows[1:]], "figures")
    said = " ".join(comparison.sentences)
    return join(
        paragraph(heading(comparison)), paragraph(said), table, *(paragraph(remark, kind="note") for remark in remarks)
    )


def heading(comparison: Comparison) -> str:
    """What is published, what stays secret, and at which levels."""
    joint = comparison.joint
    secret, release = (listing([clip(visible(a.name)) for a in role]) for role in (joint.secret, joint.release))
    rows = "" if joint.n is None else f"; {count(joint.n)} rows"
    first, *others = comparison.notions
    promises = ", ".join([str(first), *(notion.level_text for notion in others)])
    protected = "itself protected" if first.protect == "x" else f"secret: {secret}"
    return f"published: {release}; {protected}{rows}; {promises}"


def key(comparison: Comparison, head: str) -> str:
    """What the figures mean whose titles are shown."""
    measure, whole = comparison.measure, comparison.whole
    worth = measure.symbol + (f" in {measure.unit}" if measure.unit else "")
    kept = "" if not whole else f"; kept: of {number(whole)}, which x itself is worth"
    if whole and math.isclose(whole, entropy(comparison.joint.p_x), rel_tol=1e-9):
        kept = f"; kept: of H(X) = {number(whole)} {measure.unit}"
    if len(comparison.notions) > 1:
        return f"({worth}{kept}; {NOTHING}: the promise is not kept)"
    best = "; to best: up to what no protocol that reads the same can pass" if BEST in head else ""
    return f"({worth}{kept}; level: as certified, rounded up{best})"


def reasons(comparison: Comparison) -> list[str]:
    """Why cells are empty or not what they could be, once for each protocol; and whether somebody stopped it."""
    found = ["Interrupted: this is what was found until then."] if comparison.interrupted else []
    for name in comparison.names:
        rows, shown = [row for row in comparison.rows if row.label == name], clip(visible(name), LONGEST)
        refused = [row for row in rows if row.reason is not None]
        broken = [row for row in rows if row.result is not None and not row.holds]
        early = [row for row in rows if row.name == OPTIMUM and row.status == "gap"]
        if refused:
            others = f" (so at {len(refused)} levels)" if len(refused) > 1 else ""
            found.append(f"{shown}: {visible(str(refused[0].reason))}{others}")
        if broken and len(comparison.notions) > 1:
            found.append(f"{shown} does not keep {_promises(broken)}: its level is {_up(broken[0].level)}")
        if early:
            found.append(f"{shown} stopped early at {_promises(early)}: there may be better ones, by at most {_most(early)}")
    return found


def _promises(rows: Sequence[Row]) -> str:
    """The levels of some rows."""
    first, *others = [row.notion for row in rows]
    return listing([str(first), *(notion.level_text for notion in others)])


def _most(rows: Sequence[Row]) -> str:
    """How much better than these rows others may be."""
    gaps = listing([at_most(row.gap or 0.0, 2) for row in rows])
    return f"{gaps} {rows[0].result.measure.unit if rows[0].result else ''}".strip()


def columns(comparison: Comparison) -> list[Column]:
    """Every figure of a row that there is."""
    measure, whole = comparison.measure, comparison.whole
    kept = [Column("kept", lambda row: _percent(row.share(whole)), 1)] if whole else []
    bits = [Column("bits", lambda row: _figure(None if row.utility is None else row.utility / BIT), 12)]
    return [
        Column("protocol", lambda row: clip(visible(row.label), LONGEST), 0),
        Column(measure.symbol, lambda row: _figure(row.utility), 2),
        *(bits if measure.unit == "nats" else []),
        *kept,
        Column(BEST, lambda row: NOTHING if row.gap is None else at_most(row.gap, 2), 7),
        Column("level", lambda row: _up(row.level), 3),
        Column("reads", lambda row: {"x": "x", "sx": "s, x", None: NOTHING}[row.reads], 4),
        Column("α", lambda row: _figure(row.alpha), 6),
        Column("I(S;Y)", lambda row: _figure(row.leak("information")), 5),
        Column("one guess", lambda row: _times(row.leak("bayes_gain")), 10),
        Column("max. leak", lambda row: _figure(row.leak("maximal")), 11),
        Column("outputs", lambda row: NOTHING if row.outputs is None else _outputs(row.outputs), 9),
        Column("time", lambda row: NOTHING if row.result is None else duration(row.result.seconds), 8),
    ]


def _lines_of_figures(comparison: Comparison, room: int) -> Cells:
    """One level: the figures that fit, then under a line of their own those of protocols that do not keep the promise."""
    made = [row for row in comparison.rows if row.result is not None]
    every = [(column, [column.title, *map(column.cell, made)]) for column in columns(comparison)]
    widths = [(max(map(len, cells)) + len(GAP), column.rank) for column, cells in every]
    widths.sort(key=lambda found: found[1])
    fits = sum(total <= room + len(GAP) for total in accumulate(width for width, _ in widths))
    ranks = {rank for _, rank in widths[: max(fits, 2)]}
    head, *lines = aligned([cells for column, cells in every if column.rank in ranks])
    kept = sum(row.holds for row in made)
    broken = ["not kept by:", *lines[kept:]] if kept < len(lines) else []
    return [head, *lines[:kept], *broken]


def _lines_of_levels(comparison: Comparison, room: int) -> Cells:
    """Several levels: as many side by side as fit, then the others below."""
    first, *others = map(list, zip(*_rows_of_levels(comparison), strict=True))
    width = max(len(cell) for cells in others for cell in cells) + len(GAP)
    side_by_side = max(1, (room - max(map(len, first))) // width)
    blocks = [aligned([first, *others[i : i + side_by_side]]) for i in range(0, len(others), side_by_side)]
    return [line for i, block in enumerate(blocks) for line in ([""] if i else []) + block]


def aligned(cells: Sequence[Cells]) -> Cells:
    """Columns as lines: the first to the left, the others to the right."""
    padded = [[_pad(cell, max(map(len, column)), i == 0) for cell in column] for i, column in enumerate(cells)]
    return [GAP.join(line).rstrip() for line in zip(*padded, strict=True)]


def _rows_of_figures(comparison: Comparison) -> list[Cells]:
    """One level: every figure, and beside its name that a protocol does not keep the promise."""
    name, *figures = columns(comparison)
    made = [row for row in comparison.rows if row.result is not None]
    names = [name.cell(row) + ("" if row.holds else f" (does not keep {row.notion})") for row in made]
    lines = [[shown, *(column.cell(row) for column in figures)] for shown, row in zip(names, made, strict=True)]
    return [[name.title, *(column.title for column in figures)], *lines]


def _rows_of_levels(comparison: Comparison) -> list[Cells]:
    """A line for each protocol, by its place at the levels."""
    cells = {(row.label, row.notion): _kept(comparison, row) for row in comparison.rows}
    places = [[row.label for row in comparison.at(notion)] for notion in comparison.notions]
    names = sorted(comparison.names, key=lambda name: sum(found.index(name) for found in places if name in found))
    head = ["protocol", *(_epsilon(notion) for notion in comparison.notions)]
    lines = [[clip(visible(name), LONGEST), *(cells.get((name, n), NOTHING) for n in comparison.notions)] for name in names]
    return [head, *lines]


def _kept(comparison: Comparison, row: Row) -> str:
    if not row.holds:
        return NOTHING
    return _percent(row.share(comparison.whole)) if comparison.whole else _figure(row.utility)


def _epsilon(notion: Spec) -> str:
    return f"ε={notion.level_text.replace('inf', '∞')}"


def _pad(cell: str, width: int, left: bool) -> str:
    return cell.ljust(width) if left else cell.rjust(width)


def _percent(part: float | None) -> str:
    return NOTHING if part is None else share(part)


def _figure(value: float | None) -> str:
    if value is None or math.isnan(value):
        return NOTHING
    if abs(value) < NOISE:
        return "0"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 else number(value, 3)


def _up(value: float | None) -> str:
    """A level: exact to six digits, on the side on which it stays true."""
    if value is None:
        return NOTHING
    return f"<{NOISE:g}" if 0 < value < NOISE else at_most(value, 6)


def _times(value: float | None) -> str:
    return NOTHING if value is None or math.isnan(value) else f"× {value:.3f}"


def _outputs(found: int | str) -> str:
    return f"{found:,}" if isinstance(found, int) else found
