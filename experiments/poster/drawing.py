"""How the poster's figures look."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.charts import Rows
from experiments.poster.setting import BEST, COLOURS, RANDOM

from experiments import charts, curves

SIZE = {"width": 330, "height": 300}
FOUND = {math.inf: "boundary, found", 1.0: "boundary of 1-LDP, found", 2.0: "boundary of 2-LDP, found"}
ALL = {**COLOURS, **dict(zip(FOUND.values(), (charts.GREEN, charts.PURPLE, "#444444"), strict=True))}
HEIGHT = math.sqrt(3) / 2  # of a triangle of side 1


def grid(title: str, said: str, panels: Sequence[Any], columns: int) -> Any:
    """Panels in rows under one title."""
    return curves.grid(title, said, panels, columns)


def plane(rows: Rows, y: str, title: str) -> Any:
    """Protocols in the plane of Priv and another metric: a cloud, and a curve for each family."""
    import altair as alt

    shown = [{name: row[name] for name in ("priv", y, "method", "parameter")} for row in rows if _finite(row, y)]
    least = -3.2 if y == "c" else 0.0
    base = _chart(alt, [row for row in shown if row[y] >= least], title).encode(
        x=_priv(alt), y=alt.Y(f"{y}:Q", title=None, scale=alt.Scale(domainMin=least)), color=_colours(alt, shown, COLOURS)
    )
    cloud = base.transform_filter(alt.datum.method == RANDOM).mark_circle(size=24, opacity=0.7)
    families = base.transform_filter((alt.datum.method != RANDOM) & (alt.datum.method != BEST))
    rings = base.transform_filter(alt.datum.method == BEST).mark_point(size=90, strokeWidth=1.5, opacity=1)
    ordered = families.mark_line(strokeWidth=2).encode(order="priv:Q")
    return alt.layer(cloud, ordered, families.mark_point(size=26, filled=True, opacity=1), rings)


def growth(rows: Rows) -> Any:
    """I(Yⁿ;P) with error bars, and its asymptote, dashed."""
    import altair as alt

    shown = [_bars(row, row["information"]) for row in rows if "sample" in row]
    base = _over_n(alt, shown, "I(Yⁿ;P) [nats] and its asymptote", rows)
    dashed = (
        base.transform_filter(alt.datum.asymptote >= 0).mark_line(strokeDash=[6, 4]).encode(y=alt.Y("asymptote:Q", title=None))
    )
    dots = base.mark_point(size=34, filled=True, opacity=1).encode(y=alt.Y("value:Q", title=None))
    return alt.layer(dashed, base.mark_rule(strokeWidth=2).encode(y="low:Q", y2="high:Q"), dots)


def excess(rows: Rows) -> Any:
    """How far above its asymptote I(Yⁿ;P) is, from where that is less than a nat."""
    import altair as alt

    near = [row for row in rows if "sample" in row and row["information"] - row["asymptote"] < 1]
    shown = [_bars(row, row["information"] - row["asymptote"]) for row in near]
    base = _over_n(alt, shown, "what it is above its asymptote [nats]", rows)
    line = base.mark_line(strokeWidth=2).encode(y=alt.Y("value:Q", title=None))
    return alt.layer(
        base.mark_rule(strokeWidth=2).encode(y="low:Q", y2="high:Q"),
        line,
        base.mark_point(size=34, filled=True, opacity=1).encode(y="value:Q"),
    )


def triangle(rows: Rows, method: str, n: int, true: Sequence[float]) -> Any:
    """Draws from a posterior among all distributions over three values."""
    import altair as alt

    corners = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    dots = [_place(row["p"]) for row in rows if "p" in row]
    side = [_place(p) | {"order": k} for k, p in enumerate([*corners, corners[0]])]
    names = [_place(p) | {"name": f"x = {k + 1}"} for k, p in enumerate(corners)]
    x = alt.X("x:Q", scale=alt.Scale(domain=[-0.12, 1.12]), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.1, 0.96]), axis=None)

    def layer(values: Rows) -> Any:
        title = alt.Title(f"{method}, n = {n:,}", anchor="start")
        return alt.Chart(alt.Data(values=values), title=title, width=230, height=208).encode(x=x, y=y)

    return alt.layer(
        layer(side).mark_line(color="#888", strokeWidth=1).encode(order="order:Q"),
        layer(dots).mark_circle(size=9, opacity=0.35, color=COLOURS[method]),
        layer([_place(true)]).mark_point(shape="cross", size=24, color="black", filled=True, opacity=1),
        layer(names).mark_text(dy=alt.expr("datum.y > 0.5 ? -8 : 11"), fontSize=11, color="#555").encode(text="name:N"),
    )


def region(rows: Rows, y: str, title: str, label: str, span: tuple[float, float], line: Rows) -> Any:
    """The feasible region: a cloud, families, the boundary's formula, and what was found on it."""
    import altair as alt

    low, high = span
    shown = [{k: row[k] for k in ("priv", y, "method")} for row in rows if _finite(row, y) and low <= row[y] <= high]
    base = _chart(alt, shown, title).encode(
        x=_priv(alt), y=alt.Y(f"{y}:Q", title=label, scale=alt.Scale(domain=span)), color=_colours(alt, rows, ALL)
    )
    curve = _chart(alt, [row for row in line if low <= row[y] <= high], title).mark_line(color=charts.GREEN, strokeWidth=1.5)
    cloud = base.transform_filter(alt.datum.method == RANDOM).mark_circle(size=20, opacity=0.7)
    families = base.transform_filter(alt.FieldOneOfPredicate("method", [m for m in COLOURS if m != RANDOM]))
    found = base.transform_filter(alt.FieldOneOfPredicate("method", list(FOUND.values())))
    return alt.layer(
        cloud,
        curve.encode(x=_priv(alt), y=f"{y}:Q", order="priv:Q"),
        families.mark_line(strokeWidth=2).encode(order="priv:Q"),
        found.mark_line(strokeWidth=1, strokeDash=[3, 3]).encode(order="priv:Q"),
        found.mark_point(size=44, filled=True, opacity=1),
    )


