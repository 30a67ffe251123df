"""A protocol as a table of shaded probabilities: plain HTML, no script, everything from the data escaped."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST = 40  # more rows or columns than this are not readable


def protocol_html(outputs: Sequence[str], inputs: Sequence[str], matrix: NDArray[np.float64]) -> str:
    """P(output | input): one row an output, one column an input; the darker, the likelier."""
    ink = "border-collapse:collapse;font:12px sans-serif"
    head = "".join(f'<th scope="col">{html.escape(i)}</th>' for i in inputs[:MOST])
    rows = [_row(output, line[:MOST]) for output, line in zip(outputs[:MOST], matrix, strict=False)]
    hidden = [f"{len(v) - MOST} more {what}" for v, what in ((outputs, "outputs"), (inputs, "inputs")) if len(v) > MOST]
    note = f"<p>Not shown: {' and '.join(hidden)}.</p>" if hidden else ""
    return f'<table class="heat" style="{ink}"><tr><th>output \\ input</th>{head}</tr>{"".join(rows)}</table>{note}'


def _row(output: str, line: NDArray[np.float64]) -> str:
    cells = "".join(_cell(float(value)) for value in line)
    return f'<tr><th scope="row" style="text-align:left">{html.escape(output)}</th>{cells}</tr>'


def _cell(value: float) -> str:
    shade = round(100 * value**0.5)
    ink = "#fff" if shade > 60 else "#222"
    text = "" if value < 5e-4 else f"{value:.3f}"
    style = f"background:rgb(20 83 136/{shade}%);color:{ink};padding:2px 6px;text-align:right"
    return f'<td style="{style}" title="{value:.6g}">{text}</td>'
