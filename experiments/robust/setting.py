"""The setting of 004 §V: distributions P* from Jeffreys' prior, n rows drawn from each, designs for the rows, and the truth.

ε* and D* are of the designed protocol, at the P* that the rows are drawn from:

    D* = Σ P*(s,u) P(y|s,u) (u − y)²        ε* = ln max P*(y|s) / P*(y|s')   over y, s, s'; 0/0 = 1
"""

from __future__ import annotations

import math

import numpy as np

import trechter as tr
from trechter.workflow.reproduce import Row

SECRETS, VALUES = 3, 5
CELLS = SECRETS * VALUES
EPSILON = "0.5"
FOUR = ("NUNP", "RUNP", "NURP", "RURP")  # nonrobust or robust utility, nonrobust or robust privacy
HALVES = "NURP, y in halves"
MOST = 20  # a level beyond is that of an output which is due to nothing but the rounding of weights: it is infinite
GAP = 4e-7  # of every design, from its bound
PLAIN, OVER = tr.LDP(EPSILON), tr.ChiSquare(alpha="0.05")


def squared(u: float, y: float) -> float:
    """d(u,y)."""
    return (u - y) ** 2


SQUARED = tr.Distortion(squared)
IN_HALVES = tr.Distortion(squared, readings=[k / 2 for k in range(2 * VALUES - 1)])
ASKED = {
    "NUNP": (PLAIN, SQUARED),
    "RUNP": (PLAIN, tr.WorstCase(SQUARED, over=OVER)),
    "NURP": (tr.Robust(PLAIN, over=OVER), SQUARED),
    "RURP": (tr.Robust(PLAIN, over=OVER), tr.WorstCase(SQUARED, over=OVER)),
    HALVES: (tr.Robust(PLAIN, over=OVER), IN_HALVES),
}


def instance(seed: int, n: int) -> tuple[tr.Joint, tr.Joint, int]:
    """P*, the joint of n rows drawn from it, and how often they were drawn again because a secret value had none."""
    truth = np.random.default_rng(seed).dirichlet(np.full(CELLS, 0.5))
    random, again = np.random.default_rng([seed, n]), 0
    while not (counts := random.multinomial(n, truth).reshape(SECRETS, VALUES)).any(axis=1).all():
        again += 1
    return tr.Joint(truth.reshape(SECRETS, VALUES)), tr.Joint(counts), again


def within(truth: tr.Joint, joint: tr.Joint) -> bool:
    """Whether P* is in the set around what was counted: Σ P̂²/P* ≤ 1 + B."""
    region = OVER.around(joint)
    return bool((joint.p**2 / truth.p).sum() <= 1 + float(region.radius))


def measured(method: str, truth: tr.Joint, joint: tr.Joint) -> Row:
    """ε* and D* of the certified protocol of a problem, and what was planned."""
    notion, measure = ASKED[method]
    over_sets = isinstance(notion, tr.Robust) or isinstance(measure, tr.WorstCase)
    solver = "cuts" if over_sets else "auto"  # which of several optima is found depends on the solver
    result = tr.design(joint, notion, measure=measure, reads="sx", solver=solver, gap=GAP)
    level = PLAIN.level(result.protocol, truth)
    return {
        "level": level if level < MOST else math.inf,
        "distortion": (IN_HALVES if method == HALVES else SQUARED).utility(truth, result.protocol),
        "planned": result.utility,
        "gap": result.gap,
        "holds": result.certificate.holds,
        "above": float(level > float(EPSILON) + 1e-9),
        "infinite": float(level >= MOST),
    }


def inside(values: list[float]) -> list[bool]:
    """The 1.5 IQR rule: which are not farther from the quartiles than 1.5 times what is between these; ∞ is outside."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = np.quantile(finite, (0.25, 0.75))
    reach = 1.5 * (high - low)
    return [bool(low - reach <= value <= high + reach) for value in values]
