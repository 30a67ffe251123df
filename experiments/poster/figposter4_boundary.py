"""The question that poster 002 leaves open: where the boundary of what is feasible is, and which protocols lie on it."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from experiments.poster import boundary, drawing
from experiments.poster.setting import FAMILIES, GRR, OUE, RANDOM, SUE, nats, of_matrix

import trechter as tr
from trechter.measures.dirichlet import Dirichlet
from trechter.workflow.reproduce import Row, Task

TITLE = "Poster, figure 4: the boundary of the feasible region"
BY, MEANS = ("a", "method", "parameter"), ("priv", "c", "gap", "outputs")
SIZES = (2, 3)
HIDDEN = (0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.86, 0.92, 0.96)
LEVELS = (0.3, 0.6, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0)
CLOUD = 200


def tasks(quick: bool) -> list[Task]:
    """The boundary of all protocols, and of those that are ε-LDP towards X; families and a cloud."""
    wanted = ((2, None),) if quick else [(a, epsilon) for a in SIZES for epsilon in (None, 1.0, 2.0)]
    families, cloud = ((GRR,), range(0, 20, 20)) if quick else ((GRR, OUE, SUE), range(0, CLOUD, 20))
    found = [Task(f"boundary-{a}-{epsilon}", {"a": a, "epsilon": epsilon}) for a, epsilon in wanted]
    members = [(name, f"{name}-{a}", a, LEVELS) for a in SIZES for name in families]
    members += [(RANDOM, f"cloud-{a}-{seed}", a, tuple(range(seed, seed + 20))) for a in SIZES for seed in cloud]
    return found + [Task(key, {"a": a, "method": name, "members": list(some)}) for name, key, a, some in members]


def compute(a: int, epsilon: float | None = None, method: str = "", members: list[float] | None = None) -> list[Row]:
    """Priv and c(Q) of protocols; of those on the boundary by the exact formulas, not by the rule that found them."""
    if members is None:
        return _boundary(a, math.inf if epsilon is None else epsilon)
    made = [(member, FAMILIES[method](a, member)) for member in members]
    return [_row(a, method, member, protocol) for member, protocol in made]


def plot(rows: list[Row]) -> Any:
    """The region for each a, and how far below the boundary everything is."""
    known = [
        row | {"lost": best(row["a"], row["priv"]) - row["c"]} for row in rows if row.get("c") is not None and row["priv"] < 1
    ]
    panels = []
    for y, label, span in (("c", "c(Q) [nats]", (-3.0, 0.0)), ("lost", "c(Q) below the boundary [nats]", (-0.02, 0.4))):
        for a in SIZES:
            line = [{"priv": h, "c": best(a, h), "lost": 0.0} for h in np.arange(0, 0.996, 0.005).tolist()]
            panels.append(drawing.region([row for row in known if row["a"] == a], y, f"a = {a}", label, span, line))
    said = (
        "uniform prior; green line: truth or nothing, c(X) + ½ ln(1 − Priv); dots: best found, at most 1e-8 below their bounds"
    )
    return drawing.grid(TITLE, said, panels, columns=2)


def best(a: int, hidden: float) -> float:
    """c(Q) of x with probability 1 − Priv and nothing otherwise."""
    return _whole(a) + math.log1p(-hidden) / 2


@cache
def _whole(a: int) -> float:
    """c of X itself."""
    return nats(of_matrix(np.eye(a))).value


def _boundary(a: int, epsilon: float) -> list[Row]:
    entropy = Dirichlet(np.ones(a)).entropy
    wanted = HIDDEN if math.isinf(epsilon) else HIDDEN[6:]  # no ε-LDP protocol of these ε is at the others
    prices = [(a - 1) / (entropy * (1 - hidden)) for hidden in wanted]
    found = boundary.frontier(a, prices, epsilon)
    return [
        _row(a, drawing.FOUND[epsilon], hidden, of_matrix(optimum.matrix()))
        | {"gap": optimum.gap / (2 * (a - 1)), "outputs": len(optimum.matrix())}
        for hidden, optimum in zip(wanted, found, strict=True)
    ]


def _row(a: int, method: str, parameter: float, protocol: tr.Protocol) -> Row:
    found = nats(protocol)
    known = {"c": found.value, "error": found.error} if math.isfinite(found.value) else {}
    return {"a": a, "method": method, "parameter": parameter, "priv": tr.priv(protocol).value, **known}
