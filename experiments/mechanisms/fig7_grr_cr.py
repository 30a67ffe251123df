"""Figure 7 of 003: GRR against Conditional Reporting on Jeffreys joints, with the optima that they leave room to."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from experiments.mechanisms import setting
from experiments.mechanisms.setting import BOTH, CR, GRR, LIP, SHAPES, explicit, jeffreys_joint, values

import trechter as tr
from experiments import curves
from trechter.workflow.reproduce import Row, Task

TITLE = "Figure 7: GRR against Conditional Reporting, Jeffreys joints"
BY, MEANS = ("a", "c", "epsilon", "method"), ("share", "gap")
EPSILONS = ("1/2", "1", "3/2", "2", "3")
GAP, LIMIT = 1e-3, 60  # of the optimum that reads (s,x), in nats and seconds
SMALL, SOME, FEW = 15, 20, 2  # pairs (s,x) up to which it is found for every joint; beyond, how many joints have it


def tasks(quick: bool) -> list[Task]:
    """A task for each joint, and one for the optimum that reads (s,x), which takes seconds."""
    asked = [(a, c, seed) for seed in range(setting.QUICK if quick else setting.JOINTS) for a, c in SHAPES]
    cheap = [Task(f"a{a}-c{c}-{seed}", {"a": a, "c": c, "seed": seed}) for a, c, seed in asked]
    return cheap + [
        Task(f"a{a}-c{c}-{seed}-both", {"a": a, "c": c, "seed": seed, "both": True})
        for a, c, seed in asked
        if a * c <= SMALL or seed < (FEW if quick else SOME)
    ]


def compute(a: int, c: int, seed: int, both: bool = False) -> list[Row]:
    """What each protocol says of X at each level."""
    joint = jeffreys_joint(seed, a, c)
    methods = _both if both else _cheap
    return [
        {"a": a, "c": c, "joint": seed, "epsilon": float(Fraction(e))} | row for e in EPSILONS for row in methods(joint, e)
    ]


def plot(rows: list[Row]) -> Any:
    """A panel for each shape: means, and a standard deviation either way of GRR and Conditional Reporting."""
    panels, aside = [], {GRR: -0.03, CR: 0.03}  # so that no bar hides another
    for a, c in SHAPES:
        shown = [row for row in rows if (row["a"], row["c"]) == (a, c)]
        bars = [row | {"epsilon": row["epsilon"] + aside[row["method"]]} for row in shown if row["method"] in aside]
        panels.append(curves.panel(shown, "share", f"a = {a}, c = {c}", setting.COLOURS, bars=bars))
    joints = {
        method: {row["joint"] for row in rows if row["method"] == method and row["a"] * row["c"] > SMALL}
        for method in (GRR, BOTH)
    }
    said = (
        f"mean of I(X;Y) / H(X) over {len(joints[GRR])} joints ({len(joints[BOTH])} for the optimum that reads (s,x), "
        f"where a·c > {SMALL}); bars: one standard deviation"
    )
    return curves.grid(TITLE, said, panels, columns=3)


def _cheap(joint: tr.Joint, epsilon: str) -> list[Row]:
    return [*explicit(joint, epsilon), values(joint, LIP, tr.design(joint, tr.LIP(Fraction(epsilon))))]


def _both(joint: tr.Joint, epsilon: str) -> list[Row]:
    result = tr.design(joint, tr.LIP(Fraction(epsilon)), reads="sx", gap=GAP, time_limit=LIMIT)
    return [values(joint, BOTH, result)]