def _chart(alt: Any, rows: Rows, title: str) -> Any:
    return alt.Chart(alt.Data(values=list(rows)), title=alt.Title(title, anchor="start"), **SIZE)


def _priv(alt: Any) -> Any:
    return alt.X("priv:Q", title="Priv(Q)", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="~g"))


def _colours(alt: Any, rows: Rows, colours: Mapping[str, str]) -> Any:
    methods = [name for name in colours if any(row["method"] == name for row in rows)]
    legend = alt.Legend(
        title=None, orient="bottom", columns=4, labelLimit=0, symbolOpacity=1, symbolSize=90, symbolType="circle"
    )
    return alt.Color(
        "method:N", sort=methods, legend=legend, scale=alt.Scale(domain=methods, range=[colours[m] for m in methods])
    )


def _over_n(alt: Any, shown: Rows, title: str, rows: Rows) -> Any:
    x = alt.X("sample:Q", title="rows n", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s", tickCount=7))
    return _chart(alt, shown, title).encode(x=x, color=_colours(alt, rows, COLOURS))


def _bars(row: Mapping[str, Any], value: float) -> dict[str, Any]:
    kept = {name: row[name] for name in ("sample", "method", "asymptote")}
    return kept | {"value": value, "low": value - 2 * row["error"], "high": value + 2 * row["error"]}


def _place(p: Sequence[float]) -> dict[str, float]:
    """Where a distribution over three values is in the triangle."""
    return {"x": p[1] + p[2] / 2, "y": HEIGHT * p[2]}


def _finite(row: Mapping[str, Any], name: str) -> bool:
    return row.get(name) is not None and math.isfinite(row[name])
