"""Part 6 of poster 002: GRR and UE in the plane of Priv and Uti, with other protocols and a cloud of random ones."""

from __future__ import annotations

import math
from typing import Any

from experiments.poster import drawing
from experiments.poster.setting import BEST, FAMILIES, RANDOM, SILENT, nats, parameters

import trechter as tr
from trechter.workflow.reproduce import Row, Task

TITLE = "Poster, figure 2: what stays hidden of each person, what is learned of all"
BY, MEANS = ("sample", "method", "parameter"), ("priv", "uti", "c")
SIZES = (10, 1000)
A, CLOUD, DRAWS = 3, 60, 400
KEYS = {name: name for name in FAMILIES} | {BEST: "optimum", SILENT: "silent", RANDOM: "random"}
KINDS = {10: "Uti of 10 rows", 1000: "Uti of 1000 rows", 0: "c(Q) [nats]"}


def tasks(quick: bool) -> list[Task]:
    """A task for each protocol."""
    return [
        Task(f"{KEYS[name]}-{parameter}", {"method": name, "parameter": parameter})
        for name, parameter in parameters(quick, CLOUD)
    ]


def compute(method: str, parameter: float) -> list[Row]:
    """Priv, Uti for both numbers of rows, and c(Q) under sample = 0."""
    protocol = FAMILIES[method](A, parameter)
    named = {"method": method, "parameter": parameter, "priv": tr.priv(protocol).value}
    limit = nats(protocol).value
    found: list[Row] = [named | {"sample": 0} | ({"c": limit} if math.isfinite(limit) else {})]
    for n in SIZES:
        learned = tr.uti(protocol, n, draws=DRAWS)
        found.append(named | {"sample": n, "uti": learned.value, "error": learned.error})
    return found


def plot(rows: list[Row]) -> Any:
    """A panel for each number of rows, and one for the limit of many."""
    panels = [drawing.plane([row for row in rows if row["sample"] == n], "uti" if n else "c", KINDS[n]) for n in (*SIZES, 0)]
    said = f"a = {A}, uniform prior; to the right more is hidden, upwards more is learned; the LDP optimum (rings) is GRR here"
    return drawing.grid(TITLE, said, panels, columns=3)
