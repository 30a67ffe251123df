"""What an output means: the posterior of x given the output, read off the protocol and the prevalence of x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from trechter.model.joint import Joint
from trechter.model.letters import letters, values_of
from trechter.model.outputs import Input, Mixture, Output, show

SURE = 1 - 1e-6  # a posterior above this is called a value
SHOWN = 1e-6  # a posterior below this is left out of a mixture
NAMED = 4  # a label names at most this many values


def explain(matrix: NDArray[np.float64], joint: Joint, reads: str) -> tuple[tuple[Output, ...], tuple[str, ...]]:
    """The meaning of every row, and the released columns: one per attribute if every output is a value, else Y."""
    names = tuple(a.name for a in joint.release)
    values = values_of(joint.release)
    outputs = [_meaning(row, values) for row in posteriors(matrix, joint, reads)]
    if all(not isinstance(o, Mixture) for o in outputs) and len(set(map(show, outputs))) == len(outputs):
        return tuple(outputs), names
    return tuple(_distinct(outputs)), ("Y",)


def posteriors(matrix: NDArray[np.float64], joint: Joint, reads: str) -> NDArray[np.float64]:
    """P(x | y), one row an output; for letters that never occur every value is taken to be equally likely."""
    seen = letters(joint, reads)
    table = np.zeros((len(matrix), len(joint.p_x)))
    np.add.at(table.T, seen.x_of, (matrix * seen.masses).T)
    sums = table.sum(axis=1, keepdims=True)
    return np.where(sums > 0, table / np.where(sums > 0, sums, 1), 1 / table.shape[1])


def _meaning(odds: NDArray[np.float64], values: Sequence[Any]) -> Output:
    order = [int(x) for x in np.argsort(-odds, kind="stable") if odds[x] >= SHOWN]
    if odds[order[0]] > SURE:
        return values[order[0]]  # type: ignore[no-any-return]
    shares = [round(float(odds[x]), 4) for x in order]
    parts = [f"{show(values[x])} {_percent(odds[x])}" for x in order[:NAMED]]
    text = " | ".join(parts) + (" | …" if len(order) > NAMED else "")
    return Mixture(tuple(values[x] for x in order), tuple(shares), text)


def _percent(share: float) -> str:
    """Whole percents, and two digits of what is below one percent or above ninety-nine."""
    if 0.01 <= share <= 0.99:
        return f"{100 * share:.0f}%"
    small = f"{100 * min(share, 1 - share):.2g}"
    return f"{small}%" if share < 0.5 else f"{100 - float(small):.{len(small.partition('.')[2])}f}%"


def _distinct(outputs: Sequence[Output]) -> list[Output]:
    """The same with numbered labels where two would read the same; only mixtures can be numbered."""
    seen: dict[str, int] = {}
    result: list[Output] = []
    for output in outputs:
        text = show(output)
        seen[text] = seen.get(text, 0) + 1
        result.append(output if seen[text] == 1 else _numbered(output, f"{text} #{seen[text]}"))
    return result


def _numbered(output: Output, text: str) -> Mixture:
    if isinstance(output, Mixture):
        return replace(output, label=text)
    return Mixture((cast(Input, output),), (1.0,), text)
