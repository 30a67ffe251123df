"""The pictures: time against a, c, ε and the number of attributes, and gap against time. PNG and SVG, by altair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
from benchmarks.runner import Row

PICTURES = {  # title, subtitle, what is on the x-axis, whether that is logarithmic
    "a": ("Time against the size a of X's alphabet", "LDP(0.5), Jeffreys joints", "values of X", True),
    "c": ("Time against the number c of secret values", "a = 15, Jeffreys joints", "values of S", False),
    "epsilon": ("Time against ε", "c = 5, a = 20, a Jeffreys joint", "ε", True),
    "attributes": ("Time against the number of attributes", "SRLIP, c = 2, three values each", "attributes", False),
}
WIDTH, HEIGHT = 620, 360
LEAST = 1e-12  # of a gap that is drawn
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 6], [1, 5]]
POINTS = 3  # that make a trace


def pictures(out: Path, rows: Sequence[Row]) -> list[str]:
    """Draw what the rows have points for; the names of the pictures."""
    found = []
    for name in PICTURES:
        here = [row for row in rows if row.picture == name and row.seconds]
        if len(here) > 1:
            found.append(_save(out, f"time-against-{name}", scaling(name, here)))
    traced = [row for row in rows if len(row.trace) >= POINTS and not row.instance.startswith("scaling/")]
    if traced:
        found.append(_save(out, "gap-against-time", gaps(traced)))
    return found


def scaling(name: str, rows: Sequence[Row]) -> alt.LayerChart:
    """Lines of one colour for each family of instances, dashed for other contenders; hollow where the clock ran out."""
    title, subtitle, label, log = PICTURES[name]
    points = [
        {
            "x": row.x,
            "seconds": row.seconds,
            "line": row.line,
            "contender": row.contender,
            "done": "proved" if _done(row) else "time limit",
        }
        for row in rows
    ]
    integers = sorted({int(point["x"]) for point in points if point["x"] is not None and float(point["x"]).is_integer()})
    ticks: dict[str, Any] = {} if log else {"values": integers, "format": "d"}
    x = alt.X("x:Q", title=label, axis=alt.Axis(grid=False, **ticks), scale=_scale(log))
    base = alt.Chart(alt.Data(values=points)).encode(
        x=x,
        y=alt.Y("seconds:Q", title="seconds", scale=alt.Scale(type="log"), axis=_ticks()),
        color=alt.Color("line:N", title=None, sort=list(dict.fromkeys(row.line for row in rows))),
    )
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=_dash(rows))
    marks = base.mark_point(size=70, strokeWidth=2).encode(
        fill=alt.condition("datum.done == 'proved'", "line:N", alt.value("white"), legend=None),
    )
    return alt.layer(lines, marks).properties(title=_title(title, f"{subtitle}; hollow: stopped at the time limit"))


def gaps(rows: Sequence[Row]) -> alt.Chart:
    """What was proved when."""
    points = [
        {"seconds": s, "gap": max(bound - utility, LEAST), "instance": row.instance, "contender": row.contender}
        for row in rows
        for s, utility, bound in [*row.trace, *_end(row)]
        if s > 0
    ]
    chart = alt.Chart(alt.Data(values=points)).mark_line(strokeWidth=2, interpolate="step-after")
    return chart.encode(
        x=alt.X("seconds:Q", title="seconds", scale=alt.Scale(type="log"), axis=_ticks(grid=False)),
        y=alt.Y("gap:Q", title="gap, nats", scale=alt.Scale(type="log"), axis=_ticks()),
        color=alt.Color("instance:N", title=None),
        strokeDash=_dash(rows),
    ).properties(title=_title("Gap against time", "bound minus utility of the best protocol so far"))


def _end(row: Row) -> list[tuple[float, float, float]]:
    if row.seconds is None or row.utility is None or row.bound is None:
        return []
    return [(row.seconds, row.utility, row.bound)]


def _done(row: Row) -> bool:
    return not row.over and row.gap is not None and row.gap <= 1e-3


def _scale(log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False, padding=20) if log else alt.Scale(zero=False, padding=20)


def _ticks(grid: bool = True) -> alt.Axis:
    """Powers of ten, written as numbers."""
    return alt.Axis(grid=grid, format="~g", tickCount=6)


def _dash(rows: Sequence[Row]) -> alt.StrokeDash:
    names = sorted({row.contender for row in rows}, key=lambda name: (name != "trechter", name))
    return alt.StrokeDash("contender:N", title=None, sort=names, scale=alt.Scale(domain=names, range=DASHES[: len(names)]))


def _title(text: str, subtitle: str) -> alt.TitleParams:
    return alt.TitleParams(text, subtitle=subtitle, anchor="start", fontSize=17, subtitleFontSize=13, offset=14)


def _save(out: Path, name: str, chart: Any) -> str:
    styled = (
        chart.properties(width=WIDTH, height=HEIGHT)
        .configure_axis(labelFontSize=13, titleFontSize=14, gridColor="#e5e5e5", domainColor="#999", tickColor="#999")
        .configure_legend(labelFontSize=13, symbolSize=120, symbolStrokeWidth=2)
        .configure_view(stroke=None)
    )
    styled.save(out / f"{name}.svg")
    styled.save(out / f"{name}.png", scale_factor=2)
    return name
