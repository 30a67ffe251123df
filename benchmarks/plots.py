"""The pictures: time against a, c, ε and the number of attributes, and gap against time. PNG and SVG, by altair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import altair as alt
from benchmarks.runner import Row

PICTURES = {  # title, subtitle, what is on the x-axis, whether that is logarithmic
    "a": ("Time against the number of values of X", "LDP(0.5), random joints, c values of the secret", "values of X", True),
    "c": ("Time against the number of values of the secret", "random joints, a = 15", "values of S", False),
    "epsilon": ("Time against ε", "a random joint, c = 5, a = 20", "ε", True),
    "attributes": ("Time against the number of attributes", "SRLIP, c = 2, three values each", "attributes", False),
}
NAMES = {
    "trechter": "trechter",
    "gamma": "vertices of Γ, cddlib",
    "lip_polytope": "vertices of Δ, cddlib",
    "falk_soland": "plain Falk–Soland",
    "pairs": "trechter, pairs alone",
}
COLOURS = ["#1f6fb4", "#d1495b", "#3a923a", "#8e6bbf", "#e09f3e", "#2a9d9d", "#7f7f7f"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 6], [1, 5]]
WIDTH, HEIGHT = 640, 380
LEAST = 1e-12  # of a gap that is drawn
POINTS = 3  # that make a trace


def pictures(out: Path, rows: Sequence[Row]) -> list[str]:
    """Draw what the rows have points for; the names of the pictures."""
    found = []
    for name in PICTURES:
        here = [row for row in rows if row.picture == name and row.seconds and row.contender != "grr"]
        if len(here) > 1:
            found.append(_save(out, f"time-against-{name}", scaling(name, here)))
    traced = [row for row in rows if len(row.trace) >= POINTS and not row.picture]
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
            "by": _by(row),
            "done": _done(row),
        }
        for row in rows
    ]
    x = alt.X("x:Q", title=label, axis=_ticks({row.x for row in rows if row.x}, grid=False), scale=_scale(log))
    times = [row.seconds for row in rows if row.seconds]
    base = alt.Chart(alt.Data(values=points)).encode(
        x=x, y=_decades("seconds", "seconds", times), color=_colour("line", [row.line for row in rows])
    )
    lines = base.mark_line(strokeWidth=2.5).encode(strokeDash=_dash(rows))
    marks = base.transform_filter("datum.done").mark_point(size=60, filled=True, opacity=1)
    ended = base.transform_filter("!datum.done").mark_point(size=70, fill="white", strokeWidth=2.5, opacity=1)
    stopped = "" if all(point["done"] for point in points) else "; hollow: stopped at the time limit"
    return alt.layer(lines, marks, ended).properties(title=_title(title, subtitle + stopped))


def gaps(rows: Sequence[Row]) -> alt.Chart:
    """What was proved when."""
    points = [
        {
            "seconds": s,
            "gap": max(bound - utility, LEAST),
            "instance": row.instance,
            "by": _by(row),
        }
        for row in rows
        for s, utility, bound in [*row.trace, *_end(row)]
        if s > 0
    ]
    chart = alt.Chart(alt.Data(values=points)).mark_line(strokeWidth=2.5, interpolate="step-after")
    return chart.encode(
        x=_decades("seconds", "seconds", [point["seconds"] for point in points], alt.X),
        y=_decades("gap", "gap, nats", [point["gap"] for point in points]),
        color=_colour("instance", [row.instance for row in rows]),
        strokeDash=_dash(rows),
    ).properties(title=_title("Gap against time", "bound minus utility of the best protocol so far"))


def _by(row: Row) -> str:
    return NAMES.get(row.contender, row.contender)


def _end(row: Row) -> list[tuple[float, float, float]]:
    if row.seconds is None or row.utility is None or row.bound is None:
        return []
    return [(max(row.seconds, row.trace[-1][0]), row.utility, row.bound)]


def _done(row: Row) -> bool:
    """Whether the gap that was asked for is proved."""
    return not row.over and row.gap is not None and row.gap <= row.target


def _decades(field: str, title: str, found: Sequence[float], axis: Any = alt.Y) -> Any:
    """A logarithmic axis with a tick at every power of ten, a little wider than what is on it."""
    domain = [min(found) / 1.5, max(found) * 1.5]
    values = [10.0**k for k in range(math.floor(math.log10(domain[0])), math.ceil(math.log10(domain[1])) + 1)]
    domain = domain if sum(domain[0] <= v <= domain[1] for v in values) > 1 else [values[0], values[-1]]
    values, grid = [v for v in values if domain[0] <= v <= domain[1]], axis is alt.Y
    return axis(f"{field}:Q", title=title, scale=alt.Scale(type="log", domain=domain, nice=False), axis=_ticks(values, grid))


def _scale(log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False, padding=20) if log else alt.Scale(zero=False, nice=False, padding=20)


def _ticks(found: Iterable[float], grid: bool = True) -> alt.Axis:
    """These ticks, written plainly unless they are tiny."""
    text = "datum.value < 0.0001 ? format(datum.value, '.0e') : format(datum.value, ',~r')"
    return alt.Axis(grid=grid, values=sorted(found), labelExpr=text, labelOverlap="greedy")


def _colour(field: str, found: Sequence[str]) -> alt.Color:
    legend = alt.Legend(symbolType="stroke", symbolSize=300, symbolStrokeWidth=3, labelLimit=300)
    names = list(dict.fromkeys(found))
    scale = alt.Scale(domain=names, range=[COLOURS[k % len(COLOURS)] for k in range(len(names))])
    return alt.Color(f"{field}:N", title=None, scale=scale, legend=legend)


def _dash(rows: Sequence[Row]) -> alt.StrokeDash:
    """One style for each contender, ours solid; no legend if nobody else is there."""
    keys = sorted({row.contender for row in rows}, key=lambda name: (name != "trechter", name))
    names = [NAMES.get(key, key) for key in keys]
    legend = alt.Legend(symbolSize=300, symbolStrokeWidth=2.5, labelLimit=300) if len(names) > 1 else None
    return alt.StrokeDash("by:N", title=None, scale=alt.Scale(domain=names, range=DASHES[: len(names)]), legend=legend)


def _title(text: str, subtitle: str) -> alt.TitleParams:
    return alt.TitleParams(text, subtitle=subtitle, anchor="start", fontSize=18, subtitleFontSize=14, offset=16)


def _save(out: Path, name: str, chart: Any) -> str:
    styled = (
        chart.properties(width=WIDTH, height=HEIGHT, padding=16, background="white")
        .configure_axis(labelFontSize=13, titleFontSize=14, gridColor="#e8e8e8", domainColor="#999", tickColor="#999")
        .configure_legend(labelFontSize=14)
        .configure_view(stroke=None)
    )
    styled.save(out / f"{name}.svg")
    styled.save(out / f"{name}.png", scale_factor=2)
    return name
