"""What a release tells about the secret S: averages, worst cases, and what an attacker gains.

With P(s,y) = Σ_i p(s,i) Q[y,i]:
- I(S;Y) in nats; the levels of every notion (the smallest ε that hold);
- Bayes gain `Σ_y max_s P(s,y) / max_s p(s)`: how much likelier one guess of S is right (1 is nothing);
- maximal leakage `ln Σ_y max_s P(y|s)`: the same at worst over every prior and every function of S, in nats;
- for every secret value, the smallest and largest posterior probability that any output leads to.

Of a unary encoding of many values Bayes gain and maximal leakage are NaN: they are sums over 2^a outputs of a maximum, and no
formula is known that needs fewer terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trechter.measures.entropic import Entropic
from trechter.measures.measure import Array, total
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.model.protocol import Protocol, check_pair
from trechter.model.unary import UnaryProtocol
from trechter.privacy import NOTIONS


@dataclass(frozen=True, eq=False)
class Leakage:
    """All of it for one protocol and joint; `levels` by notion, `posteriors` (c, 2) smallest and largest P(s|y)."""

    information: float
    levels: dict[str, float]
    bayes_gain: float
    maximal: float
    priors: Array
    posteriors: Array


def leakage(joint: Joint, protocol: Protocol) -> Leakage:
    """Measure what a protocol leaks about the secret."""
    check_pair(protocol, joint)
    seen, prior = letters(joint, protocol.reads), joint.p_s
    secret = seen.secret[prior > 0]
    given = secret / prior[prior > 0][:, None]
    whole = np.repeat(seen.masses[None], len(given), axis=0)
    posteriors = np.zeros((len(prior), 2))
    posteriors[prior > 0] = np.stack([1 / protocol.ratios(whole, given), protocol.ratios(given, whole)], axis=1)
    return Leakage(
        information=max(0.0, total(joint, protocol, secret, Entropic())),
        levels={name: notion("inf").level(protocol, joint) for name, notion in NOTIONS.items()},
        **_at_worst(protocol, secret, given),
        priors=prior,
        posteriors=posteriors * prior[:, None],
    )


def _at_worst(protocol: Protocol, secret: Array, given: Array) -> dict[str, float]:
    """Bayes gain and maximal leakage."""
    if isinstance(protocol, UnaryProtocol) and not protocol.listed:
        return {"bayes_gain": math.nan, "maximal": math.nan}
    return {
        "bayes_gain": max(1.0, float(protocol.products(secret).max(axis=0).sum() / secret.sum(axis=1).max())),
        "maximal": max(0.0, float(np.log(protocol.products(given).max(axis=0).sum()))),
    }
