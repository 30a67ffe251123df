"""The polytope against the cone, and weak duality for multipliers of any kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.optimal.cases import about, all_vertices, boxes, inside, ldp, lip, random_problem

from trechter.optimal.polytope import Polytope


def test_a_point_is_a_posterior_and_what_it_says_of_the_target():
    problem = about(lip(0, 3, 5, 0.5), 1)
    space = Polytope.of(problem)
    rows = np.random.default_rng(0).random((7, 5))
    q = rows @ problem.masses
    posteriors = rows * problem.masses / q[:, None]
    points = space.points(posteriors)
    task = rows @ problem.targets.T / q[:, None]
    assert points == pytest.approx(np.hstack([posteriors, task]))
    assert space.worth(points) * q == pytest.approx(problem.phi(rows), abs=1e-14)
    duals = np.random.default_rng(1).normal(size=5)
    assert points @ space.prices(duals) * q == pytest.approx(rows @ duals, abs=1e-14)


@pytest.mark.parametrize("seed", range(40))
def test_vertices_are_inside_and_points_outside_the_cone_are_not(seed):
    name, problem = random_problem(seed)
    space = Polytope.of(problem)
    points = space.points(all_vertices(problem))
    sums = points @ space.matrix.T
    assert np.all(sums <= space.rhs + 1e-9), name
    assert np.all(sums >= space.floor - 1e-9), name
    rows = np.random.default_rng(seed).random((50, len(problem.masses))) ** 3
    posteriors = rows * problem.masses / (rows @ problem.masses)[:, None]
    over = np.max(posteriors @ space.conditions.T, axis=1, initial=-1)
    assert np.all(problem.cone.excess(rows[over > 1e-14]) > 0)
    assert np.all(problem.cone.excess(rows[over < -1e-14]) == 0)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e-8, 1.0, 1e3, 1e9, 1e16, 1e200]), st.booleans())
def test_weak_duality_holds_for_any_multipliers(seed, size, task):
    """most ≥ c·x for every x of the polytope and the box, however absurd the multipliers."""
    rng = np.random.default_rng(seed)
    problem = [lip, ldp][seed % 2](seed % 7, 3, 5, 0.5)
    problem = about(problem, 1) if task else problem
    space = Polytope.of(problem)
    points = inside(problem, rng, 30)
    lower, upper = boxes(space, points, rng, thin=0.1)
    costs = rng.normal(size=points.shape) * 10.0 ** rng.integers(-3, 4)
    with np.errstate(over="ignore", invalid="ignore"):
        multipliers = space.signed(rng.normal(size=(30, len(space.rhs))) * size)
        most = space.most(space.reduced(costs, multipliers), multipliers, lower, upper)
    assert np.all(~(most < (costs * points).sum(axis=1)))


@given(st.integers(0, 10**6))
def test_multipliers_that_are_no_numbers_bound_as_well(seed):
    rng = np.random.default_rng(seed)
    problem = ldp(0, 3, 5, 0.5)
    space = Polytope.of(problem)
    points = inside(problem, rng, 30)
    raw = rng.normal(size=(30, len(space.rhs)))
    raw[rng.random(raw.shape) < 0.2] = np.nan
    raw[rng.random(raw.shape) < 0.1] = np.inf
    raw[rng.random(raw.shape) < 0.1] = -np.inf
    multipliers = space.signed(raw)
    costs, ones = rng.normal(size=points.shape), np.ones_like(points)
    most = space.most(space.reduced(costs, multipliers), multipliers, 0 * ones, ones)
    assert np.all(np.isfinite(most))
    assert np.all(most >= (costs * points).sum(axis=1))


def test_weak_duality_is_tight_at_the_optimum():
    """With the multipliers of an LP that scipy solves, the bound is the optimum."""
    from scipy.optimize import linprog

    for seed in range(20):
        space = Polytope.of(ldp(seed, 3, 6, 0.7))
        costs = np.random.default_rng(seed).normal(size=6)
        n = len(space.conditions)
        answer = linprog(-costs, space.conditions, np.zeros(n), np.ones((1, 6)), [1], [(0, 1)] * 6)
        y = space.signed(-np.append(answer.ineqlin.marginals, answer.eqlin.marginals))
        most = space.most(space.reduced(costs, y), y, np.zeros(6), np.ones(6))
        assert -answer.fun <= most <= -answer.fun + 1e-9
