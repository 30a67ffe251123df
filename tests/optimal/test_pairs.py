"""Pairs against a linear program over all vertices, against prices checked one by one, and on hostile joints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csc_array
from tests.optimal.cases import ChiSquare, TotalVariation

from trechter.errors import RequestError, SolverError
from trechter.geometry import Cone, extreme_rays
from trechter.measures.mutual_information import Entropic
from trechter.optimal import pairs
from trechter.optimal.monge import most_profit, row_maxima
from trechter.optimal.problem import Budget, Problem
from trechter.optimal.slab import Slab
from trechter.optimal.staircase import cost


def conditions(joint, epsilon, kind):
    """LIP or LDP of two secret values."""
    given, x, E = joint / joint.sum(axis=1, keepdims=True), joint.sum(axis=0), np.exp(epsilon)
    if kind == "lip":
        return np.concatenate([given - E * x, x - E * given])
    return np.stack([given[0] - E * given[1], given[1] - E * given[0]])


def problem(joint, epsilon, kind, curve=None, targets=None):
    joint = joint / joint.sum()
    return Problem(Cone(conditions(joint, epsilon, kind)), joint.sum(axis=0), curve or Entropic(), targets)


def jeffreys(a, seed):
    return np.random.default_rng(seed).dirichlet(np.full(2 * a, 0.5)).reshape(2, a)


def vertices(p, d_upper, d_lower):
    """Every vertex as (letters, masses): written from the definition, one pair at a time."""
    found = [((x, x), (1.0, 0.0)) for x in range(len(p)) if d_upper[x] <= 0 and d_lower[x] <= 0]
    for d in (d_upper, d_lower):
        for x in np.flatnonzero(d > 0):
            for y in np.flatnonzero(d < 0):
                found.append(((x, y), (-d[y] / (d[x] - d[y]), d[x] / (d[x] - d[y]))))
    return found


def best(problem, slab):
    """The optimum by a linear program over all vertices."""
    found = vertices(problem.masses, slab.upper, slab.lower)
    letters, masses = (np.array(column) for column in zip(*found, strict=True))
    rows = np.zeros((len(found), len(problem.masses)))
    np.add.at(rows, (np.arange(len(found))[:, None], letters), masses / problem.masses[letters])
    matrix = csc_array((masses.ravel(), (letters.ravel(), np.repeat(np.arange(len(found)), 2))))
    answer = linprog(-problem.phi(rows), A_eq=matrix, b_eq=problem.masses, method="highs")
    assert answer.status == 0
    return -answer.fun


def check_rows(problem, found, tolerance=1e-12):
    rows = found.rows.dense()
    assert (rows >= 0).all()
    assert (rows > 0).sum(axis=1).max() <= 2
    assert np.abs(rows.sum(axis=0) - 1).max() < 1e-12
    assert problem.cone.excess(rows).max() < tolerance
    assert problem.phi(rows).sum() == pytest.approx(found.value, abs=1e-11)


@pytest.mark.parametrize("kind", ["lip", "ldp"])
@pytest.mark.parametrize("a", [2, 5, 12, 60])
def test_the_optimum_is_that_of_the_linear_program(kind, a):
    for seed, epsilon in enumerate([0.02, 0.3, 0.7, 1.5]):
        given = problem(jeffreys(a, seed), epsilon, kind)
        found = pairs.optimum(given)
        check_rows(given, found)
        assert found.value <= found.bound <= found.value + 1e-11
        assert found.value == pytest.approx(best(given, found.slab), abs=1e-8)


@given(
    st.integers(1, 25),
    st.integers(0, 10**6),
    st.sampled_from([1e-9, 1e-4, 0.05, 0.5, 1, 3]),
    st.sampled_from(["lip", "ldp"]),
    st.sampled_from(["counts", "spread", "rare secret", "rare letters"]),
)
@settings(max_examples=150, deadline=None)
def test_hostile_joints_are_solved_and_proved(a, seed, epsilon, kind, shape):
    rng = np.random.default_rng(seed)
    joint = rng.integers(0, 7, (2, a)).astype(float)  # many zeros and many equal posteriors
    if shape == "spread":
        joint = rng.dirichlet(np.full(2 * a, 0.03)).reshape(2, a) + 1e-30
    if shape == "rare secret":
        joint[1] *= 10.0 ** -rng.integers(0, 9)
    if shape == "rare letters":
        joint *= 10.0 ** -rng.integers(0, 12, a)
    joint = joint[:, joint.sum(axis=0) > 0]
    if joint.size == 0 or (joint.sum(axis=1) == 0).any():
        return
    given = problem(joint, epsilon, kind)
    found = pairs.optimum(given)
    check_rows(given, found, 1e-9)
    assert found.value - 1e-12 <= found.bound <= found.value + 1e-9


@given(st.integers(2, 12), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_bound_follows_from_the_duals_alone(a, seed):
    """Every vertex, priced one at a time from the definition, costs what it is worth."""
    given = problem(jeffreys(a, seed), 0.6, "lip")
    found = pairs.optimum(given)
    rays = extreme_rays(given.cone)
    rays = rays / (rays @ given.masses)[:, None]
    worst = max(0.0, (given.phi(rays) - rays @ found.duals).max())
    assert found.duals.sum() + worst <= found.bound + 1e-12
    assert worst < 1e-10


@pytest.mark.parametrize("seed", range(6))
def test_wrong_prices_are_found_out(seed):
    """most_profit is above the best profit of all pairs, and not far above, whatever the prices."""
    rng = np.random.default_rng(seed)
    d = rng.normal(size=150) * 10.0 ** rng.integers(-3, 1, 150)
    duals = rng.normal(size=150) * (1 if seed % 2 else 1e-3)
    s, t = 1 / d[d > 0][:, None], -1 / d[d < 0]
    profit = (s * duals[d > 0][:, None] + t * duals[d < 0] - cost(s, t)) / (s + t)
    bound = most_profit(d, duals)
    assert bound >= profit.max()
    assert bound <= 40 * max(profit.max(), 0) + 1e-9


def test_no_pairs_no_profit():
    assert most_profit(np.full(5, -1.0), np.ones(5)) == -np.inf


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 9), (9, 1), (40, 17), (64, 64), (100, 101)])
def test_row_maxima_of_a_monge_table(m, n):
    rng = np.random.default_rng(m)
    table = np.cumsum(np.cumsum(rng.random((m, n)), axis=0), axis=1) + rng.normal(size=(m, 1)) + 9 * rng.normal(size=n)
    assert (row_maxima(lambda i, j: table[i, j], m, n) == table.argmax(axis=1)).all()


def test_one_condition_is_a_slab_whatever_it_is():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p, a = rng.dirichlet(np.ones(15)), rng.normal(size=(1, 15))
        a -= p * (a.sum() + rng.random())  # the constant row is inside
        given = Problem(Cone(a), p, Entropic())
        found = pairs.optimum(given)
        check_rows(given, found)
        assert found.value == pytest.approx(best(given, found.slab), abs=1e-9)
        assert found.bound <= found.value + 1e-11


def test_letters_inside_are_published_when_nothing_binds():
    joint = np.array([[0.2, 0.3], [0.21, 0.29]])
    given = problem(joint, 2.0, "lip")
    found = pairs.optimum(given)
    assert found.rows.dense().tolist() == [[1, 0], [0, 1]]
    assert found.bound == pytest.approx(-(given.masses * np.log(given.masses)).sum(), abs=1e-14)


@pytest.mark.parametrize("kind", ["lip", "ldp"])
@pytest.mark.parametrize("a", [300, 10_000])
def test_many_letters(kind, a):
    for epsilon in (0.5, 1.0):
        given = problem(jeffreys(a, a), epsilon, kind)
        found = pairs.optimum(given)
        assert found.value <= found.bound <= found.value + 1e-10
        assert np.abs(found.rows.sums() - 1).max() < 1e-12
        for a_k in given.cone.A:
            terms = np.abs(a_k[found.rows.letters] * found.rows.weights).sum(axis=1)
            assert (found.rows.products(a_k) <= 1e-12 * terms).all()


@pytest.mark.slow
def test_a_million_letters():
    given = problem(jeffreys(10**6, 1) + 1e-300, 0.5, "ldp")
    found = pairs.optimum(given)
    assert found.value <= found.bound <= found.value + 1e-9


@pytest.mark.parametrize("kind", ["lip", "ldp"])
def test_perfect_privacy_gives_integer_rays(kind):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        N = rng.integers(0, 9, (2, 9)) + np.array([[1], [0]])
        N[1, 0] = 3
        s, x, n = N.sum(axis=1), N.sum(axis=0), N.sum()
        A = np.array((n * N[:1] - s[0] * x).tolist() if kind == "lip" else (s[1] * N[:1] - s[0] * N[1:]).tolist(), object)
        given = Problem(Cone(np.concatenate([A, -A])), x / n, Entropic())
        found = pairs.solve(given, Budget())
        assert not (found.rays @ given.cone.A.T).any()
        assert {int(np.gcd.reduce(ray)) for ray in found.rays} == {1}
        assert (found.rays >= 0).all()
        shares = found.scale / found.rays.max(axis=1)
        assert np.abs((shares[:, None] * found.rays).sum(axis=0).astype(float) - 1).max() < 1e-9
        assert found.bound - given.phi(found.rows).sum() < 1e-9
        floats = pairs.solve(Problem(Cone(given.cone.A.astype(float)), x / n, Entropic()), Budget())
        assert floats.rays is None
        assert floats.bound == pytest.approx(found.bound, abs=1e-9)


@pytest.mark.parametrize("curve", [ChiSquare(), TotalVariation()])
@pytest.mark.parametrize("kind", ["lip", "ldp"])
def test_other_measures_are_solved_over_all_vertices(curve, kind):
    for a, seed in ((4, 0), (30, 1)):
        given = problem(jeffreys(a, seed), 0.5, kind, curve)
        found = pairs.optimum(given)
        check_rows(given, found, 1e-9)
        assert found.value <= found.bound <= found.value + 1e-6 + 1e-9 * abs(found.value)
        assert found.value == pytest.approx(best(given, found.slab), abs=1e-7, rel=1e-8)


def test_information_about_something_else():
    joint = jeffreys(20, 3)
    rng = np.random.default_rng(0)
    task = rng.dirichlet(np.ones(4), 20).T * joint.sum(axis=0)
    given = problem(joint, 0.5, "lip", Entropic(), task)
    found = pairs.optimum(given)
    check_rows(given, found, 1e-9)
    assert found.value == pytest.approx(best(given, found.slab), abs=1e-8)
    assert found.bound - found.value < 1e-6
    itself = pairs.optimum(problem(joint, 0.5, "lip", Entropic(), np.diag(joint.sum(axis=0))))
    assert itself.value == pytest.approx(pairs.optimum(problem(joint, 0.5, "lip")).value, abs=1e-8)


def test_a_time_limit_still_gives_a_protocol_and_a_bound():
    given = problem(jeffreys(60, 0), 0.5, "lip", TotalVariation())
    short, full = (pairs.optimum(given, Budget(seconds=seconds)) for seconds in (0.0, None))
    check_rows(given, short, 1e-9)
    assert short.stats["rounds"] == 1
    assert short.value < full.value <= full.bound <= short.bound


def test_letters_that_do_not_depend_on_the_secret_are_published_at_no_cost():
    p = np.array([0.25, 0.75])
    found = pairs.solve(Problem(Cone(np.zeros((2, 2), int).astype(object)), p, Entropic()), Budget())
    assert found.rows.tolist() == [[1, 0], [0, 1]]


def test_the_letters_inside_are_priced_too(monkeypatch):
    """A letter that costs more than its own output is worth must raise the bound."""
    given = problem(jeffreys(20, 0), 1.0, "lip")
    honest = pairs.optimum(given)
    inside = int(np.flatnonzero((honest.slab.upper < 0) & (honest.slab.lower < 0))[0])
    stairs = pairs.staircase(given.masses, honest.slab)
    stairs.duals[inside] += 0.5
    monkeypatch.setattr(pairs, "staircase", lambda *_: stairs)
    assert pairs.optimum(given).bound >= honest.bound - given.masses[inside] * 0.5 + 0.5 - 1e-9


def test_too_many_vertices_to_list_is_said():
    with pytest.raises(SolverError, match="vertices, too many to list"):
        pairs.optimum(problem(jeffreys(4000, 0), 0.5, "lip", ChiSquare()))


def test_cones_that_are_no_slab_are_refused():
    joint = np.random.default_rng(0).dirichlet(np.ones(18)).reshape(3, 6)
    given = joint / joint.sum(axis=1, keepdims=True)
    A = given - np.exp(0.5) * joint.sum(axis=0)
    with pytest.raises(RequestError, match="bound one posterior"):
        pairs.solve(Problem(Cone(A), joint.sum(axis=0), Entropic()), Budget())
    assert Slab.of(Cone(A[:1]), joint.sum(axis=0)) is not None


def test_a_cone_without_the_constant_row_is_refused():
    with pytest.raises(SolverError, match="constant row"):
        pairs.optimum(Problem(Cone(np.array([[0.5, -0.1]])), np.array([0.5, 0.5]), Entropic()))


def test_conditions_that_never_bind_and_repeats_do_not_matter():
    joint = jeffreys(15, 2)
    plain = problem(joint, 0.4, "lip")
    more = np.concatenate(
        [plain.cone.A * [[3.0], [1e-6], [1.0], [7.0]], plain.cone.A, conditions(joint, 0.9, "ldp"), [-plain.masses]]
    )
    found = pairs.optimum(Problem(Cone(more), plain.masses, Entropic()))
    assert found.value == pytest.approx(pairs.optimum(plain).value, abs=1e-12)
