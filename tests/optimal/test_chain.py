"""The chain rule: its slices are the conditional problems, its bound is above every optimum and below saying all."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tests.conftest import random_joint

import trechter as tr
from trechter.optimal import auto, chain, columns
from trechter.optimal.design import make_problem
from trechter.optimal.problem import Budget, Solution

NOTIONS = [tr.SRLIP, tr.SRLDP, tr.LIP]


def problem_of(joint, notion):
    return make_problem(joint, notion, tr.MutualInformation(), "x")


def given(joint, axis, value):
    """The joint of those who have this value of an attribute."""
    return tr.Joint(np.take(joint.counts, [value], axis=1 + axis))


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("seed", range(5))
def test_above_the_optimum_and_below_everything(notion, seed):
    joint = random_joint(seed, 2, 2, 3)
    problem = problem_of(joint, notion("0.4"))
    optimum = tr.design(joint, notion("0.4"))
    everything = tr.design(joint, tr.LIP("inf")).utility
    bound, _ = chain.bound(problem, Budget(1e-7, 20), auto.solve)
    assert optimum.utility <= bound <= everything + 1e-6
    if notion is not tr.LIP:
        assert bound < everything - 0.01  # it says more than that X has an entropy


@pytest.mark.parametrize("seed", range(5))
def test_each_term_is_what_it_says(seed):
    """OPT(Xʲ) is the optimum for a task column that is Xʲ, and the slices that of those who know Xʲ."""
    counts = random_joint(seed, 2, 2, 3).counts
    task = np.stack([np.where(np.arange(2)[None, :, None] == v, counts, 0) for v in range(2)], axis=-1)
    problem = problem_of(tr.Joint(counts), tr.SRLIP("0.4"))
    said = tr.design(tr.Joint(task, task=("T", [0, 1])), tr.SRLIP("0.4"), measure=tr.TaskInformation()).utility
    assert auto.solve(chain.about(problem, problem.parts[0]), Budget(1e-8)).bound == pytest.approx(said, abs=1e-6)
    joint = tr.Joint(counts)
    known = [tr.design(given(joint, 0, v), tr.SRLIP("0.4")).utility * counts[:, v].sum() / counts.sum() for v in range(2)]
    assert chain.inside(problem, problem.parts[0], Budget(1e-8, 20), auto.solve) == pytest.approx(sum(known), abs=1e-6)


@pytest.mark.parametrize("notion", [tr.SRLIP, tr.SRLDP])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_slice_is_the_conditional_problem(notion, axis):
    joint = random_joint(7, 3, 2, 3, zeros=0)
    problem = problem_of(joint, notion("0.5"))
    for value in range(joint.shape[1 + axis]):
        part = chain.slice_of(problem, problem.parts[axis] == value)
        expected = tr.design(given(joint, axis, value), notion("0.5")).utility
        assert auto.solve(part, Budget(1e-8)).bound == pytest.approx(expected, abs=1e-6)


def test_slices_in_slices():
    joint = random_joint(1, 2, 2, 2, 3)
    problem = problem_of(joint, tr.SRLIP("0.5"))
    part = chain.slice_of(problem, problem.parts[0] == 0)
    assert len(problem.parts) == 3
    assert len(part.parts) == 2
    assert chain.slice_of(part, part.parts[0] == 1).parts == ()


def lazy(problem, budget, give_up=None):
    """A solver that says nothing and proves nothing."""
    n = problem.cone.dimension
    return Solution(np.ones((1, n)), float(problem.phi(np.eye(n)).sum()), "lazy", {})


def test_asked_only_when_the_gap_is_open():
    joint = random_joint(2, 2, 3, 3)
    problem = problem_of(joint, tr.SRLIP("0.3"))
    bounded = chain.solve(problem, Budget(1e-6, 10), lazy, auto.solve)
    assert bounded.stats["bounded"].startswith("by slices of attribute")
    assert tr.design(joint, tr.SRLIP("0.3")).utility <= bounded.bound < lazy(problem, Budget()).bound
    for budget in (Budget(10, 10), Budget(1e-6)):  # it is near enough; there is no limit to keep
        assert "bounded" not in chain.solve(problem, budget, lazy, auto.solve).stats
    solved = chain.solve(problem, Budget(1e-6, 30), columns.solve, auto.solve)
    assert "bounded" not in solved.stats


def test_a_stop_is_obeyed():
    budget = Budget(1e-6, 100)
    budget.stopped.set()
    problem = problem_of(random_joint(2, 2, 3, 3), tr.SRLIP("0.3"))
    assert "bounded" not in chain.solve(problem, budget, lazy, auto.solve).stats


def test_the_whole_is_given_up_only_when_it_is_far():
    """With the gap still wide after its share of the time the slices follow; else it may use all of it."""
    problem, asked = problem_of(random_joint(2, 2, 3, 3), tr.SRLIP("0.3")), []

    def whole(problem, budget, give_up):
        time.sleep(0.7)
        asked.extend([give_up(1.0, 1.2), give_up(1.0, 1.01)])
        return lazy(problem, budget)

    chain.solve(problem, Budget(1e-6, 1), whole, auto.solve)
    assert asked == [True, False]
