"""Figure 3 of 000 and 003: ε-LDP against ε-LIP, and ε-LDP found without the papers' polytope."""

from __future__ import annotations

import time
import warnings
from fractions import Fraction
from functools import partial
from typing import Any

from experiments.funnel import gamma
from experiments.funnel.setting import EPSILONS, JOINTS, QUICK, timed, uniform_joint

import trechter as tr
from experiments import charts
from trechter.workflow.reproduce import Row, Task

TITLE = "Figure 3: ε-LDP against ε-LIP, c = 2, a = 5"
BY, MEANS = ("epsilon", "method"), ("utility", "seconds", "vertices")
GAMMA, LDP, LIP = "ε-LDP, vertices of Γ (papers)", "ε-LDP, row cone", "ε-LIP, row cone"


def tasks(quick: bool) -> list[Task]:
    """A task for each joint, and one for each vertex enumeration, which takes a second to minutes; all of them are timed."""
    joints = range(QUICK if quick else JOINTS)
    found = [Task(f"cone-{seed}", {"seed": seed, "epsilons": EPSILONS}, alone=True) for seed in joints]
    if not gamma.available():
        warnings.warn(f"fig3: {GAMMA} is left out; `pip install pycddlib-standalone` to have it", stacklevel=2)
        return found
    levels = [epsilon for epsilon in EPSILONS if not quick or Fraction(epsilon) >= 1]
    enumerated = [(seed, epsilon) for epsilon in reversed(levels) for seed in joints[: 1 if quick else None]]
    return found + [
        Task(f"gamma-{seed}-{float(Fraction(epsilon))}", {"seed": seed, "epsilons": (epsilon,), "papers": True}, alone=True)
        for seed, epsilon in enumerated
    ]


def compute(seed: int, epsilons: tuple[str, ...], papers: bool = False) -> list[Row]:
    """Utility and time of each method on one joint."""
    joint = uniform_joint(seed, 2, 5)
    methods = [_gamma] if papers else [_ldp, _lip]
    return [{"joint": seed, "epsilon": float(Fraction(e))} | method(joint, e) for e in epsilons for method in methods]


def plot(rows: list[Row]) -> Any:
    """Time on the left, information on the right."""
    colours = {GAMMA: charts.RED, LDP: charts.ORANGE, LIP: charts.BLUE}
    time = charts.panel(rows, "seconds", "time for one protocol [s]", colours, log=True)
    utility = charts.panel(rows, "utility", "information I(X;Y) [nats]", colours)
    return charts.side_by_side(TITLE, rows, time, utility)


def _gamma(joint: tr.Joint, epsilon: str) -> Row:
    """Too long to be repeated, so its time is the processor's: never more than the clock's, whatever else runs."""
    call = partial(gamma.gamma_optimum, joint, float(Fraction(epsilon)))
    (utility, vertices), seconds = timed(call, times=1, clock=time.process_time)
    return {"method": GAMMA, "utility": utility, "seconds": seconds, "vertices": vertices}


def _ldp(joint: tr.Joint, epsilon: str) -> Row:
    result, seconds = timed(lambda: tr.design(joint, tr.LDP(epsilon)))
    return {"method": LDP, "utility": result.utility, "seconds": seconds, "gap": result.gap}


def _lip(joint: tr.Joint, epsilon: str) -> Row:
    result, seconds = timed(lambda: tr.design(joint, tr.LIP(epsilon)))
    return {"method": LIP, "utility": result.utility, "seconds": seconds, "gap": result.gap}
