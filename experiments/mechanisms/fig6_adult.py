"""Figure 6 of 003: explicit protocols on Adult at equal certified LIP level, beside the optima; no panel is missing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from experiments.adult import find_adult  # noqa: F401 - part of a script that needs Adult
from experiments.mechanisms.setting import BOTH, COLOURS, LDP, LIP, OUE, PAIRS, Counts, explicit, pair_counts, values

import trechter as tr
from experiments import curves
from trechter.mechanisms.record import promised
from trechter.workflow.compare import seeing_s
from trechter.workflow.reproduce import Row, Task

TITLE = "Figure 6: explicit protocols and optima on Adult"
BY, MEANS = ("secret", "release", "epsilon", "method"), ("share", "utility", "level", "gap")
EPSILONS = ("1/4", "1/2", "1", "3/2", "2", "3", "4")
SHORT = ("1/2", "1", "2")
GAP, LIMIT = 1e-5, 300  # of an optimum, in nats and seconds
SLOW = ("relationship", "education")  # columns whose optimum that reads (s,x) takes long


def tasks(quick: bool, adult: str) -> list[Task]:
    """For each level and pair of columns: explicit protocols, OUE, the optima that read x, that which reads (s,x)."""
    counts = pair_counts(adult)
    return [
        Task(
            f"{secret}-{release}-{float(Fraction(epsilon))}-{kind}",
            {"secret": secret, "release": release, "counts": counts[secret, release], "epsilon": epsilon, "kind": kind},
        )
        for epsilon in reversed(SHORT if quick else EPSILONS)
        for secret, release in PAIRS
        for kind in KINDS
        if not (quick and kind == "both" and release in SLOW)
    ]


def compute(secret: str, release: str, counts: Counts, epsilon: str, kind: str) -> list[Row]:
    """What the protocols of a kind say of X at a level."""
    joint = tr.Joint(np.array(counts))
    named = {"secret": secret, "release": release, "epsilon": float(Fraction(epsilon))}
    return [named | row for row in KINDS[kind](joint, epsilon)]


def plot(rows: list[Row]) -> Any:
    """A panel for each pair of columns."""
    panels = []
    for secret, release in PAIRS:
        shown = [row for row in rows if (row["secret"], row["release"]) == (secret, release)]
        panels.append(curves.panel(shown, "share", f"S = {secret}, X = {release}", COLOURS))
    said = "I(X;Y) / H(X), all at ε-LIP; the ε-LDP optimum promises more than that"
    return curves.grid(TITLE, said, panels, columns=4)


def _oue(joint: tr.Joint, epsilon: str) -> list[Row]:
    return [values(joint, OUE, tr.oue(joint, tr.LIP(Fraction(epsilon))))]


def _optima(joint: tr.Joint, epsilon: str) -> list[Row]:
    notions = {LIP: tr.LIP(Fraction(epsilon)), LDP: tr.LDP(Fraction(epsilon))}
    return [values(joint, name, tr.design(joint, notion, gap=GAP, time_limit=LIMIT)) for name, notion in notions.items()]


def _both(joint: tr.Joint, epsilon: str) -> list[Row]:
    """Whoever may read s need not: the search starts from the optimum that reads x, and what it finds is never worse."""
    notion = tr.LIP(Fraction(epsilon))
    blind = tr.design(joint, notion, gap=GAP, time_limit=LIMIT)
    seeing = replace(blind, protocol=promised(seeing_s(blind.protocol), joint, notion))
    found = tr.design(joint, notion, reads="sx", gap=GAP, time_limit=LIMIT, like=seeing)
    best = found if found.utility >= blind.utility else replace(seeing, bound=found.bound)
    return [values(joint, BOTH, best)]


KINDS = {"explicit": explicit, "oue": _oue, "optima": _optima, "both": _both}
