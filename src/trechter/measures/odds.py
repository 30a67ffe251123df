"""A level in words: how far the odds of a secret value can move, whatever is released.

For a prior probability p, LDP multiplies the odds p : 1−p by at most e^ε. LIP keeps the posterior of the value and of its
opposite within a factor e^ε: between `max(e^-ε p, 1 − e^ε (1−p))` and `min(e^ε p, 1 − e^-ε (1−p))`.
"""

from __future__ import annotations

import math

from trechter.model.spec import Spec


def posterior_range(spec: Spec, prior: float) -> tuple[float, float]:
    """The least and the most that P(s|y) can be, whatever the output, for a secret value of probability `prior`."""
    if spec.epsilon is None or prior in (0, 1):
        return (0.0, 1.0) if spec.epsilon is None else (prior, prior)
    E = math.exp(spec.exponent)
    if spec.name.endswith("ldp"):
        return prior / (prior + E * (1 - prior)), E * prior / (E * prior + 1 - prior)
    return max(prior / E, 1 - E * (1 - prior)), min(E * prior, 1 - (1 - prior) / E)
