"""Figure 8 of 003: difference in α against difference in utility; and which property of a joint decides who wins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from experiments.mechanisms import criterion
from experiments.mechanisms.setting import JOINTS, SHAPES, explicit, jeffreys_joint

import trechter as tr
from experiments import curves
from trechter.workflow.reproduce import Row, Task

TITLE = "Figure 8: what makes Conditional Reporting win over GRR"
BY, MEANS = ("what", "epsilon", "joints"), ("alpha", "utility", "value", "low", "high")
EPSILONS = ("1", "1.5", "2")
SHARES = ("0.1", "0.5", "0.9")  # of the level of publishing x itself, at which both say all
BLOCK = 10  # joints of a task; a quick run has one of each kind
JUDGED = 1000  # seeds from here on are of joints that no rule was chosen and no threshold learnt on
RESAMPLES = 2000  # of the joints, for the uncertainty of ρ
NOBODY = 1e-9  # a difference in nats that is none: both publish x
PROPERTIES = tuple(criterion.properties(jeffreys_joint(0, 2, 2), 1.0))
COLOURS = ("#c8364b", "#e39b2d", "#2c6e9b", "#3f9b6c", "#7d5ba6", "#777777")


def tasks(quick: bool) -> list[Task]:
    """Blocks of joints of each shape: those of the figure, and as many on which rules are judged."""
    firsts = range(0, BLOCK if quick else JOINTS, BLOCK)
    return [
        Task(f"a{a}-c{c}-{start + first}", {"a": a, "c": c, "first": start + first})
        for first in firsts
        for start in (0, JUDGED)
        for a, c in SHAPES
    ]


def compute(a: int, c: int, first: int) -> list[Row]:
    """Both protocols, and the properties that may decide between them, for each joint at each level."""
    rows = []
    for seed in range(first, first + BLOCK):
        joint = jeffreys_joint(seed, a, c)
        known = {"what": f"a = {a}, c = {c}", "joints": 1, "joint": seed}
        most = float(criterion.extremes(joint).max())
        levels = {e: e for e in EPSILONS} | {f"{share} of x": f"{float(share) * most:.9f}" for share in SHARES}
        rows += [known | {"epsilon": name} | _row(joint, epsilon) for name, epsilon in levels.items()]
    return rows


def summary(rows: list[Row]) -> list[Row]:
    """ρ at a = c = 5, and how often each rule names the winner on joints that it was not chosen on."""
    verdicts = [row for e in (*EPSILONS, *(f"{share} of x" for share in SHARES)) for row in _verdicts(rows, e)]
    return [*(_correlation(rows, e) for e in EPSILONS), *verdicts]


def plot(rows: list[Row]) -> Any:
    """Above the paper's figure, below what decides: which of the two is x more often than by chance."""
    joints = [row for row in rows if row["joints"] == 1 and not _judged(row)]
    above = [
        curves.scatter(
            [row | {"method": row["what"]} for row in _at(joints, e) if row["what"] == "a = 5, c = 5"],
            ("alpha", "utility"),
            f"a = c = 5, ε = {e}",
            ("α of CR − α of GRR [nats]", "I(X;Y) of CR − of GRR [nats]"),
            _colours(),
        )
        for e in EPSILONS
    ]
    below = [
        curves.scatter(
            [row | {"method": row["what"]} for row in _at(joints, e)],
            ("kappa", "share"),
            f"all shapes, ε = {e}",
            ("κ of CR − κ of GRR", "I(X;Y)/H(X) of CR − of GRR"),
            _colours(),
        )
        for e in EPSILONS
    ]
    said = "each dot a Jeffreys joint, at the same certified LIP level ε [nats]; κ: how much more often than by chance Y is X"
    return curves.grid(TITLE, said, [*above, *below], columns=3)


def correlation(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """ρ, and a 95 % interval: the middle of what ρ is for joints drawn again with replacement."""
    points = np.array([x, y])
    drawn = np.random.default_rng(0).integers(0, len(x), (RESAMPLES, len(x)))
    low, high = np.quantile([np.corrcoef(points[:, again])[0, 1] for again in drawn], (0.025, 0.975))
    return float(np.corrcoef(points)[0, 1]), float(low), float(high)


def _row(joint: tr.Joint, epsilon: str) -> Row:
    grr, cr = explicit(joint, epsilon)
    kappas = criterion.agreement(joint, float(epsilon))
    both = None not in (grr["alpha"], cr["alpha"])
    found: Row = {"level": float(epsilon), "utility": cr["utility"] - grr["utility"], "share": cr["share"] - grr["share"]}
    found |= {"alpha": cr["alpha"] - grr["alpha"] if both else None, "frequency": criterion.frequency(joint)}
    return found | {"kappa": kappas[1] - kappas[0]} | criterion.properties(joint, float(epsilon))


def _correlation(rows: list[Row], epsilon: str) -> Row:
    shown = [
        row for row in _at(rows, epsilon) if row["what"] == "a = 5, c = 5" and not _judged(row) and row["alpha"] is not None
    ]
    value, low, high = correlation([row["alpha"] for row in shown], [row["utility"] for row in shown])
    return {"what": "ρ", "epsilon": epsilon, "joints": len(shown), "value": value, "low": low, "high": high}


def _verdicts(rows: list[Row], epsilon: str) -> Iterator[Row]:
    """The share of the joints, of all shapes, whose winner is named; where both publish x there is none."""
    contested = [row for row in _at(rows, epsilon) if row["alpha"] is not None and abs(row["utility"]) > NOBODY]
    learnt, judged = ([row for row in contested if _judged(row) == side] for side in (False, True))
    wins = [row["utility"] > 0 for row in judged]
    rules: dict[str, Callable[[Row], bool]] = {
        "its κ is larger": lambda row: row["kappa"] > 0,
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
        yield {"what": f"CR wins: {name}", "epsilon": epsilon, "joints": len(judged), "value": score}


def _at(rows: list[Row], epsilon: str) -> list[Row]:
    return [row for row in rows if row["epsilon"] == epsilon and row["joints"] == 1]


def _judged(row: Row) -> bool:
    return bool(row["joint"] >= JUDGED)


def _colours() -> dict[str, str]:
    return {f"a = {a}, c = {c}": colour for (a, c), colour in zip(SHAPES, COLOURS, strict=True)}
