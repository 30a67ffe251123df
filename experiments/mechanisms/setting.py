"""The setting of 003's experiments with explicit protocols (§VII C–E): Jeffreys joints, Adult, what a protocol says of X."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
from experiments.adult import adult_counts, read_adult

import trechter as tr
from experiments import charts
from trechter.measures import entropy
from trechter.model.result import Result
from trechter.workflow.reproduce import Row

GRR, CR, OUE = "GRR", "Conditional Reporting, reads (s,x)", "OUE"
LIP, LDP, BOTH = "ε-LIP optimum, reads x", "ε-LDP optimum, reads x", "ε-LIP optimum, reads (s,x)"
COLOURS = {
    BOTH: charts.PURPLE,
    LIP: charts.BLUE,
    LDP: charts.GREEN,
    CR: charts.RED,
    GRR: charts.ORANGE,
    OUE: "#777777",
}
SHAPES = ((5, 2), (2, 5), (5, 5), (3, 5), (5, 7), (7, 5))  # a and c of the panels (a) to (f) of Figure 7
JOINTS, QUICK = 100, 5
SECRETS, RELEASES = ("marital-status", "occupation"), ("education", "relationship", "race", "sex")
PAIRS = tuple(product(SECRETS, RELEASES))
Counts = list[list[int]]


def jeffreys_joint(seed: int, a: int, c: int) -> tr.Joint:
    """p(s,x) from Jeffreys' prior on S×X, Dirichlet(½, …, ½)."""
    return tr.Joint(np.random.default_rng([a, c, seed]).dirichlet(np.full(a * c, 0.5)).reshape(c, a))


def pair_counts(adult: str) -> dict[tuple[str, str], Counts]:
    """The counts of each pair of a secret and a released column."""
    rows = read_adult(adult)
    return {(secret, release): adult_counts(rows, secret, release) for secret, release in PAIRS}


def explicit(joint: tr.Joint, epsilon: str) -> list[Row]:
    """GRR and Conditional Reporting at the level."""
    notion = tr.LIP(Fraction(epsilon))
    return [values(joint, GRR, tr.grr(joint, notion)), values(joint, CR, tr.conditional_reporting(joint, notion))]


def values(joint: tr.Joint, method: str, result: Result) -> Row:
    """What a protocol says of X, its certified LIP level, and its α (none where it is infinite)."""
    certificate = tr.certify(result.protocol, joint, tr.LIP("inf")) if method == LDP else result.certificate
    alpha = result.stats.get("alpha", math.inf)
    found: Row = {"method": method, "utility": result.utility, "share": result.utility / entropy(joint.p_x)}
    found |= {"level": certificate.level, "alpha": alpha if math.isfinite(alpha) else None}
    return found | ({"gap": result.gap} if result.status != "heuristic" else {})
