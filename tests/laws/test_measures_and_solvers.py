"""Laws that every measure and every solver obeys by being registered: certified, bounded, and the same answer by every way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_joint

import trechter as tr
from trechter.errors import RequestError
from trechter.measures import MEASURES
from trechter.optimal.auto import SOLVERS

SEEDS = st.integers(0, 10**6)
SHAPES = st.sampled_from([(2, 4), (3, 3)])
NOISE = 1e-9


def with_task(seed, *shape):
    """A random joint whose last axis is a task column."""
    return tr.Joint(random_joint(seed, *shape, 3).counts, task=("T", ["a", "b", "c"]))


def designed(joint, notion, measure, solver):
    """The design, or None where the solver says that it is for other problems."""
    try:
        return tr.design(joint, notion, measure=measure, solver=solver)
    except RequestError as error:
        assert f"solver {solver!r}" in str(error)  # noqa: PT017
        return None


@settings(max_examples=4)
@given(
    st.integers(0, 10**6), st.sampled_from([(2, 4), (3, 3)]), st.sampled_from([tr.LIP, tr.LDP]), st.sampled_from(["0.3", "1"])
)
@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_every_way_to_an_optimum_gives_the_same(name, solver, seed, shape, notion, eps):
    joint, notion, measure = with_task(seed, *shape), notion(eps), MEASURES[name]()
    best, found = tr.design(joint, notion, measure=measure), designed(joint, notion, measure, solver)
    if found is None:
        return
    sign = -1 if measure.less_is_better else 1
    assert found.certificate.holds
    assert best.status == found.status == "optimal"
    assert found.utility == measure.utility(joint, found.protocol)
    for one, other in ((best, found), (found, best)):
        assert sign * one.utility <= sign * other.bound + NOISE


@settings(max_examples=10)
@given(SEEDS, SHAPES, st.sampled_from(["0", "0.3", "1", "inf"]))
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_no_mechanism_passes_the_bound_of_any_measure(name, seed, shape, eps):
    joint, notion, measure = with_task(seed, *shape), tr.LIP(eps), MEASURES[name]()
    best, sign = tr.design(joint, notion, measure=measure), -1 if measure.less_is_better else 1
    for make in (tr.constant, tr.grr, tr.oue):
        assert sign * make(joint, notion, measure=measure).utility <= sign * best.bound + NOISE
    assert sign * tr.constant(joint, notion, measure=measure).utility <= sign * best.utility + NOISE


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_some_solver_is_for_every_measure(name):
    joint = with_task(1, 2, 4)
    assert any(designed(joint, tr.LIP(1), MEASURES[name](), solver) for solver in SOLVERS)
