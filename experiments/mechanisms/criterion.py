"""Which of GRR and Conditional Reporting says more of X at a LIP level: 003 could not tell by the joint; this is a criterion.

Let m_x = max_s max(p(x|s) − e^ε p(x), p(x) − e^ε p(x|s)) and P_x = Σ_s p(x|s). With k = e^α − 1 both are ε-LIP up to

    k_GRR = (e^ε − 1) / max_x m_x        k_CR = (e^ε − 1) / max_x (m_x / P_x)        (∞ where no m_x is above 0)

A value that is frequent binds GRR, one whose share of its row is extreme binds Conditional Reporting, however rare it is. The
chance that the output is not x is then

    GRR: (a − 1) / (k_GRR + a)        CR: (c − 1 − t) / (k_CR + c)        t = Σ p(s,x) (P_x − p(x|s))

and κ = (P(Y=X) − Σ p(x) q(x)) / (1 − Σ p(x) q(x)), q the output distribution, is how much more often than by chance it is x
(Cohen's κ). The criterion is that the protocol of the larger κ says more. Its limits need no ε. As ε falls to 0 GRR says
nothing, while Conditional Reporting goes on to say something: it wins. As ε rises to the level of publishing x itself, one
value x*, that at which p(x|s)/p(x) is the most extreme, binds both, so k_CR = P_x* k_GRR, and Conditional Reporting wins if
P_x* > (c − 1 − t) / (a − 1): if x* is frequent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import trechter as tr
from trechter.measures import entropy

Array = NDArray[np.float64]


def weights(joint: tr.Joint, epsilon: float) -> tuple[float, float]:
    """The largest k = e^α − 1 of GRR and of Conditional Reporting that are ε-LIP."""
    most = excess(joint, epsilon).max(axis=0)
    return _weight(epsilon, most.max()), _weight(epsilon, (most / conditionals(joint).sum(axis=0)).max())


def wrong(joint: tr.Joint, epsilon: float) -> tuple[float, float]:
    """The chance that the output of GRR, and of Conditional Reporting, is not x."""
    (c, a), (grr, cr) = conditionals(joint).shape, weights(joint, epsilon)
    return (a - 1) / (grr + a), (c - 1 - true_lies(joint)) / (cr + c)


def agreement(joint: tr.Joint, epsilon: float) -> tuple[float, float]:
    """κ of GRR and of Conditional Reporting: 0 if the output is x no more often than by chance, 1 if it is x."""
    given, p_x, (grr, cr) = conditionals(joint), occurring(joint).sum(axis=0), weights(joint, epsilon)
    noises = np.ones(len(p_x)), given.sum(axis=0)
    chances = _chance(p_x, grr, noises[0]), _chance(p_x, cr, noises[1])
    missed = wrong(joint, epsilon)
    return 1 - missed[0] / (1 - chances[0]), 1 - missed[1] / (1 - chances[1])


def frequency(joint: tr.Joint) -> float:
    """P_x* (a − 1) / (c − 1 − t): above 1, Conditional Reporting wins as ε rises to the level of publishing x itself."""
    given, p_x = conditionals(joint), occurring(joint).sum(axis=0)
    (c, a), whole = given.shape, given.sum(axis=0)
    levels = extremes(joint)
    worst = levels == levels.max()  # several if infinite: then what counts is p(x), and p(x)/P_x
    ratio = p_x[worst].max() / (p_x / whole)[worst].max()
    return float(ratio * (a - 1) / (c - 1 - true_lies(joint)))


def true_lies(joint: tr.Joint) -> float:
    """t = Σ p(s,x) Σ_{s'≠s} p(x|s'): at most c − 1, where X does not depend on S and has one value."""
    given = conditionals(joint)
    return float((occurring(joint) * (given.sum(axis=0) - given)).sum())


def excess(joint: tr.Joint, epsilon: float) -> Array:
    """max(p(x|s) − e^ε p(x), p(x) − e^ε p(x|s), 0) for each s and x: where it is 0, publishing x keeps ε-LIP."""
    given, p_x, E = conditionals(joint), occurring(joint).sum(axis=0), math.exp(epsilon)
    return np.maximum(np.maximum(given - E * p_x, p_x - E * given), 0)


def extremes(joint: tr.Joint) -> Array:
    """The LIP level of publishing each value as it is: max_s |ln p(x|s)/p(x)|."""
    with np.errstate(divide="ignore"):
        ratios = np.abs(np.log(conditionals(joint) / occurring(joint).sum(axis=0)))
    return np.asarray(ratios.max(axis=0))


def conditionals(joint: tr.Joint) -> Array:
    """p(x|s), of secrets and values that occur."""
    p = occurring(joint)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def occurring(joint: tr.Joint) -> Array:
    """p(s,x) of secrets and values that occur; GRR is meant to choose among these."""
    return np.asarray(joint.p[np.ix_(joint.p_s > 0, joint.p_x > 0)])


def properties(joint: tr.Joint, epsilon: float) -> dict[str, float]:
    """Properties of a joint that may have to do with who wins; those that the paper tried are the first four."""
    p, given = occurring(joint), conditionals(joint)
    p_x, (c, a) = p.sum(axis=0), p.shape
    about = entropy(p_x) + entropy(p.sum(axis=1)) - entropy(p.ravel())
    return {
        "I(S;X)": about,
        "max p(s,x)": float(p.max()),
        "max p(x)": float(p_x.max()),
        "max p(s)": float(p.sum(axis=1).max()),
        "I(S;X) / H(X)": about / entropy(p_x),
        "H(X|S)": entropy(p_x) - about,
        "min p(x|s)": float(given.min()),
        "max p(x|s) / p(x)": float((given / p_x).max()),
        "level of publishing x": float(extremes(joint).max()),
        "conditions that x violates": float((excess(joint, epsilon) > 0).sum()),
        "a / c": a / c,
    }


class Stump:
    """A threshold on one property, and the side of it on which Conditional Reporting wins, as a sample has them."""

    def __init__(self, values: Sequence[float], wins: Sequence[bool]) -> None:
        order = np.argsort(values)
        ordered, won = np.array(values)[order], np.array(wins)[order].astype(int)
        above = np.append(0, np.cumsum(1 - won)) + won.sum() - np.append(0, np.cumsum(won))  # right if those above win
        cuts = np.concatenate([[-np.inf], (ordered[:-1] + ordered[1:]) / 2, [np.inf]])
        possible = np.append(np.append(True, ordered[:-1] < ordered[1:]), True)
        scores = np.where(possible, np.maximum(above, len(won) - above), -1)
        best = int(scores.argmax())
        self.cut, self.wins_above = float(cuts[best]), bool(above[best] >= len(won) - above[best])

    def right(self, values: Sequence[float], wins: Sequence[bool]) -> float:
        """The share of a sample that the threshold gets right."""
        return float(np.mean(((np.array(values) > self.cut) == self.wins_above) == np.array(wins)))


def _chance(p_x: Array, k: float, noise: Array) -> float:
    """Σ p(x) q(x), q the mixture of p and noise."""
    share = 1 / (k + noise.sum())
    return float(p_x @ (share * noise + (1 - share * noise.sum()) * p_x))


def _weight(epsilon: float, most: float) -> float:
    return math.expm1(epsilon) / most if most > 0 else math.inf
