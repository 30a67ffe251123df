"""Membership of the sets, by their definitions, and members at random: what tests of robust promises compare with."""

import numpy as np


def distance(name, p, P):
    """How far P is from P̂, in the way of the set."""
    seen = p > 0
    with np.errstate(divide="ignore"):
        if name == "chi-square":
            return float((p[seen] ** 2 / P[seen]).sum() - 1)
        if name == "kullback-leibler":
            return float((p[seen] * np.log(p[seen] / P[seen])).sum())
    return float(np.abs(P - p).sum())


def inside(around, P, slack=1e-9):
    """P is a distribution in F."""
    if abs(P.sum() - 1) > 1e-9 or P.min() < -1e-12:
        return False
    if around.kind.name == "boxes":
        low, high = around.box
        return bool(np.all(low - slack <= P) and np.all(high + slack >= P))
    return distance(around.kind.name, around.p, P) <= around.radius + slack


def members(around, count, random):
    """Random distributions, pulled towards P̂ until they are in F: at its edge, nearly."""
    found = []
    for _ in range(count):
        aim = random.dirichlet(np.full(len(around.p), random.choice([0.1, 1.0, 10.0])))
        low, high = 0.0, 1.0
        for _ in range(50):
            share = (low + high) / 2
            low, high = (share, high) if inside(around, (1 - share) * around.p + share * aim, 0) else (low, share)
        found.append((1 - low) * around.p + low * aim)
    return found
