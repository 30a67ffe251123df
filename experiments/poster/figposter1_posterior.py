"""Part 5 of poster 002: what the aggregator knows of P, its posterior, for growing n."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from experiments.poster import drawing
from experiments.poster.setting import FAMILIES, GRR, SILENT, nats

from trechter.measures.dirichlet import Dirichlet
from trechter.measures.posterior import Posteriors
from trechter.workflow.reproduce import Row, Task

TITLE = "Poster, figure 1: the posterior of P for growing n"
BY, MEANS = ("method", "sample"), ("spread", "known", "digits")
P = (0.6, 0.3, 0.1)  # the true distribution
PROTOCOLS = {GRR: 1.5, SILENT: 1 - 0.76443}
SIZES = (10, 100, 1000, 10_000)
DOTS, DRAWS = 300, 100_000


def tasks(quick: bool) -> list[Task]:
    """A task for each protocol and number of rows."""
    return [Task(f"{'-'.join(method.split())}-{n}", {"method": method, "sample": n}) for method in PROTOCOLS for n in SIZES]


def compute(method: str, sample: int) -> list[Row]:
    """The first rows of one sequence of rows: draws from the posterior, and how wide it is."""
    protocol = FAMILIES[method](3, PROTOCOLS[method])
    rows, random = protocol.matrix, np.random.default_rng(5)
    outputs = random.choice(len(rows), size=max(SIZES), p=rows @ P)[:sample]
    counts = np.bincount(outputs, minlength=len(rows)).astype(float)
    logs, weights = (part[0] for part in Posteriors(counts[None], rows, Dirichlet(np.ones(3))).draws(random, DRAWS))
    shares, drawn = np.exp(weights - weights.max()), np.exp(logs)
    shares /= shares.sum()
    spread = math.sqrt(float(shares @ ((drawn - shares @ drawn) ** 2).sum(axis=1) / 3))
    named: Row = {"method": method, "sample": sample}
    dots = drawn[random.choice(DRAWS, size=DOTS, p=shares)]
    digits = nats(protocol).after(sample) / math.log(10)
    numbers = {"spread": spread, "known": -math.log10(spread * math.sqrt(2 * math.pi * math.e)), "digits": digits}
    return [named | numbers, *(named | {"p": [round(v, 5) for v in dot]} for dot in dots.tolist())]


def plot(rows: list[Row]) -> Any:
    """A triangle for each."""
    panels = [
        drawing.triangle([r for r in rows if (r["method"], r["sample"]) == (m, n)], m, n, P) for m in PROTOCOLS for n in SIZES
    ]
    said = "draws from the posterior after the first n rows; cross: the true P = (0.6, 0.3, 0.1); both have Priv = 0.764"
    return drawing.grid(TITLE, said, panels, columns=len(SIZES))
