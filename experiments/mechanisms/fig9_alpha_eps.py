"""Figure 9 of 003: α of GRR and of Conditional Reporting against ε on Adult, and what they say of X."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from experiments.adult import find_adult  # noqa: F401 - part of a script that needs Adult
from experiments.mechanisms import criterion
from experiments.mechanisms.setting import COLOURS, CR, GRR, PAIRS, Counts, explicit, pair_counts

import trechter as tr
from experiments import curves
from trechter.workflow.reproduce import Row, Task

TITLE = "Figure 9: α against ε on Adult"
BY, MEANS = ("secret", "release", "epsilon", "method"), ("alpha", "kappa", "share", "frequency")
EPSILONS = ("1/10", "1/5", "1/3", "1/2", "3/4", "1", "5/4", "3/2", "7/4", "2", "5/2", "3", "7/2", "4")
SHORT = ("1/2", "1", "2", "4")
PAPERS = (("occupation", "education"), ("occupation", "relationship"))  # panels (a) and (b)


def tasks(quick: bool, adult: str) -> list[Task]:
    """A task for each pair of columns and each level."""
    counts = pair_counts(adult)
    return [
        Task(
            f"{secret}-{release}-{float(Fraction(epsilon)):.3g}",
            {"secret": secret, "release": release, "counts": counts[secret, release], "epsilon": epsilon},
        )
        for secret, release in PAIRS
        for epsilon in (SHORT if quick else EPSILONS)
    ]


def compute(secret: str, release: str, counts: Counts, epsilon: str) -> list[Row]:
    """α of both, how much more often than by chance the output is x, what it says of X, and how frequent x* is."""
    joint, e = tr.Joint(np.array(counts)), float(Fraction(epsilon))
    named = {"secret": secret, "release": release, "epsilon": e, "frequency": criterion.frequency(joint)}
    pairs = zip(explicit(joint, epsilon), criterion.agreement(joint, e), strict=True)
    return [named | {"kappa": kappa} | row for row, kappa in pairs]


def plot(rows: list[Row]) -> Any:
    """The paper's two panels and two more: α above, what it is worth below."""
    chosen = (*PAPERS, ("marital-status", "relationship"), ("occupation", "sex"))
    above, below = [], []
    for secret, release in chosen:
        shown = [row for row in rows if (row["secret"], row["release"]) == (secret, release)]
        title = f"S = {secret}, X = {release}"
        above.append(curves.panel(shown, "alpha", title, _COLOURS, label="α [nats]", most=None))
        below.append(curves.panel(shown, "share", title, _COLOURS, label="I(X;Y) / H(X)"))
    return curves.grid(TITLE, "at the same certified LIP level ε; the larger α need not say more", [*above, *below], columns=4)


_COLOURS = {name: COLOURS[name] for name in (CR, GRR)}
