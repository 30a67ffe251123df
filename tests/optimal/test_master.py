"""The restricted master against scipy's LP, and against solvers that lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from trechter.errors import SolverError
from trechter.optimal import lp
from trechter.optimal.master import Master, sift


def information(rows, masses):
    v = rows * masses
    return np.where(v > 0, v * np.log(np.where(v > 0, rows, 1)), 0).sum(axis=1)


def columns(seed, n, k, tiny=0.0):
    """Random sparse columns, the constant row first."""
    rng = np.random.default_rng(seed)
    masses = rng.dirichlet(np.full(n, 0.5)) + tiny
    masses /= masses.sum()
    v = rng.dirichlet(np.full(n, 0.1), size=k)
    v[v < 1e-3] = 0
    rows = np.vstack([np.ones(n), v / v.sum(axis=1, keepdims=True) / masses])
    return rows, information(rows, masses), masses


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(0, 200))
def test_it_agrees_with_another_lp_solver(seed, n, k):
    rows, values, masses = columns(seed, n, k, 1e-4)
    master = Master(masses)
    master.add(rows, values)
    weights = master.solve()
    other = linprog(-values, A_eq=(rows * masses).T, b_eq=masses, method="highs-ipm")
    assert weights.value == pytest.approx(-other.fun, abs=1e-7)
    assert np.all(weights.theta >= 0)
    assert np.max(np.abs(weights.theta @ rows - 1)) < 1e-9
    assert np.max(values - rows @ weights.duals) < 1e-8
    assert weights.duals.sum() == pytest.approx(weights.value, abs=1e-8)


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6))
def test_adding_columns_in_parts_ends_where_adding_all_does(seed):
    rows, values, masses = columns(seed, 8, 120, 1e-4)
    parts, whole = Master(masses), Master(masses)
    for part in np.array_split(np.arange(len(rows)), 4):
        parts.add(rows[part], values[part])
        last = parts.solve().value
    whole.add(rows, values)
    assert last == pytest.approx(whole.solve().value, abs=1e-9)


def test_sifting_a_long_list_finds_its_optimum():
    rows, values, masses = columns(5, 30, 20_000, 1e-4)
    weights = sift(rows, values, masses)
    other = linprog(-values, A_eq=(rows * masses).T, b_eq=masses, method="highs")
    assert weights.value == pytest.approx(-other.fun, abs=1e-7)
    assert np.max(np.abs(weights.theta @ rows - 1)) < 1e-9
    assert np.max(values - rows @ weights.duals) < 1e-8


def test_columns_of_any_scale_are_the_same_column():
    rows, values, masses = columns(3, 6, 40, 1e-4)
    scale = np.geomspace(1e-6, 1e6, len(rows))
    one, other = Master(masses), Master(masses)
    one.add(rows, values)
    other.add(rows * scale[:, None], values * scale)
    assert one.solve().value == pytest.approx(other.solve().value, abs=1e-9)
    assert np.allclose(other.rows @ masses, 1)


def test_letters_of_tiny_mass_are_met_as_well():
    rows, _, masses = columns(3, 6, 40, 1e-4)
    masses[0] = 1e-9
    weights = sift(rows, information(rows, masses), masses)
    assert np.max(np.abs(weights.theta @ (rows / (rows @ masses)[:, None]) - 1)) < 1e-9


def test_columns_that_cannot_make_a_protocol_are_an_error():
    master = Master(np.array([0.5, 0.5]))
    master.add(np.array([[2.0, 0.0]]), np.array([0.3]))
    with pytest.raises(SolverError, match="constant row"):
        master.solve()


@pytest.mark.parametrize(("row", "value"), [([0, 0], 1), ([1, np.nan], 1), ([1, 1], np.inf)])
def test_columns_that_are_none_are_an_error(row, value):
    with pytest.raises(SolverError, match="not finite"):
        Master(np.array([0.5, 0.5])).add(np.array([row], float), np.array([value], float))


def test_a_solver_that_has_not_solved_is_caught(monkeypatch):
    rows, values, masses = columns(1, 5, 50, 1e-4)
    master = Master(masses)
    master.add(rows, values)
    monkeypatch.setattr(lp, "run", lambda highs: lp.OPTIMAL)
    with pytest.raises(SolverError, match=r"basi[sc]"):
        master.solve()


def test_a_solver_that_stops_short_of_the_optimum_is_caught(monkeypatch):
    rows, values, masses = columns(1, 5, 50, 1e-4)
    master = Master(masses)
    master.add(rows[:1], values[:1])
    master.solve()
    master.add(rows[1:], values[1:])  # the basis is still feasible, and no longer optimal
    monkeypatch.setattr(lp, "run", lambda highs: lp.OPTIMAL)
    with pytest.raises(SolverError, match="best reduced cost"):
        master.solve()
