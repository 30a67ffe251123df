"""Figure 8 of 003: difference in α against difference in utility; and which property of a joint decides who wins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from experiments.mechanisms import criterion
from experiments.mechanisms.setting import JOINTS, SHAPES, explicit, jeffreys_joint

import trechter as tr
from experiments import curves
from trechter.workflow.reproduce import Row, Task

TITLE = "Figure 8: what makes Conditional Reporting win over GRR"
BY, MEANS = ("what", "epsilon", "joints"), ("alpha", "utility", "value", "low", "high")
EPSILONS = ("1", "3/2", "2")
BLOCK = 10  # joints of a task; a quick run has one of each kind
LEARNT = 1000  # seeds from here on are those that thresholds are learnt from; the figure's are never among them
RESAMPLES = 2000  # of the joints, for the uncertainty of ρ
NOBODY = 1e-9  # a difference in nats that is none: both publish x
PROPERTIES = tuple(criterion.properties(jeffreys_joint(0, 2, 2), 1.0))
COLOURS = ("#c8364b", "#e39b2d", "#2c6e9b", "#3f9b6c", "#7d5ba6", "#777777")


def tasks(quick: bool) -> list[Task]:
    """Blocks of joints of each shape: those of the figure, and as many from which thresholds are learnt."""
    firsts = range(0, BLOCK if quick else JOINTS, BLOCK)
    return [
        Task(f"a{a}-c{c}-{start + first}", {"a": a, "c": c, "first": start + first})
        for first in firsts
        for start in (0, LEARNT)
        for a, c in SHAPES
    ]


def compute(a: int, c: int, first: int) -> list[Row]:
    """Both protocols, and the properties that may decide between them, for each joint at each level."""
    rows = []
    for seed in range(first, first + BLOCK):
        joint = jeffreys_joint(seed, a, c)
        rows += [{"what": f"a = {a}, c = {c}", "joints": 1, "joint": seed} | _row(joint, epsilon) for epsilon in EPSILONS]
    return rows


def summary(rows: list[Row]) -> list[Row]:
    """ρ at a = c = 5, and how often each property names the winner, on joints that no threshold was learnt from."""
    return [row for e in EPSILONS for row in (*_correlations(rows, e), *_verdicts(rows, e))]


def plot(rows: list[Row]) -> Any:
    """Above the paper's figure, below what decides: which of the two is x more often."""
    joints = [row for row in rows if row["joints"] == 1 and not _learnt(row)]
    above = [
        curves.scatter(
            [row | {"method": row["what"]} for row in _at(joints, e) if row["what"] == "a = 5, c = 5"],
            ("alpha", "utility"),
            f"a = c = 5, ε = {float(Fraction(e)):g}",
            ("α of CR − α of GRR [nats]", "I(X;Y) of CR − of GRR [nats]"),
            _colours(),
        )
        for e in EPSILONS
    ]
    below = [
        curves.scatter(
            [row | {"method": row["what"]} for row in _at(joints, e)],
            ("truth", "share"),
            f"all shapes, ε = {float(Fraction(e)):g}",
            ("ln P(Y≠X) of GRR − of CR", "I(X;Y)/H(X) of CR − of GRR"),
            _colours(),
        )
        for e in EPSILONS
    ]
    said = "each dot a Jeffreys joint; α and P(Y≠X) at the same certified LIP level ε [nats]"
    return curves.grid(TITLE, said, [*above, *below], columns=3)


def correlation(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """ρ, and a 95 % interval: the middle of what ρ is for joints drawn again with replacement."""
    points = np.array([x, y])
    drawn = np.random.default_rng(0).integers(0, len(x), (RESAMPLES, len(x)))
    low, high = np.quantile([np.corrcoef(points[:, again])[0, 1] for again in drawn], (0.025, 0.975))
    return float(np.corrcoef(points)[0, 1]), float(low), float(high)


def _row(joint: tr.Joint, epsilon: str) -> Row:
    e = float(Fraction(epsilon))
    grr, cr = explicit(joint, epsilon)
    wrong = criterion.wrong(joint, e)
    both = None not in (grr["alpha"], cr["alpha"])
    found: Row = {"epsilon": e, "utility": cr["utility"] - grr["utility"], "share": cr["share"] - grr["share"]}
    found |= {"alpha": cr["alpha"] - grr["alpha"] if both else None, "frequency": criterion.frequency(joint)}
    return found | {"truth": math.log(wrong[0] / wrong[1]) if min(wrong) > 0 else None} | criterion.properties(joint, e)


def _correlations(rows: list[Row], epsilon: str) -> Iterator[Row]:
    shown = [
        row for row in _at(rows, epsilon) if row["what"] == "a = 5, c = 5" and not _learnt(row) and row["alpha"] is not None
    ]
    value, low, high = correlation([row["alpha"] for row in shown], [row["utility"] for row in shown])
    yield {"what": "ρ", "epsilon": float(Fraction(epsilon)), "joints": len(shown), "value": value, "low": low, "high": high}


def _verdicts(rows: list[Row], epsilon: str) -> Iterator[Row]:
    """The share of the figure's joints, of all shapes, whose winner is named; where both publish x there is none."""
    contested = [row for row in _at(rows, epsilon) if row["truth"] is not None and abs(row["utility"]) > NOBODY]
    learnt, judged = ([row for row in contested if _learnt(row) == side] for side in (True, False))
    wins = [row["utility"] > 0 for row in judged]
    rules: dict[str, Callable[[Row], bool]] = {
        "its output is x more often": lambda row: row["truth"] > 0,
        "x* is frequent": lambda row: row["frequency"] > 1,
        "α is larger": lambda row: row["alpha"] > 0,
        "always": lambda row: True,
    }
    scores = {
        name: float(np.mean([rule(row) == won for row, won in zip(judged, wins, strict=True)])) for name, rule in rules.items()
    }
    for name in PROPERTIES:
        stump = criterion.Stump([row[name] for row in learnt], [row["utility"] > 0 for row in learnt])
        scores[name] = stump.right([row[name] for row in judged], wins)
    for name, score in scores.items():
        yield {"what": f"CR wins: {name}", "epsilon": float(Fraction(epsilon)), "joints": len(judged), "value": score}


def _at(rows: list[Row], epsilon: str) -> list[Row]:
    return [row for row in rows if row["epsilon"] == float(Fraction(epsilon)) and row["joints"] == 1]


def _learnt(row: Row) -> bool:
    return bool(row["joint"] >= LEARNT)


def _colours() -> dict[str, str]:
    return {f"a = {a}, c = {c}": colour for (a, c), colour in zip(SHAPES, COLOURS, strict=True)}
