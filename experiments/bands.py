"""How figures over many instances look: dots, and over the number of rows a mean in a band of a standard deviation."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping
from typing import Any

from experiments.charts import Rows

SIZE = {"width": 360, "height": 270}
GREY = "#444"


def dots(
    rows: Rows,
    quantities: tuple[str, str],
    title: str,
    labels: tuple[str, str],
    colours: Mapping[str, str],
    promised: float,
    rings: Collection[str] = (),
) -> Any:
    """A dot for each row, coloured by its `method`, with a line at what was promised of the first quantity.

    Rows of methods among `rings` are rings: they often lie on another dot.
    """
    import altair as alt

    x, y = quantities
    shown = [
        {"x": row[x], "y": row[y], "method": row["method"], "ring": row["method"] in rings}
        for row in rows
        if math.isfinite(row.get(x, math.inf))
    ]
    chart = alt.Chart(alt.Data(values=shown), title=alt.Title(title, anchor="start"), **SIZE).encode(
        x=alt.X("x:Q", title=labels[0], axis=alt.Axis(format="~g", tickCount=6, labelFlush=False), scale=alt.Scale(zero=True)),
        y=alt.Y("y:Q", title=labels[1], axis=alt.Axis(format="~g", labelFlush=True), scale=alt.Scale(zero=True)),
        color=_colour(colours),
    )
    filled = chart.transform_filter("!datum.ring").mark_circle(size=36, opacity=0.75)
    ringed = chart.transform_filter("datum.ring").mark_point(size=80, strokeWidth=1.6, opacity=0.85)
    return alt.layer(_line(promised, "x"), filled, ringed)


def over(
    rows: Rows,
    quantities: tuple[str, str],
    title: str,
    labels: tuple[str, str],
    colours: Mapping[str, str],
    promised: float | None = None,
    dashed: Collection[str] = (),
) -> Any:
    """The mean of the second quantity over the first for each method, in a band of one standard deviation either way.

    Lines of methods among `dashed` are dashed: they often lie on another line.
    """
    import altair as alt

    shown = [spread | {"dashed": spread["method"] in dashed} for spread in _spreads(rows, *quantities)]
    base = alt.Chart(alt.Data(values=shown), title=alt.Title(title, anchor="start"), **SIZE).encode(
        x=alt.X("x:Q", title=labels[0], scale=alt.Scale(type="log", nice=False), axis=_rows_axis(shown)),
        color=_colour(colours),
    )
    axis = alt.Axis(format="~g", labelFlush=True)
    mean, low = (alt.Y(f"{end}:Q", title=labels[1], axis=axis) for end in ("mean", "low"))
    band = base.mark_area(opacity=0.14).encode(y=low, y2="high:Q")
    whole = base.transform_filter("!datum.dashed").mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=34)).encode(y=mean)
    broken = base.transform_filter("datum.dashed").mark_line(strokeWidth=2.5, strokeDash=[6, 5]).encode(y=mean)
    return alt.layer(*([] if promised is None else [_line(promised, "y")]), band, whole, broken)


def _rows_axis(shown: Rows) -> Any:
    import altair as alt

    return alt.Axis(format=",", values=sorted({row["x"] for row in shown}), grid=False)


def _spreads(rows: Rows, x: str, y: str) -> list[dict[str, Any]]:
    groups: dict[tuple[Any, str], list[float]] = {}
    for row in rows:
        if row.get(y) is not None:
            groups.setdefault((row[x], row["method"]), []).append(row[y])
    found = []
    for (at, method), values in groups.items():
        mean, sd = statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0
        found.append({"x": at, "method": method, "mean": mean, "low": mean - sd, "high": mean + sd})
    return found


def _colour(colours: Mapping[str, str]) -> Any:
    import altair as alt

    legend = alt.Legend(title=None, orient="bottom", labelLimit=0, symbolType="circle", symbolOpacity=1, symbolSize=90)
    return alt.Color("method:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=legend)


def _line(at: float, axis: str) -> Any:
    import altair as alt

    rule = alt.Chart(alt.Data(values=[{"at": at}])).mark_rule(color=GREY, strokeDash=[2, 3])
    return rule.encode(x="at:Q") if axis == "x" else rule.encode(y="at:Q")
