"""Column generation against listing everything; whatever stops it, there is a protocol and a true bound."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from tests.optimal.cases import CURVES, about, ldp, lip, random_problem

import trechter as tr
from trechter.errors import SolverError, TrechterWarning
from trechter.optimal import columns, relaxation, vertices
from trechter.optimal.problem import Budget

GAP = 1e-7
LONG = {25, 55}  # tens of thousands of rays: columns take a second there, listing them a minute


def checked(problem, solution):
    """What a solution is worth, once its rows are known to be a protocol in the cone."""
    assert np.abs(solution.rows.sum(axis=0) - 1).max() < 1e-9
    assert solution.rows.min() >= 0
    assert problem.cone.excess(solution.rows).max() < 1e-9
    return float(problem.phi(solution.rows).sum())


@pytest.mark.parametrize("seed", sorted(set(range(60)) - LONG))
def test_as_good_as_all_vertices(seed):
    what, problem = random_problem(seed)
    best = vertices.solve(problem, Budget())
    found = columns.solve(problem, Budget(GAP))
    utility = checked(problem, found)
    assert utility <= found.bound <= utility + GAP + 1e-11, what
    assert utility == pytest.approx(float(problem.phi(best.rows).sum()), abs=2 * GAP), what
    assert found.bound >= float(problem.phi(best.rows).sum()) - 1e-10, what


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
@pytest.mark.parametrize("task", [False, True])
def test_every_measure(curve, task):
    for seed in range(6):
        problem = (lip if seed % 2 else ldp)(seed, 3, 7, 0.5, curve)
        problem = about(problem, seed) if task else problem
        best, found = vertices.solve(problem, Budget()), columns.solve(problem, Budget(GAP))
        assert checked(problem, found) == pytest.approx(float(problem.phi(best.rows).sum()), abs=2 * GAP)
        assert found.bound >= float(problem.phi(best.rows).sum()) - 1e-10


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.4])
def test_any_time_limit_gives_a_protocol_and_a_true_bound(seconds):
    problem = ldp(0, 6, 30, 0.5)
    best = columns.solve(problem, Budget(1e-4))
    found = columns.solve(problem, Budget(1e-9, seconds))
    utility = checked(problem, found)
    assert utility <= float(problem.phi(best.rows).sum()) + 1e-4
    assert found.bound >= float(problem.phi(best.rows).sum())
    assert found.stats["stopped"] == "time limit"


def hard():
    """Minutes of branch and bound."""
    return tr.Joint(np.random.default_rng(0).dirichlet(np.full(400, 0.5)).reshape(8, 50))


def test_ctrl_c_gives_the_best_so_far_within_two_seconds():
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(4, press).start()
    result = tr.design(hard(), tr.LDP("0.5"), gap=1e-9)
    assert time.monotonic() - pressed[0] < 2
    assert result.status == "gap"
    assert result.stats["stopped"] == "interrupted"
    assert result.certificate.holds
    assert 0 < result.utility < result.bound


def test_progress_falls_and_is_true():
    heard = []
    result = tr.design(hard(), tr.LDP("0.5"), gap=1e-9, time_limit=6, progress=heard.append)
    assert len(heard) >= 4
    bounds, utilities = ([known[name] for known in heard] for name in ("bound", "utility"))
    assert bounds == sorted(bounds, reverse=True)
    assert utilities == sorted(utilities)
    assert result.bound <= bounds[-1] + 1e-9
    assert all(known["gap"] == pytest.approx(known["bound"] - known["utility"]) for known in heard)


def test_a_hint_is_no_worse():
    joint = tr.Joint(np.random.default_rng(1).dirichlet(np.full(60, 0.5)).reshape(4, 15))
    first = tr.design(joint, tr.LDP("0.4"), solver="columns")
    again = tr.design(joint, tr.LDP("0.5"), solver="columns", like=first)
    assert again.utility == pytest.approx(tr.design(joint, tr.LDP("0.5")).utility, abs=1e-6)


class Lying:
    """Relaxations whose points are off: what the solver calls optimal is not."""

    def __init__(self, monkeypatch, after, shift):
        self.calls, plain = 0, relaxation.Relaxation.solve

        def solve(model, *arguments):
            point, multipliers, basis = plain(model, *arguments)
            self.calls += 1
            return (point + shift if self.calls > after else point), multipliers, basis

        monkeypatch.setattr(relaxation.Relaxation, "solve", solve)


def test_a_solver_that_lies_from_the_start_raises(monkeypatch):
    Lying(monkeypatch, 0, 0.01)
    with pytest.raises(SolverError, match="infeasible or not optimal"):
        columns.solve(lip(0, 4, 12, 0.5), Budget())


def test_a_solver_that_begins_to_lie_leaves_what_is_known(monkeypatch):
    problem = ldp(0, 5, 20, 0.5)
    best = vertices.solve(problem, Budget())
    Lying(monkeypatch, 45, 0.01)
    with pytest.warns(TrechterWarning, match="stopped early"):
        found = columns.solve(problem, Budget(1e-9))
    assert checked(problem, found) <= float(problem.phi(best.rows).sum()) + 1e-9 <= found.bound + 2e-9
    assert "failed" in found.stats


def test_multipliers_that_lie_cannot_make_a_bound_wrong(monkeypatch):
    """Bounds hold for any multipliers: random ones make them weak, or are noticed."""
    problem, plain, rng = lip(0, 4, 12, 0.5), relaxation.Relaxation.solve, np.random.default_rng(0)
    optimum = float(problem.phi(vertices.solve(problem, Budget()).rows).sum())
    monkeypatch.setattr(relaxation, "LIE", np.inf)

    def solve(model, *arguments):
        point, multipliers, basis = plain(model, *arguments)
        return point, multipliers + rng.standard_normal(len(multipliers)), basis

    monkeypatch.setattr(relaxation.Relaxation, "solve", solve)
    found = columns.solve(problem, Budget(1e-6, 1.0))
    assert found.bound >= optimum - 1e-10
    assert checked(problem, found) <= optimum + 1e-9


def test_a_secret_of_tiny_mass_is_protected_all_the_same():
    counts = np.random.default_rng(3).integers(1, 10**8, (5, 12))
    counts[2] = 0
    counts[2, [1, 7]] = 1
    joint = tr.Joint(counts)
    for notion in (tr.LIP("0.5"), tr.LDP("0.5")):
        result = tr.design(joint, notion, solver="columns")
        assert result.certificate.holds
        assert result.utility == pytest.approx(tr.design(joint, notion, solver="vertices").utility, abs=2e-6)


def test_the_answer_does_not_depend_on_the_machine():
    problem = ldp(0, 5, 20, 0.5)
    first, second = (columns.solve(problem, Budget(1e-4)) for _ in range(2))
    assert np.array_equal(first.rows, second.rows)
    assert first.bound == second.bound


def test_something_is_said_at_once():
    """Long before columns are priced there is a protocol that says something, whatever the size."""
    joint = tr.Joint(np.random.default_rng(0).dirichlet(np.full(1000, 0.5)).reshape(10, 100))
    result = tr.design(joint, tr.LDP("0.5"), time_limit=0.01)
    assert result.utility > 0.1
    assert result.certificate.holds


def test_many_letters_are_not_listed_first():
    joint = tr.Joint(np.random.default_rng(0).dirichlet(np.full(9000, 0.5)).reshape(3, 3000))
    result = tr.design(joint, tr.LIP("0.5"), time_limit=0.5)
    assert result.seconds < 30  # listing began with millions of pairs, and took minutes
    assert result.certificate.holds
