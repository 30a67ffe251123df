"""How bad the worst output is where only the average is bounded: Problem 1 of 000 and 003 beside their Problem 2."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

import trechter as tr
from experiments import charts, curves
from trechter.measures import entropy
from trechter.model.result import Result
from trechter.workflow.reproduce import Row, Task
from trechter.workflow.survey import RELEASE, SCHEMA, SECRET, survey_csv

TITLE = "Figure of Problem 1: the worst output where only the average is bounded"
BY, MEANS = ("joints", "share", "method"), ("said", "leaked", "level", "unlucky")
FUNNEL, GREEDY, WORST = "average funnel, optimum", "average funnel, greedy merging", "ε-LIP optimum of the same I(X;Y)"
COLOURS = {FUNNEL: charts.RED, GREEDY: charts.ORANGE, WORST: charts.BLUE}
SURVEY, RANDOM = "survey", "Jeffreys, c = 3, a = 6"
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)  # of I(S;X) that may be leaked
JOINTS, QUICK = 20, 1
STEPS = 14  # of the search for a level
MOST = 64.0  # a level at which everything is published


def tasks(quick: bool) -> list[Task]:
    """A task for each joint: the demonstration's survey, and random ones."""
    return [Task(f"joint-{seed}", {"seed": seed}) for seed in (-1, *range(QUICK if quick else JOINTS))]


def compute(seed: int) -> list[Row]:
    """What the funnel's optimum, its greedy heuristic and the ε-LIP optimum that says as much leak on average and at worst."""
    joint = survey_joint() if seed < 0 else random_joint(seed)
    whole = tr.leakage(joint, tr.identity(joint, tr.LIP("inf")).protocol).information
    named = {"joint": seed, "joints": SURVEY if seed < 0 else RANDOM}
    rows = []
    for share in SHARES:
        funnel = tr.average_funnel(joint, share * whole)
        greedy = tr.average_funnel(joint, share * whole, method="merging")
        worst = as_good(joint, funnel.utility)
        found = {FUNNEL: funnel, GREEDY: greedy, WORST: worst}
        limit = worst.certificate.level
        rows += [named | {"share": share, "method": name} | values(joint, one, whole, limit) for name, one in found.items()]
    return rows


def plot(rows: list[Row]) -> Any:
    """Above the worst output and how many rows it is about, below what is said of X and what is leaked on average."""
    random, survey = ([row for row in rows if row["joints"] == name] for name in (RANDOM, SURVEY))
    panels = [
        panel(survey, "level", "survey: level of the worst output", "LIP level ε [nats]"),
        panel(random, "level", "random joints: level of the worst output", "LIP level ε [nats]"),
        panel(random, "unlucky", "random joints: rows told more than by the ε-LIP optimum", "share of rows"),
        panel(survey, "said", "survey: what is said of X, by both optima alike", "I(X;Y) / H(X)"),
        panel(random, "said", "random joints: what is said of X, by both optima alike", "I(X;Y) / H(X)"),
        panel(random, "leaked", "random joints: what is leaked on average", "I(S;Y) / I(S;X)"),
    ]
    said = "over M / I(S;X), the share of the secret's information that may leak on average; dots: joints, lines: their mean"
    return curves.grid(TITLE, said, panels, columns=3)


def panel(rows: Sequence[Mapping[str, Any]], y: str, title: str, label: str) -> Any:
    """One quantity over the limit for each method: a dot for each joint, a line for their mean."""
    import altair as alt

    kept = [row for row in rows if row.get(y) is not None and math.isfinite(row[y]) and row["method"] in COLOURS]
    shown = [{name: row[name] for name in ("share", "method", y)} for row in kept]
    legend = alt.Legend(
        title=None, orient="bottom", columns=3, labelLimit=0, symbolType="stroke", symbolStrokeWidth=4, symbolOpacity=1
    )
    palette = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    base = alt.Chart(alt.Data(values=shown), title=alt.Title(title, anchor="start"), width=330, height=230).encode(
        x=alt.X("share:O", title="M / I(S;X)", axis=alt.Axis(labelAngle=0)),
        color=alt.Color("method:N", sort=list(COLOURS), scale=palette, legend=legend),
    )
    scale = alt.Scale(type="sqrt") if y == "level" else alt.Scale(type="linear")  # of a few joints it is very high
    mean = base.encode(y=alt.Y(f"mean({y}):Q", title=label, scale=scale, axis=alt.Axis(format="~g")))
    dots = base.mark_circle(size=22, opacity=0.3).encode(y=alt.Y(f"{y}:Q", title=label, scale=scale))
    return alt.layer(dots, mean.mark_line(strokeWidth=2), mean.mark_point(size=30, filled=True, opacity=1))


def random_joint(seed: int) -> tr.Joint:
    """Three secrets and six values, from Jeffreys' prior on S×X."""
    return tr.Joint(np.random.default_rng([3, 6, seed]).dirichlet(np.full(18, 0.5)).reshape(3, 6))


def survey_joint() -> tr.Joint:
    """The illness of the demonstration's survey, with work and smoking."""
    return tr.Joint.from_table(
        pl.read_csv(survey_csv().encode()), secret=SECRET, release=list(RELEASE), schema=tr.Schema.parse(tomllib.loads(SCHEMA))
    )


def as_good(joint: tr.Joint, utility: float) -> Result:
    """The ε-LIP optimum of the least ε, up to the last step, that says as much of X."""
    low, high = 0.0, 1.0
    while tr.design(joint, tr.LIP(high)).utility < utility - 2e-6 and high < MOST:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        enough = tr.design(joint, tr.LIP(middle)).utility >= utility - 2e-6
        low, high = (low, middle) if enough else (middle, high)
    return tr.design(joint, tr.LIP(high))


def values(joint: tr.Joint, result: Result, whole: float, limit: float) -> Row:
    """What is said, leaked on average and at worst, and to how many more than `limit`; no level where it is infinite."""
    level = tr.certify(result.protocol, joint, tr.LIP("inf")).level
    found: Row = {"said": result.utility / entropy(joint.p_x)}
    found["leaked"] = tr.leakage(joint, result.protocol).information / whole
    return found | {"level": level if math.isfinite(level) else None, "unlucky": unlucky(joint, result, limit)}


def unlucky(joint: tr.Joint, result: Result, limit: float) -> float:
    """The share of rows whose output tells more of S than e^limit, either way."""
    p = joint.p[joint.p_s > 0] @ result.protocol.matrix.T
    q = p.sum(axis=0)
    with np.errstate(divide="ignore"):
        told = np.abs(np.log(p / joint.p_s[joint.p_s > 0][:, None] / q)).max(axis=0)
    return float(q[told > limit + 1e-4].sum())
