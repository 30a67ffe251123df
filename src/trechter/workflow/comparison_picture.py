"""A comparison as a picture: utility against ε, one line for each protocol; bars, if there is one level.

Lines are named at their right end. Colours can be told apart whatever colours one sees; dashes mean that the secret is read.
"""

from __future__ import annotations

import math
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trechter.errors import OutputError, RequestError
from trechter.measures import MutualInformation
from trechter.model.files import write_atomically
from trechter.report.html import Html, document, element
from trechter.report.numbers import number
from trechter.report.text import clip, listing, visible
from trechter.workflow import comparison_table as table
from trechter.workflow.comparison_row import LONGEST, OPTIMUM, Row

if TYPE_CHECKING:
    from trechter.workflow.comparison import Comparison

Point = dict[str, Any]
KINDS = (".png", ".svg", ".html")
EXTRA = "pip install 'trechter[figures]'"
BEST = "#222222"
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D1F", "#7A7A7A"]  # Okabe and Ito's, and two
WIDTH, HEIGHT, LINE, EDGE = 460, 380, 17, 14  # pixels; the last two: of a name, and left and right of the lines
SEEN = 0.005  # of the height: what may be better by less is not to be seen
DECADE = 10.0  # levels further apart than this are drawn on a logarithmic axis
STYLE = "body{margin:2rem auto;max-width:60rem;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:#1b2430}"
STYLE += "table{border-collapse:collapse;font-variant-numeric:tabular-nums}td,th{padding:.25rem .6rem;text-align:right;"
STYLE += (
    "border-bottom:1px solid #dce1e7;white-space:nowrap}th:first-child{text-align:left}.note{color:#5a6572;font-size:.875rem}"
)
STYLE += ".wide{overflow-x:auto}svg{max-width:100%;height:auto}"


def chart(comparison: Comparison) -> Any:
    """The picture, as a chart of Altair."""
    alt = library()
    rows = [row for row in comparison.rows if comparison.competes(row)]
    if not rows:
        raise RequestError("there is nothing to draw: no protocol but a constant keeps the promise")
    points = [_point(comparison, row) for row in rows]
    layers = _bars(alt, comparison, points) if len(comparison.notions) == 1 else _lines(alt, comparison, points)
    title = _title(alt, comparison, points)
    styled = alt.layer(*layers).properties(title=title, padding=16, background="white")
    styled = styled.configure_axis(
        labelFontSize=13, titleFontSize=14, gridColor="#e8e8e8", domainColor="#999", tickColor="#999"
    )
    return styled.configure_view(stroke=None)


def check_place(path: str | Path) -> None:
    """Refuse, before anything is computed, what could not be drawn or written in the end."""
    target = Path(path)
    if target.suffix.lower() not in KINDS:
        raise RequestError(f"{path}: a picture ends in {', '.join(KINDS)}")
    if not target.parent.is_dir():
        raise OutputError(f"cannot write {path}: there is no folder {target.parent}; make it, or choose another place")
    library()


def library() -> Any:
    """Altair, if it is installed with what it needs to write pictures."""
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise RequestError(f"to draw the picture, {EXTRA} and run this again ({error})") from None
    return altair


def save(comparison: Comparison, path: str | Path) -> None:
    """Write the picture, whole or not at all."""
    check_place(path)
    kind, drawn = Path(path).suffix.lower(), chart(comparison)
    if kind == ".png":
        png = BytesIO()
        drawn.save(png, format="png", scale_factor=2)
        return write_atomically(path, png.getvalue())
    svg = StringIO()
    drawn.save(svg, format="svg")
    write_atomically(path, svg.getvalue() if kind == ".svg" else _page(comparison, svg.getvalue()))


def _page(comparison: Comparison, svg: str) -> str:
    """The picture and the table in one file."""
    title = "Comparison of protocols"
    return document(title, STYLE, element("h1", title), Html(svg), table.markup(comparison))


def _point(comparison: Comparison, row: Row) -> Point:
    """Where it is drawn, and where what may be better would be."""
    part, epsilon = row.share(comparison.whole), row.notion.epsilon
    value = (row.utility or 0.0) if part is None else part
    better = (row.gap or 0.0) / (comparison.whole or 1.0) * (-1 if comparison.measure.less_is_better else 1)
    level = math.inf if epsilon is None else float(epsilon)
    place = {"epsilon": level, "value": value, "better": value + better}
    return {"name": _name(row), "best": row.name == OPTIMUM, "reads": row.reads} | place


def _name(row: Row) -> str:
    return clip(visible(row.label), LONGEST)


def _colours(comparison: Comparison) -> tuple[list[str], list[str]]:
    """Names, and a colour for each: the same whatever else is in the picture, as long as the mechanisms are the same."""
    names = sorted({_name(row) for row in comparison.rows if row.name != OPTIMUM})
    best = sorted({row.label for row in comparison.rows if row.name == OPTIMUM})
    return [*best, *names], [BEST] * len(best) + [COLOURS[i % len(COLOURS)] for i in range(len(names))]


