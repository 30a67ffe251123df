"""Part 5 of poster 002: I(Yⁿ;P) for growing n against ½ log n + c(Q) digits of P."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.poster import drawing
from experiments.poster.setting import FAMILIES, GRR, OUE, SILENT, X, nats

import trechter as tr
from trechter.measures.dirichlet import Dirichlet
from trechter.measures.raw_information import raw_information
from trechter.workflow.reproduce import Row, Task

TITLE = "Poster, figure 3: I(Yⁿ;P) and its asymptote"
BY, MEANS = ("method", "sample"), ("information", "asymptote")
A, DRAWS = 3, 1000
PROTOCOLS = {X: 0, SILENT: 1 - 0.76443, GRR: 1.5, OUE: 1.5}
SIZES = tuple(round(10 ** (k / 2)) for k in range(13))
SHORT = (10, 1000)


def tasks(quick: bool) -> list[Task]:
    """A task for each protocol and number of rows."""
    sizes = SHORT if quick else SIZES
    return [Task(f"{'-'.join(method.split())}-{n}", {"method": method, "sample": n}) for method in PROTOCOLS for n in sizes]


def compute(method: str, sample: int) -> list[Row]:
    """What so many rows say of P, with its standard error, and what that tends to."""
    protocol = FAMILIES[method](A, PROTOCOLS[method])
    known, error = raw_information(Dirichlet(np.ones(A)), sample), 0.0
    if method != X:
        found = tr.uti(protocol, sample, draws=DRAWS)
        known, error = found.information, found.information_error
    asymptote = nats(protocol).information(sample)
    return [{"method": method, "sample": sample, "information": known, "error": error, "asymptote": asymptote}]


def plot(rows: list[Row]) -> Any:
    """Both, and their difference."""
    said = f"a = {A}, uniform prior; GRR, OUE: LDP level 1.5; truth or nothing: Priv as GRR; bars: two standard errors"
    panels = [drawing.growth(rows), drawing.excess(rows)]
    return drawing.grid(TITLE, said, panels, columns=2)
