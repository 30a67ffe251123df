"""Figure 5 of 000 and 003: ε-LIP against ε-SRLIP; the papers' product beside the joint optimum that they leave open."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from experiments.funnel.setting import EPSILONS, JOINTS, QUICK, timed, uniform_joint

import trechter as tr
from experiments import charts
from trechter.workflow.reproduce import Row, Task

TITLE = "Figure 5: ε-LIP against ε-SRLIP, c = 2, a = 3 × 3 × 4"
BY, MEANS = ("epsilon", "method"), ("utility", "level", "seconds", "gap")
LIP, JOINT = "ε-LIP, optimum", "ε-SRLIP, joint optimum"
PRODUCT, TUNED = "papers' product, ε/3 for each attribute", "papers' product, budgets tuned to level ε"
LIMIT = 60  # seconds for one joint optimum; its gap is reported
WIDEST, HALVINGS = 16.0, 14  # of the budget, in multiples of ε


def tasks(quick: bool) -> list[Task]:
    """A task for each joint, and one for each joint optimum; all of them are timed."""
    joints = range(QUICK if quick else JOINTS)
    levels = [epsilon for epsilon in EPSILONS if not quick or Fraction(epsilon) >= 1]
    fast = [Task(f"product-{seed}", {"seed": seed, "epsilons": EPSILONS}, alone=True) for seed in joints]
    return fast + [
        Task(f"srlip-{seed}-{float(Fraction(epsilon))}", {"seed": seed, "epsilons": (epsilon,), "optimum": True}, alone=True)
        for epsilon in reversed(levels)
        for seed in joints
    ]


def compute(seed: int, epsilons: tuple[str, ...], optimum: bool = False) -> list[Row]:
    """Utility, true SRLIP level and time of each method on one joint."""
    joint = uniform_joint(seed, 2, 3, 3, 4)
    methods = [_joint] if optimum else [_lip, _product, _tuned]
    return [{"joint": seed, "epsilon": float(Fraction(e))} | method(joint, e) for e in epsilons for method in methods]


def plot(rows: list[Row]) -> Any:
    """Time, information, and the level that is reached."""
    colours = {LIP: charts.BLUE, JOINT: charts.GREEN, TUNED: charts.PURPLE, PRODUCT: charts.RED}
    time = charts.panel(rows, "seconds", "time for one protocol [s]", colours, log=True)
    utility = charts.panel(rows, "utility", "information I(X;Y) [nats]", colours)
    level = charts.panel(rows, "level", "true SRLIP level [nats]; line: ε", colours, promise=True)
    return charts.side_by_side(TITLE, rows, time, utility, level)


def even_product(joint: tr.Joint, epsilon: Any) -> tr.Result:
    """The product that the papers compute: ε/m for each of m attributes."""
    m = len(joint.release)
    return tr.papers_product(joint, tr.SRLIP(epsilon), epsilons=[Fraction(epsilon) / m] * m)


def tuned_product(joint: tr.Joint, epsilon: str) -> tr.Result | None:
    """The papers' product with the budget, even among attributes, that brings its measured level up to ε but not above.

    Their theorem is no guide to it: the level of a product with budget ε can be above ε as well as far below.
    """
    low, high, best = 0.0, WIDEST, None
    for _ in range(HALVINGS):
        factor = 1.0 if high == WIDEST and best is None else (low + high) / 2  # the papers' own budget first
        found = even_product(joint, Fraction(epsilon) * Fraction(factor))
        if found.certificate.level <= Fraction(epsilon):
            low, best = factor, found
        else:
            high = factor
    return best


def _lip(joint: tr.Joint, epsilon: str) -> Row:
    result, seconds = timed(lambda: tr.design(joint, tr.LIP(epsilon)))
    return {"method": LIP, "seconds": seconds} | _values(joint, result.protocol) | {"gap": result.gap}


def _joint(joint: tr.Joint, epsilon: str) -> Row:
    result, seconds = timed(lambda: tr.design(joint, tr.SRLIP(epsilon), time_limit=LIMIT), times=1)
    return {"method": JOINT, "seconds": seconds} | _values(joint, result.protocol) | {"gap": result.gap}


def _product(joint: tr.Joint, epsilon: str) -> Row:
    found, seconds = timed(lambda: even_product(joint, epsilon))
    return {"method": PRODUCT, "seconds": seconds} | _values(joint, found.protocol)


def _tuned(joint: tr.Joint, epsilon: str) -> Row:
    found, seconds = timed(lambda: tuned_product(joint, epsilon), times=1)
    return {"method": TUNED, "seconds": seconds} | (_values(joint, found.protocol) if found else {})


def _values(joint: tr.Joint, protocol: tr.Protocol) -> Row:
    return {"utility": tr.mutual_information(joint, protocol), "level": tr.SRLIP("inf").level(protocol, joint)}
