"""Chords lie above the curve; nothing that a box may hold and that is worth more than the cut is ever cut away."""

from __future__ import annotations

import numpy as np
import pytest
from tests.optimal.cases import CURVES, about, boxes, inside, ldp, lip

from trechter.optimal.boxes import SLACK, THIN, Propagation, chords, squeezed
from trechter.optimal.polytope import Polytope


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
def test_chords_lie_above_the_curve(curve):
    rng = np.random.default_rng(0)
    for seed in range(20):
        problem = lip(seed, 3, 6, 0.5, curve)
        space = Polytope.of(problem if seed % 2 else about(problem, seed))
        x = space.points(rng.dirichlet(np.full(6, 0.4), 50))
        lower, upper = boxes(space, x, rng, thin=0.2)
        over = chords(space, lower, upper)
        for t in np.linspace(0, 1, 11):
            y = np.clip((1 - t) * lower + t * upper, lower, upper)
            above = (over.slopes * y).sum(axis=1) + over.offset
            assert np.all(space.worth(y) <= above + 1e-12)
            mixed = np.where(rng.random(y.shape) < 0.5, lower, y)
            assert np.all(space.worth(mixed) <= (over.slopes * mixed).sum(axis=1) + over.offset + 1e-12)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
def test_chords_meet_the_curve_at_the_corners(curve):
    space = Polytope.of(lip(1, 3, 5, 0.5, curve))
    rng = np.random.default_rng(1)
    lower, upper = rng.random((40, 5)) / 2, 0.5 + rng.random((40, 5)) / 2
    lower[::3] = 0
    over = chords(space, lower, upper)
    for corner in (lower, upper, np.where(rng.random((40, 5)) < 0.5, lower, upper)):
        assert (over.slopes * corner).sum(axis=1) + over.offset == pytest.approx(space.worth(corner), abs=1e-12)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
@pytest.mark.parametrize("width", [0.0, 1e-18, THIN / 2, THIN, 2 * THIN, 1e-9, 1e-7])
@pytest.mark.parametrize("low", [0.0, 1e-300, 1e-12, 0.3])
def test_thin_boxes(curve, width, low):
    """A box may be a point, at 0 as well, where a slope is infinite."""
    space = Polytope.of(lip(1, 3, 5, 0.5, curve))
    lower, upper = np.full((1, 5), low), np.full((1, 5), low + width)
    over = chords(space, lower, upper)
    assert np.all(np.isfinite(over.slopes))
    for y in (lower, upper, (lower + upper) / 2):
        slack = 1e-11 + np.abs(over.slopes).sum() * 1e-15
        assert space.worth(y)[0] <= (over.slopes * y).sum() + over.offset[0] + slack


@pytest.mark.parametrize("task", [False, True])
def test_squeezing_keeps_what_is_worth_more_than_the_cut(task):
    """Any multipliers, any linear function: points of a box that are above the cut stay."""
    rng = np.random.default_rng(2)
    kept = dropped = 0
    for seed in range(40):
        problem = lip(seed, 3, 6, 0.6) if seed % 2 else ldp(seed, 3, 6, 0.6)
        problem = about(problem, seed) if task else problem
        space = Polytope.of(problem)
        points = inside(problem, rng, 60)
        lower, upper = (end[:1].repeat(60, axis=0) for end in boxes(space, points, rng))
        here = np.all((points >= lower) & (points <= upper), axis=1)
        costs = rng.normal(size=(60, space.size))
        multipliers = space.signed(rng.normal(size=(60, len(space.rhs))) * 10.0 ** rng.integers(-3, 2))
        reduced = space.reduced(costs, multipliers)
        most = space.most(reduced, multipliers, lower, upper)
        worth = (costs * points).sum(axis=1)
        cut = np.where(rng.random(60) < 0.5, worth - 1e-9, worth - rng.random(60))  # all points are worth more
        bottom, top = squeezed(reduced, most - cut, lower, upper)
        stays = np.all((points >= bottom) & (points <= top), axis=1)
        assert np.all(stays[here])
        kept += here.sum()
        dropped += np.sum((bottom > lower) | (top < upper))
        assert np.all(bottom >= lower)
        assert np.all(top <= upper)
    assert kept > 100
    assert dropped > 100


def test_squeezing_does_cut_away():
    """x₁ + x₂ − 1 on the unit square, above 0.5: each coordinate is at least a half."""
    bottom, top = squeezed(np.array([[1.0, 1.0]]), np.array([0.5]), np.zeros((1, 2)), np.ones((1, 2)))
    assert bottom == pytest.approx(np.full((1, 2), 0.5), abs=1e-8)
    assert np.all(bottom <= 0.5)
    assert top.tolist() == [[1, 1]]


@pytest.mark.parametrize("task", [False, True])
@pytest.mark.parametrize("family", [lip, ldp])
def test_propagation_keeps_every_point_of_the_polytope(family, task):
    rng = np.random.default_rng(3)
    smaller = 0
    for seed in range(30):
        problem = family(seed, 3, 6, [0.1, 0.6, 1.5][seed % 3])
        problem = about(problem, seed) if task else problem
        space = Polytope.of(problem)
        points = inside(problem, rng, 40)
        lower, upper = boxes(space, points, rng, thin=0.1)
        bottom, top, alive = Propagation(space)(lower, upper)
        assert np.all(alive)
        assert np.all((points >= bottom - 1e-15) & (points <= top + 1e-15))
        assert np.all((bottom >= lower - 1e-9) & (top <= upper + 1e-9))
        smaller += np.sum(top < upper - 1e-6)
    assert smaller > 100


@pytest.mark.parametrize("family", [lip, ldp])
def test_propagation_sees_boxes_that_are_empty_and_only_these(family):
    """A box that is called empty has no point of the polytope: tried with a linear program."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(4)
    dead = 0
    for seed in range(40):
        space = Polytope.of(family(seed, 3, 5, 0.4))
        lower = rng.random((1, 5)) * rng.integers(0, 2, (1, 5)) * 0.5
        upper = np.minimum(lower + rng.random((1, 5)), 1)
        alive = Propagation(space)(lower, upper)[2][0]
        n = len(space.conditions)
        ends = np.stack([lower[0], upper[0]], axis=1)
        answer = linprog(np.zeros(5), space.conditions, np.zeros(n), np.ones((1, 5)), [1], ends)
        assert answer.status in (0, 2)
        assert alive or answer.status == 2
        dead += not alive
    assert dead > 3


def test_slack_is_noise():
    assert SLACK <= 1e-12
