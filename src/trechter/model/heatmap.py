"""A protocol as a table of shaded probabilities: plain HTML, no script, everything from the data escaped.

Where there are many outputs or inputs the heaviest are shown, and the others are added up: their outputs to one row, their
inputs to one column, which is their average weighted by how often they occur.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
MOST = 24  # more rows or columns than this are not readable
LONGEST = 36
FAINT = 5e-4


def protocol_html(outputs: Sequence[str], inputs: Sequence[str], matrix: Array, masses: Array | None = None) -> str:
    """100·P(output | input): one row an output, one column an input, which counts by its mass; the darker, the likelier."""
    weights = np.ones(len(inputs)) if masses is None else masses
    return heat_html(outputs, inputs, lambda table: np.asarray(table @ matrix.T), weights)


def heat_html(outputs: Sequence[str], inputs: Sequence[str], products: Callable[[Array], Array], weights: Array) -> str:
    """The same from the `products` of the protocol with a table, which need no matrix."""
    columns = _heaviest(weights, MOST)
    rows = _heaviest(products(weights[None])[0], MOST)
    shown = _added(products(_selection(weights, columns)), rows)
    across = _names(inputs, columns, "inputs")
    head = "".join(f'<th scope="col" style="{UPRIGHT}">{_text(name)}</th>' for name in across)
    lines = [_row(name, line) for name, line in zip(_names(outputs, rows, "outputs"), shown.T, strict=True)]
    top = f'<tr><th scope="col" style="text-align:left;vertical-align:bottom">output \\ input</th>{head}</tr>'
    return f'<table class="heat" style="{PLAIN}"><thead>{top}</thead><tbody>{"".join(lines)}</tbody></table>'


PLAIN = "border-collapse:collapse;font:12px sans-serif"
UPRIGHT = "writing-mode:vertical-rl;transform:rotate(180deg);font-weight:400;text-align:left;padding:4px 2px;max-height:15em"


def _row(name: str, line: Array) -> str:
    cells = "".join(map(_cell, line.tolist()))
    return f'<tr><th scope="row" style="text-align:left;font-weight:400;min-width:8em">{_text(name)}</th>{cells}</tr>'


def _cell(value: float) -> str:
    if value < FAINT:
        return "<td></td>" if value <= 0 else '<td style="text-align:right">·</td>'
    ink = "color:#fff;" if value > 0.45 else ""
    shade = f"background:rgb(23 107 135/{round(100 * value**0.7)}%)"
    return f'<td style="{shade};{ink}text-align:right;padding:2px 5px">{_percent(value)}</td>'


def _percent(value: float) -> str:
    return "100" if value > 1 - FAINT else f"{100 * value:.1f}"


def _text(name: str) -> str:
    return f"<bdi>{html.escape(name if len(name) <= LONGEST else name[: LONGEST - 1] + '…')}</bdi>"


def _heaviest(weights: Array, most: int) -> list[int]:
    """The places of the heaviest in their order; one fewer than `most` if the others need a place."""
    if len(weights) <= most:
        return list(range(len(weights)))
    return sorted(int(i) for i in np.argsort(-weights, kind="stable")[: most - 1])


def _names(names: Sequence[str], kept: list[int], what: str) -> list[str]:
    rest = len(names) - len(kept)
    return [names[i] for i in kept] + ([f"{rest:,} other {what}"] if rest else [])


def _added(table: Array, kept: list[int]) -> Array:
    """The kept columns, and the sum of the others as one more."""
    if len(kept) == table.shape[1]:
        return table
    others = np.setdiff1d(np.arange(table.shape[1]), kept)
    return np.column_stack([table[:, kept], table[:, others].sum(axis=1)])


def _selection(weights: Array, kept: list[int]) -> Array:
    """A row for each kept input, and one for the average of the others by weight; unweighted if none of them occurs."""
    chosen = np.zeros((len(kept) + (len(kept) < len(weights)), len(weights)))
    chosen[np.arange(len(kept)), kept] = 1
    if len(chosen) > len(kept):
        others = np.setdiff1d(np.arange(len(weights)), kept)
        given = weights[others] if weights[others].any() else np.ones(len(others))
        chosen[-1, others] = given / given.sum()
    return chosen
