"""The judge of robust promises against worlds that an adversary finds, and against levels known by other means."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.audit.saved import CANNOT_SAY, HOLDS, Saved, protocol_of
from tests.conftest import random_counts, random_matrix

import trechter as tr
from trechter.audit.certify import judge_weights
from trechter.exact import log_up
from trechter.model.dense import nearest
from trechter.model.over import Over
from trechter.model.spec import Spec

SETS = {
    "chi-square": Over.of("chi-square", radius="0.05"),
    "kullback-leibler": Over.of("kullback-leibler", radius="0.03"),
    "total-variation": Over.of("total-variation", radius="0.1"),
    "boxes": Over.of("boxes", alpha="0.05"),
}
ASKED = [(name, notion, reads) for name in SETS for notion in ("ldp", "lip") for reads in ("x", "sx")]


def case(seed, reads, c=3, a=3, b=3, zeros=0.2):
    """Counts with empty cells, and a protocol with 20 bits."""
    joint = tr.Joint(random_counts(seed, c, a, zeros=zeros))
    return joint, nearest(random_matrix(seed, b, a if reads == "x" else c * a), 20)


def level(weights, reads, joint, name, over):
    """The certified level of a robust notion."""
    return log_up(judge_weights(weights, reads, joint, Spec(name, None, over=over)))


def literal(weights, reads, p, name):
    """The level for one distribution, by the definition."""
    w = weights / weights.sum(axis=0)
    posterior = np.array(
        [(w if reads == "x" else w[:, s * p.shape[1] : (s + 1) * p.shape[1]]) @ row / row.sum() for s, row in enumerate(p)]
    )
    logs = np.log(posterior)
    if name == "ldp":
        return (logs.max(axis=0) - logs.min(axis=0)).max()
    return np.abs(logs - np.log(p.sum(axis=1) @ posterior)).max()


@cache
def region_of(joint, over):
    return over.around(joint)


def distance(p, joint, over):
    """How far p is beyond the set: at most 0 inside."""
    hat, region = joint.p, region_of(joint, over)
    seen = hat > 0
    if over.name == "boxes":
        low, high = (np.array([float(v) for v in side]).reshape(p.shape) for side in (region.low, region.high))
        return max((p - high).max(), (low - p).max())
    kept, p_seen = hat[seen], np.clip(p[seen], 1e-300, None)
    far = {
        "chi-square": (kept**2 / p_seen).sum() - 1,
        "kullback-leibler": (kept * np.log(kept / p_seen)).sum(),
        "total-variation": np.abs(hat - p).sum(),
    }
    return far[over.name] - float(region.radius)


def worlds(seed, joint, over, many):
    """Random members of the set, as far out as it reaches."""
    draw = np.random.default_rng(seed)
    for _ in range(many):
        target = draw.dirichlet(np.full(joint.p.size, draw.choice([0.05, 0.3, 1]))).reshape(joint.p.shape)
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            inside = distance((1 - middle) * joint.p + middle * target, joint, over) <= 0
            low, high = (middle, high) if inside else (low, middle)
        yield (1 - low) * joint.p + low * target


def attack(seed, weights, reads, joint, name, over, starts=8):
    """The worst level that an optimiser finds, for every output and condition by itself, from several starts."""
    w = weights / weights.sum(axis=0)
    rows = np.tile(w, joint.p.shape[0]) if reads == "x" else w
    c, a = joint.p.shape
    region = region_of(joint, over)
    events = [np.repeat(np.arange(c) == s, a).astype(float) for s in range(c)]
    every = np.ones(c * a)
    pairs = [(f, g) for f in events for g in events if f is not g] if name == "ldp" else []
    pairs += [] if name == "ldp" else [pair for f in events for pair in ((f, every), (every, f))]
    limits = {"type": "ineq", "fun": lambda p: -distance(p.reshape(c, a), joint, over)}
    bounds = [(1e-12, 1)] * (c * a)
    if over.name == "boxes":
        limits, bounds = None, [(max(float(lo), 1e-12), float(hi)) for lo, hi in zip(region.low, region.high, strict=True)]
    total = {"type": "eq", "fun": lambda p: p.sum() - 1}
    best = 0.0
    for row in rows:
        for f, g in pairs:

            def loss(p, f=f, g=g, row=row):
                return -(np.log(f * row @ p) - np.log(f @ p) - np.log(g * row @ p) + np.log(g @ p))

            for start in worlds(seed, joint, over, starts):
                found = minimize(
                    loss, start.ravel(), bounds=bounds, constraints=[total, *([limits] if limits else [])], method="SLSQP"
                )
                p = np.clip(found.x, 0, None).reshape(c, a) / found.x.sum()
                low = 0.0
                while distance(low * joint.p + (1 - low) * p, joint, over) > 0 and low < 1:
                    low = low * 1.5 + 1e-9
                p = min(low, 1) * joint.p + (1 - min(low, 1)) * p
                best = max(best, literal(weights, reads, p, name))
    return best


@pytest.mark.parametrize(("name", "notion", "reads"), ASKED)
def test_no_world_in_the_set_is_worse(name, notion, reads):
    for seed in range(3):
        joint, weights = case(seed, reads)
        certified = level(weights, reads, joint, notion, SETS[name])
        tried = [literal(weights, reads, p, notion) for p in worlds(seed, joint, SETS[name], 300)]
        assert max(tried) <= certified
        assert certified > literal(weights, reads, joint.p, notion) + 1e-3


@pytest.mark.parametrize(("name", "notion", "reads"), ASKED)
def test_an_optimiser_comes_as_near_as_it_can(name, notion, reads):
    joint, weights = case(5, reads, c=2, a=3, b=2, zeros=0.25)
    certified = level(weights, reads, joint, notion, SETS[name])
    found = attack(5, weights, reads, joint, notion, SETS[name])
    assert found <= certified
    assert certified - found < 1e-5


def test_a_set_of_no_radius_is_the_distribution_counted():
    for reads in ("x", "sx"):
        joint, weights = case(3, reads)
        for notion in ("ldp", "lip"):
            plain = judge_weights(weights, reads, joint, Spec(notion, None))
            assert judge_weights(weights, reads, joint, Spec(notion, None, over=Over.of("chi-square", radius=0))) == plain


def test_the_standalone_script_cannot_say(tmp_path, capsys):
    joint, weights = case(1, "x")
    saved = Saved(tmp_path, protocol_of(weights, joint, Spec("ldp", Fraction(9), over=SETS["chi-square"])), joint)
    assert saved.both() == (HOLDS, CANNOT_SAY)
    assert "trechter verify" in capsys.readouterr().out
