"""Ctrl-C and time limits where single steps take long: whoever climbs asks at every vertex whether to go on."""

import numpy as np
import pytest

import trechter as tr
from trechter.optimal import ascent
from trechter.optimal.ascent import climb
from trechter.optimal.columns import Run
from trechter.optimal.design import make_problem
from trechter.optimal.problem import Budget


@pytest.fixture
def run():
    """Column generation for nine letters, with the corners as its first columns."""
    counts = np.random.default_rng(3).integers(1, 60, (4, 9))
    run = Run(make_problem(tr.Joint(counts), tr.LDP("0.3"), tr.MutualInformation(), "x"), Budget())
    yield run
    run.close()


def visited(monkeypatch):
    """The vertices whose neighbours are looked at, as they come."""
    seen, look = [], ascent.neighbours

    def looking(space, vertex, prices):
        seen.append(vertex)
        return look(space, vertex, prices)

    monkeypatch.setattr(ascent, "neighbours", looking)
    return seen


def test_a_climb_ends_when_it_is_late(run, monkeypatch):
    seen = visited(monkeypatch)
    run.to_the_end()
    everywhere = list(dict.fromkeys(seen))
    assert len(everywhere) > 20
    prices = np.zeros(run.space.size)
    for allowed in (0, 1, 5):
        seen.clear()
        climb(run.space, everywhere, prices, 1e-6, lambda most=allowed: len(seen) >= most)
        assert len(seen) == allowed


def test_a_stop_is_heard_within_a_vertex(run, monkeypatch):
    """Wherever in the search it comes, hardly a vertex is looked at afterwards, and what is known is still a protocol."""
    seen = visited(monkeypatch)
    look = ascent.neighbours

    def stopping(space, vertex, prices):
        if len(seen) == 10:
            run.budget.stopped.set()
        return look(space, vertex, prices)

    monkeypatch.setattr(ascent, "neighbours", stopping)
    run.to_the_end()
    assert len(seen) == 11
    assert run.solution().rows.sum(axis=0) == pytest.approx(np.ones(9))
