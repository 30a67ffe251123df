"""How the figures look: a panel for each quantity, ε on x, a dot for each joint, means and standard deviations over them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

RED, ORANGE, BLUE, GREEN, PURPLE = "#c8364b", "#e39b2d", "#2c6e9b", "#3f9b6c", "#7d5ba6"
SIZE = {"width": 350, "height": 300}
DECADES = [10.0**k for k in range(-6, 7)]
Rows = Sequence[Mapping[str, Any]]


def panel(rows: Rows, y: str, title: str, colours: Mapping[str, str], log: bool = False, promise: bool = False) -> Any:
    """One quantity over ε for each method; with `promise`, a line where the quantity is ε itself."""
    import altair as alt

    methods = [method for method in colours if any(row["method"] == method for row in rows)]
    finite = [row for row in rows if row["method"] in methods and math.isfinite(row.get(y, math.nan))]
    shown = [{name: row[name] for name in ("epsilon", "method", y)} for row in finite]
    chart = alt.Chart(alt.Data(values=shown), title=alt.Title(title, anchor="start", offset=10), **SIZE)
    chart = chart.encode(x=alt.X("epsilon:O", title="ε [nats]", axis=alt.Axis(labelAngle=0)))
    legend = alt.Legend(title=None, orient="bottom", columns=2, labelLimit=0, symbolOpacity=1, symbolSize=90)
    palette = alt.Scale(domain=methods, range=[colours[method] for method in methods])
    base = chart.encode(
        xOffset=alt.XOffset("method:N", sort=methods),
        color=alt.Color("method:N", sort=methods, scale=palette, legend=legend),
    )
    axis = alt.Axis(values=DECADES, format="~g") if log else alt.Axis(format="~g")
    scale = alt.Scale(type="log", domain=_decades([row[y] for row in shown])) if log else alt.Scale(zero=False, padding=8)
    dots = base.mark_circle(size=38, opacity=0.4).encode(y=alt.Y(f"{y}:Q", title=None, scale=scale, axis=axis))
    means = base.mark_tick(thickness=3, width=14, orient="horizontal").encode(y=alt.Y(f"mean({y}):Q", title=None))
    bars = base.mark_errorbar(extent="stdev", thickness=1.5).encode(y=alt.Y(f"{y}:Q", title=None))
    promised = chart.mark_tick(thickness=1, width=66, orient="horizontal", color="#444")
    promised = promised.encode(y=alt.Y("mean(epsilon):Q", title=None))
    return alt.layer(dots, *([] if log else [bars]), means, *([promised] if promise else []))


def _decades(values: Sequence[float]) -> list[float]:
    """The powers of ten around the values."""
    return [10.0 ** math.floor(math.log10(min(values))), 10.0 ** math.ceil(math.log10(max(values)))]


def side_by_side(title: str, rows: Rows, *panels: Any) -> Any:
    """Panels in a row under one title, with one legend."""
    import altair as alt

    said = (
        f"dots: {len({row['joint'] for row in rows})} random joints; thick: their mean; bar: one standard deviation either way"
    )
    heading = alt.Title(title, subtitle=said, anchor="start", fontSize=17, subtitleFontSize=13, offset=16)
    chart = alt.hconcat(*panels, spacing=40, title=heading).resolve_scale(color="shared")
    chart = chart.properties(padding=16, background="white").configure_title(fontSize=14)
    chart = chart.configure_axis(labelFontSize=13, titleFontSize=13, gridOpacity=0.5)
    return chart.configure_legend(labelFontSize=13).configure_view(stroke="#ddd")