def _lines(alt: Any, comparison: Comparison, points: list[Point]) -> list[Any]:
    drawn = [point for point in points if math.isfinite(point["epsilon"])]
    levels = sorted({point["epsilon"] for point in drawn})
    wide = bool(levels) and levels[0] > 0 and levels[-1] > DECADE * levels[0]
    scale = alt.Scale(type="log" if wide else "linear", zero=False, nice=False, padding=EDGE)
    name = comparison.notions[0].name.upper()
    axis = alt.Axis(values=levels, labelOverlap="greedy", labelFlush=False, grid=False, format="~g")
    base = alt.Chart(alt.Data(values=drawn), width=WIDTH, height=HEIGHT).encode(
        x=alt.X("epsilon:Q", title=f"ε ({name})", scale=scale, axis=axis),
        y=_height(alt, comparison, points),
        color=_palette(alt, comparison),
        strokeDash=alt.StrokeDash("reads:N", scale=alt.Scale(domain=["x", "sx"], range=[[1, 0], [6, 4]]), legend=None),
    )
    unknown = base.transform_filter("datum.best").mark_area(opacity=0.15, line=False).encode(y2="better:Q")
    line = base.mark_line(strokeWidth=2.5)
    return [unknown, line, base.mark_point(filled=True, size=45, opacity=1), *_names(alt, comparison, drawn)]


def _names(alt: Any, comparison: Comparison, drawn: list[Point]) -> list[Any]:
    """The name of each line at its right end, moved apart where they would touch, and a thread to it."""
    last = {point["name"]: point for point in sorted(drawn, key=lambda point: point["epsilon"])}
    ends = sorted(last.values(), key=lambda point: point["value"])
    places = apart([point["value"] for point in ends], LINE / HEIGHT * _top(comparison, drawn), _top(comparison, drawn))
    found = [point | {"place": place} for point, place in zip(ends, places, strict=True)]
    base = alt.Chart(alt.Data(values=found)).encode(color=_palette(alt, comparison))
    thread = base.mark_rule(strokeWidth=1).encode(
        x=alt.value(WIDTH - EDGE / 2), x2=alt.value(WIDTH + 18), y="value:Q", y2="place:Q"
    )
    said = base.mark_text(align="left", fontSize=13, limit=260).encode(x=alt.value(WIDTH + 22), y="place:Q", text="name:N")
    return [thread, said]


def apart(values: list[float], least: float, top: float) -> list[float]:
    """Places near ascending values, each at least so far from the last, none above the top."""
    places = list(values)
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + least)
    for i in reversed(range(len(places))):
        places[i] = min(places[i], top if i + 1 == len(places) else places[i + 1] - least)
    return places


def _bars(alt: Any, comparison: Comparison, points: list[Point]) -> list[Any]:
    shown = [point | {"said": _value(comparison, point["value"])} for point in points]
    order = [point["name"] for point in points]
    base = alt.Chart(alt.Data(values=shown), width=WIDTH, height=30 * len(order)).encode(
        y=alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, ticks=False, domain=False)),
    )
    x = _height(alt, comparison, points, alt.X)
    bars = base.mark_bar(height=18).encode(x=x, color=_palette(alt, comparison), opacity=_shade(alt))
    said = base.mark_text(align="left", dx=5, fontSize=13).encode(x="value:Q", text="said:N")
    return [bars, said]


def _shade(alt: Any) -> Any:
    return alt.Opacity("reads:N", scale=alt.Scale(domain=["x", "sx"], range=[1.0, 0.55]), legend=None)


def _height(alt: Any, comparison: Comparison, points: list[Point], axis: Any = None) -> Any:
    """The axis of utility: the share that is kept, or the measure itself."""
    share = comparison.whole is not None
    unit = f" [{comparison.measure.unit}]" if comparison.measure.unit else ""
    title = _share_of(comparison) if share else f"{comparison.measure.symbol}{unit}"
    scale = alt.Scale(domain=[0, _top(comparison, points)], nice=False)
    return (axis or alt.Y)("value:Q", title=title, scale=scale, axis=alt.Axis(format=".0%" if share else "~g", tickCount=5))


def _top(comparison: Comparison, points: list[Point]) -> float:
    return 1.0 if comparison.whole is not None else 1.02 * max(1e-9, *(point["value"] for point in points))


def _share_of(comparison: Comparison) -> str:
    symbol, unit = comparison.measure.symbol, comparison.measure.unit
    what = "H(X)" if symbol == MutualInformation.symbol else f"what x itself has of {symbol}"
    return f"share kept of {what} = {number(comparison.whole or 0.0, 3)} {unit}".strip()


def _value(comparison: Comparison, value: float) -> str:
    return f"{value:.1%}" if comparison.whole is not None else number(value)


def _palette(alt: Any, comparison: Comparison) -> Any:
    names, colours = _colours(comparison)
    return alt.Color("name:N", scale=alt.Scale(domain=names, range=colours), legend=None)


def _title(alt: Any, comparison: Comparison, points: list[Point]) -> Any:
    joint, notions = comparison.joint, comparison.notions
    secret, release = (listing([clip(visible(a.name), LONGEST) for a in role]) for role in (joint.secret, joint.release))
    one = len(notions) == 1
    said = [f"{notions[0] if one else notions[0].name.upper()}, certified", f"secret: {secret}"]
    if any(point["reads"] == "sx" for point in points):
        said.append(f"{'pale' if one else 'dashed'}: reads the secret")
    unknown = (abs(point["better"] - point["value"]) for point in points if point["best"])
    if not one and max(unknown, default=0.0) > SEEN * _top(comparison, points):
        said.append("grey: a better one may exist")
    look = {"anchor": "start", "fontSize": 17, "subtitleFontSize": 13, "offset": 16}
    does = "loses" if comparison.measure.less_is_better else "keeps"
    return alt.Title(f"What a release of {release} {does}", subtitle="; ".join(said), **look)
