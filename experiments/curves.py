"""How figures over many levels look: a curve for each method over ε, dots against dots, panels in a grid."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.charts import Rows

SIZE = {"width": 250, "height": 220}


def panel(
    rows: Rows,
    y: str,
    title: str,
    colours: Mapping[str, str],
    bars: Rows = (),
    label: str | None = None,
    most: float | None = 1,
) -> Any:
    """The mean of one quantity over ε, a curve for each method; `bars` are rows whose standard deviations are shown too."""
    import altair as alt

    methods = [method for method in colours if any(row["method"] == method for row in rows)]
    legend = alt.Legend(
        title=None, orient="bottom", columns=3, labelLimit=0, symbolType="stroke", symbolStrokeWidth=4, symbolOpacity=1
    )
    palette = alt.Scale(domain=methods, range=[colours[method] for method in methods])
    levels = sorted({row["epsilon"] for row in rows})
    base = alt.Chart(alt.Data(values=_finite(rows, y)), title=alt.Title(title, anchor="start"), **SIZE).encode(
        x=alt.X("epsilon:Q", title="ε [nats]", scale=alt.Scale(domain=[0, max(levels, default=1)])),
        color=alt.Color("method:N", sort=methods, scale=palette, legend=legend),
    )
    scale = alt.Scale(domain=[0, most]) if most else alt.Scale(zero=True)
    mean = alt.Y(f"mean({y}):Q", title=label, scale=scale, axis=alt.Axis(format="~g"))
    layers = [base.mark_line(strokeWidth=2).encode(y=mean), base.mark_point(size=22, filled=True, opacity=1).encode(y=mean)]
    if bars:
        sides = base.properties(data=alt.Data(values=_finite(bars, y)))
        layers.insert(
            0, sides.mark_errorbar(extent="stdev", thickness=1.5, opacity=0.6).encode(y=alt.Y(f"{y}:Q", title=label))
        )
    return alt.layer(*layers)


def scatter(rows: Rows, quantities: tuple[str, str], title: str, labels: tuple[str, str], colours: Mapping[str, str]) -> Any:
    """A dot for each row, coloured by its `method`, with lines where either quantity is 0."""
    import altair as alt

    x, y = quantities
    shown = [{"x": row[x], "y": row[y], "method": row["method"]} for row in rows if _known(row, x) and _known(row, y)]
    legend = alt.Legend(title=None, orient="bottom", labelLimit=0, symbolOpacity=1, symbolSize=90)
    palette = alt.Scale(domain=list(colours), range=list(colours.values()))
    dots = alt.Chart(alt.Data(values=shown), title=alt.Title(title, anchor="start"), **SIZE)
    dots = dots.mark_circle(size=45, opacity=0.65).encode(
        x=alt.X("x:Q", title=labels[0], axis=alt.Axis(format="~g")),
        y=alt.Y("y:Q", title=labels[1], axis=alt.Axis(format="~g")),
        color=alt.Color("method:N", scale=palette, legend=legend),
    )
    zero = alt.Chart(alt.Data(values=[{"zero": 0}]))
    lines = [zero.mark_rule(color="#888").encode(x=alt.X("zero:Q")), zero.mark_rule(color="#888").encode(y=alt.Y("zero:Q"))]
    return alt.layer(*lines, dots)


def grid(title: str, said: str, panels: Sequence[Any], columns: int) -> Any:
    """Panels in rows under one title, with one legend."""
    import altair as alt

    heading = alt.Title(title, subtitle=said, anchor="start", fontSize=17, subtitleFontSize=13, offset=16)
    spacing = {"row": 86, "column": 72}  # room for axes, which are not reckoned with so that panels are in line
    chart = alt.concat(*panels, columns=columns, spacing=spacing, bounds="flush", title=heading)
    chart = chart.resolve_scale(color="shared")
    chart = chart.properties(padding=16, background="white").configure_title(fontSize=13)
    chart = chart.configure_axis(labelFontSize=12, titleFontSize=12, gridOpacity=0.5)
    return chart.configure_legend(labelFontSize=13).configure_view(stroke="#ddd")


def _finite(rows: Rows, y: str) -> list[dict[str, Any]]:
    return [{name: row[name] for name in ("epsilon", "method", y)} for row in rows if _known(row, y)]


def _known(row: Mapping[str, Any], name: str) -> bool:
    return row.get(name) is not None and math.isfinite(row[name])
