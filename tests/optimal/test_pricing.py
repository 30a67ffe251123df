"""Exact pricing and what it rests on, against all vertices and a second LP solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.optimal.cases import CURVES, about, all_vertices, boxes, inside, ldp, lip, random_problem

from trechter.optimal.ascent import climb, neighbours, vertex_at
from trechter.optimal.polytope import Polytope
from trechter.optimal.pricing import Pricing
from trechter.optimal.relaxation import Relaxations
from trechter.optimal.start import corners


@pytest.fixture
def relaxed():
    """Relaxations of a polytope, closed at the end."""
    made = []

    def make(space):
        made.append(Relaxations(space))
        return made[-1]

    yield make
    for relaxations in made:
        relaxations.close()


def worths(problem, space, prices):
    """What every vertex is worth above its price."""
    points = space.points(all_vertices(problem))
    return space.worth(points) - points @ prices


def cases():
    for seed in range(12):
        problem = (lip if seed % 2 else ldp)(seed, 3, 8, 0.6, CURVES[seed % len(CURVES)])
        yield about(problem, seed) if seed % 3 == 0 else problem


@pytest.mark.parametrize("cut", [0.0, 1e-4, 0.05])
def test_the_most_that_any_vertex_is_worth(relaxed, cut):
    rng, missed = np.random.default_rng(0), 0
    for problem in cases():
        space = Polytope.of(problem)
        prices = space.prices(rng.normal(0, 1, space.letters) * problem.masses)
        best, relaxations = worths(problem, space, prices).max(), relaxed(space)
        _, lower, upper = corners(relaxations)
        pricing = Pricing(relaxations, prices, cut, lower, upper)
        bounds = [pricing.bound]
        while pricing.open and pricing.bound > max(pricing.best, cut) + 1e-6:
            pricing.step()
            bounds.append(pricing.bound)
        assert bounds == sorted(bounds, reverse=True)
        assert max(best, cut) - 1e-9 <= pricing.bound <= max(best, cut) + 2e-6
        assert pricing.best <= best + 1e-9
        missed += pricing.best < best - 1e-3
    assert missed <= 3  # nearly always it has met the best itself


def test_bounds_are_true_at_every_step(relaxed):
    problem = ldp(1, 4, 9, 0.5)
    space = Polytope.of(problem)
    prices = space.prices(np.random.default_rng(1).normal(0, 0.3, 9) * problem.masses)
    best, relaxations = worths(problem, space, prices).max(), relaxed(space)
    pricing = Pricing(relaxations, prices, -10.0, np.zeros(9), np.ones(9))
    for _ in range(10):
        assert pricing.bound >= best - 1e-10
        pricing.step()


@pytest.mark.parametrize("seed", range(6))
def test_relaxations_against_another_solver(relaxed, seed):
    rng, problem = np.random.default_rng(seed), lip(seed, 4, 7, 0.5)
    problem = about(problem, seed) if seed % 2 else problem
    space = Polytope.of(problem)
    points = inside(problem, rng, 12)
    lower, upper = boxes(space, points, rng)
    lower[8:], upper[8:] = lower[8:] + 0.4, upper[8:] + 0.4  # some of these are empty
    upper = np.maximum(lower, np.minimum(upper, 1))
    costs = rng.standard_normal(points.shape)
    answer = relaxed(space).solve(costs, lower, upper, [None] * 12)
    equal = np.isfinite(space.floor)
    for k in range(12):
        other = linprog(
            -costs[k],
            space.matrix[~equal],
            space.rhs[~equal],
            space.matrix[equal],
            space.rhs[equal],
            list(zip(lower[k], upper[k], strict=True)),
        )
        if other.status == 2:
            assert np.isnan(answer.points[k]).all()
            continue
        assert not answer.empty[k]
        assert costs[k] @ answer.points[k] == pytest.approx(-other.fun, abs=1e-7)
        most = space.most(space.reduced(costs[k], answer.multipliers[k]), answer.multipliers[k], lower[k], upper[k])
        assert -other.fun - 1e-9 <= most <= -other.fun + 1e-6


def test_empty_boxes_are_proved_empty(relaxed):
    space = Polytope.of(lip(0, 3, 6, 0.4))
    lower, upper = np.zeros((2, 6)), np.full((2, 6), 0.1)  # Σ v = 1 cannot be reached
    upper[1] = 1
    answer = relaxed(space).solve(np.ones((2, 6)), lower, upper, [None, None])
    assert answer.empty.tolist() == [True, False]


@pytest.mark.parametrize("seed", range(14))
def test_neighbours_are_vertices_and_are_priced_right(seed):
    what, problem = random_problem(seed)
    space = Polytope.of(problem)
    known = all_vertices(problem)
    prices = space.prices(np.random.default_rng(seed).normal(0, 1, space.letters) * problem.masses)
    for posterior in known[:6]:
        vertex = vertex_at(space, posterior)
        if vertex is None:
            continue
        assert np.abs(vertex.posterior(space) - posterior).max() < 1e-7, what
        value, around = neighbours(space, vertex, prices)
        assert value == pytest.approx(
            float(space.worth(space.points(posterior[None]))[0] - space.points(posterior[None])[0] @ prices)
        )
        for k in np.flatnonzero(np.isfinite(around.values))[:10]:
            other = around[k].posterior(space)
            assert np.abs(known - other).max(axis=1).min() < 1e-6, what
            point = space.points(other[None])
            assert around.values[k] == pytest.approx(float(space.worth(point)[0] - point[0] @ prices), abs=1e-7), what


def test_bounds_of_coordinates_are_safe_whenever_they_stop(relaxed):
    problem = lip(3, 3, 8, 0.5)
    space, points = Polytope.of(problem), all_vertices(problem)
    _, lower, upper = corners(relaxed(space))
    assert lower == pytest.approx(points.min(axis=0), abs=1e-7)
    assert upper == pytest.approx(points.max(axis=0), abs=1e-7)
    _, lower, upper = corners(relaxed(space), lambda: True)
    assert lower.tolist() == [0] * 8
    assert upper.tolist() == [1] * 8


def test_climbing_goes_up_to_where_no_neighbour_is_better():
    problem = ldp(2, 4, 9, 0.5)
    space = Polytope.of(problem)
    prices = space.prices(np.random.default_rng(2).normal(0, 0.5, 9) * problem.masses)
    starts = [vertex for v in all_vertices(problem)[::5] if (vertex := vertex_at(space, v)) is not None]
    climbed = climb(space, starts, prices, -np.inf, lambda: False)
    assert climbed.stops
    for vertex in climbed.stops:
        value, around = neighbours(space, vertex, prices)
        assert value >= around.values.max() - 1e-8
    best = worths(problem, space, prices).max()
    assert max(climbed.found.values()) == pytest.approx(best, abs=1e-9)
