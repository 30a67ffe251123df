"""Figure 4 of 000 and 003: the best ε-LDP protocol against the best ε/2-LIP protocol, which is ε-LDP too."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from experiments.funnel.setting import EPSILONS, JOINTS, QUICK, timed, uniform_joint

import trechter as tr
from experiments import charts
from trechter.workflow.reproduce import Row, Task

TITLE = "Figure 4: ε-LDP against ε/2-LIP, c = 2, a = 5"
BY, MEANS = ("epsilon", "method"), ("utility", "level", "seconds")
LDP, HALF = "ε-LDP, row cone", "ε/2-LIP, row cone"


def tasks(quick: bool) -> list[Task]:
    """A task for each joint; it is timed."""
    joints = range(QUICK if quick else JOINTS)
    return [Task(f"joint-{seed}", {"seed": seed, "epsilons": EPSILONS}, alone=True) for seed in joints]


def compute(seed: int, epsilons: tuple[str, ...]) -> list[Row]:
    """Utility, true LDP level and time of both methods on one joint."""
    joint = uniform_joint(seed, 2, 5)
    notions = [(e, notion) for e in epsilons for notion in ((LDP, tr.LDP(e)), (HALF, tr.LIP(Fraction(e) / 2)))]
    return [{"joint": seed, "epsilon": float(Fraction(e)), "method": name} | _row(joint, n) for e, (name, n) in notions]


def plot(rows: list[Row]) -> Any:
    """Time, information, and what of the promised level is used."""
    colours = {LDP: charts.ORANGE, HALF: charts.BLUE}
    time = charts.panel(rows, "seconds", "time for one protocol [s]", colours, log=True)
    utility = charts.panel(rows, "utility", "information I(X;Y) [nats]", colours)
    level = charts.panel(rows, "level", "true LDP level [nats]; line: ε", colours, promise=True)
    return charts.side_by_side(TITLE, rows, time, utility, level)


def _row(joint: tr.Joint, notion: Any) -> Row:
    result, seconds = timed(lambda: tr.design(joint, notion))
    level = tr.LDP("inf").level(result.protocol, joint)
    return {"utility": result.utility, "level": level, "seconds": seconds, "gap": result.gap}
