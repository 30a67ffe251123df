"""What a release tells about the secret S: averages, worst cases, and what an attacker gains.

With P(s,y) = Σ_i p(s,i) Q[y,i]:
- I(S;Y) in nats; the levels of every notion (the smallest ε that hold);
- Bayes gain `Σ_y max_s P(s,y) / max_s p(s)`: how much likelier one guess of S is right (1 is nothing);
- maximal leakage `ln Σ_y max_s P(y|s)`: the same at worst over every prior and every function of S, in nats;
- for every secret value, the smallest and largest posterior probability that any output leads to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trechter.measures.measure import Array, worth
from trechter.measures.mutual_information import Entropic
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.model.protocol import Protocol
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
    seen = letters(joint, protocol.reads)
    together = protocol.products(seen.secret)
    q, prior = together.sum(axis=0), joint.p_s
    given = together[prior > 0] / prior[prior > 0][:, None]
    posterior = together[:, q > 0] / q[q > 0]
    return Leakage(
        information=max(0.0, float(worth(joint, protocol, seen.secret[prior > 0], Entropic()).sum())),
        levels={name: notion("inf").level(protocol, joint) for name, notion in NOTIONS.items()},
        bayes_gain=max(1.0, float(together.max(axis=0).sum() / prior.max())),
        maximal=max(0.0, float(np.log(given.max(axis=0).sum()))),
        priors=prior,
        posteriors=np.stack([posterior.min(axis=1), posterior.max(axis=1)], axis=1),
    )
