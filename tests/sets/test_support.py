"""The support function of every set against its dual, which any μ makes an upper bound, and against members at random."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tests.sets.members import inside, members

import trechter as tr
from trechter.sets import KINDS

COUNTS = np.array([[0, 3, 11, 7, 1], [4, 0, 9, 2, 25], [8, 1, 1, 0, 13]])


def dual(around, v, mu):
    """An upper bound of max P·v, from one scalar (formulas of the files in sets/)."""
    p, r = around.p, around.radius
    name = around.kind.name
    if name == "chi-square":
        return mu - (p * np.sqrt(np.maximum(mu - v, 0))).sum() ** 2 / (r + 1)
    if name == "kullback-leibler":
        seen = p > 0
        return mu - np.exp(-r + (p[seen] * np.log(np.maximum(mu - v[seen], 1e-300))).sum())
    if name == "total-variation":
        return (p * np.maximum(v, mu)).sum() + r / 2 * (v.max() - mu)
    low, high = around.box
    return mu + (high * np.maximum(v - mu, 0) - low * np.maximum(mu - v, 0)).sum()


def least_dual(around, v):
    """The least of the bounds."""
    spread = max(np.ptp(v), 1e-9)
    if around.kind.name in ("chi-square", "kullback-leibler"):  # μ ≥ max v, possibly far above
        found = minimize_scalar(
            lambda s: dual(around, v, v.max() + spread * np.exp(s)),
            bounds=(-60, 25),
            method="bounded",
            options={"xatol": 1e-9},
        )
        return min(found.fun, dual(around, v, v.max()))
    return min(dual(around, v, mu) for mu in v)  # piecewise linear: the least is at a break


def questions(random):
    """Directions of every kind: ties, cells that never occurred the heaviest, constants, huge and tiny."""
    k = COUNTS.size
    yield from random.normal(size=(6, k))
    yield np.eye(k)[0]  # a cell that never occurred
    yield -np.eye(k)[3]
    yield (random.random(k) < 0.3).astype(float)
    yield np.ones(k)
    yield np.where(COUNTS.ravel() == 0, 2.0, random.random(k))
    yield 1e6 * random.normal(size=k)
    yield 1e-6 * random.normal(size=k)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("times", [1, 1000])
def test_the_worst_is_a_member_and_reaches_the_dual(kind, times):
    around = kind(alpha="0.05").around(tr.Joint(COUNTS * times))
    for v in questions(np.random.default_rng(0)):
        P = around.support(v[None])[0]
        assert inside(around, P)
        assert P @ v == pytest.approx(least_dual(around, v), abs=2e-7 * (1 + np.abs(v).max()))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_no_member_is_worse(kind):
    around, random = kind(alpha="0.05").around(tr.Joint(COUNTS)), np.random.default_rng(1)
    others = members(around, 50, random)
    for v in questions(random):
        assert max(P @ v for P in others) <= (around.support(v[None])[0] @ v) + 1e-9 * (1 + np.abs(v).max())


@pytest.mark.parametrize("name", ["chi-square", "kullback-leibler", "total-variation"])
def test_a_radius_of_zero_leaves_only_the_counts(name):
    around = KINDS[name](radius=0).around(tr.Joint(COUNTS))
    v = np.random.default_rng(2).normal(size=(3, COUNTS.size))
    assert np.allclose(around.support(v), around.p, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_many_directions_are_answered_as_each_alone(kind):
    around, v = kind(alpha="0.05").around(tr.Joint(COUNTS)), np.array(list(questions(np.random.default_rng(3))))
    together = around.support(v)
    assert all(np.allclose(together[i], around.support(v[i : i + 1])[0], atol=1e-9) for i in range(len(v)))
