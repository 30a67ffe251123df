"""The merge theorem against the same problem without merging."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trechter as tr
from trechter.measures import entropy
from trechter.optimal.design import make_problem
from trechter.optimal.merge import merged
from trechter.optimal.problem import Budget
from trechter.optimal.vertices import solve
from trechter.privacy import NOTIONS


def joint_with_copies(seed, c, kinds, copies):
    """Letters in groups: within a group p(s|x) is the same, p(x) is not."""
    draw = np.random.default_rng(seed)
    kind = draw.integers(1, 9, (c, kinds)) * (draw.random((c, kinds)) < 0.8) + np.eye(c, kinds, dtype=int)
    kind = kind[:, kind.sum(axis=0) > 0]
    columns = [kind[:, k] * draw.integers(1, 6) for k in range(kind.shape[1]) for _ in range(draw.integers(1, copies + 1))]
    return tr.Joint(np.array(columns).T[:, draw.permutation(len(columns))]), kind


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([2, 3]), st.sampled_from(["lip", "ldp"]), st.sampled_from(["0.05", "0.4", "1"]))
def test_same_optimum_and_still_private(seed, c, name, eps):
    joint, _ = joint_with_copies(seed, c, 3, 3)
    problem = make_problem(joint, NOTIONS[name](eps), tr.MutualInformation(), "x")
    small = merged(problem)
    if small is None:
        return
    whole, lifted = solve(problem, Budget()), small.lift(solve(small.problem, Budget()))
    assert lifted.bound == pytest.approx(whole.bound, abs=1e-9)
    assert lifted.rows.sum(axis=0) == pytest.approx(1, abs=1e-12)
    assert problem.phi(lifted.rows).sum() == pytest.approx(whole.bound, abs=1e-9)
    assert problem.cone.excess(lifted.rows).max() < 1e-9


def test_groups_are_found_and_only_they():
    joint = tr.Joint([[1, 2, 5, 0, 0], [2, 4, 1, 3, 7]])
    problem = make_problem(joint, tr.LIP("0.1"), tr.MutualInformation(), "x")
    small = merged(problem)
    assert small.group.max() == 2
    assert small.group[0] == small.group[1]
    assert small.group[3] == small.group[4]
    assert entropy(small.problem.masses) < entropy(problem.masses)
    assert merged(small.problem) is None


def test_where_the_theorem_does_not_apply():
    counts = np.array([[1, 2, 5], [2, 4, 1]])
    with_task = tr.Joint(np.stack([counts, counts[:, ::-1]], axis=2), task=("T", [0, 1]))
    assert merged(make_problem(with_task, tr.LIP("0.1"), tr.TaskInformation(), "x")) is None
    assert merged(make_problem(tr.Joint(counts), tr.LIP("0.1"), tr.MutualInformation(), "sx")) is None
    assert merged(make_problem(tr.Joint(counts), tr.LIP(0), tr.MutualInformation(), "x")) is None
