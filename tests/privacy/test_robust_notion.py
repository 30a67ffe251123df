"""Robust notions: what they are at the ends, what they obey, what they refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sets.members import members

import trechter as tr
from trechter.privacy import NOTIONS, notion_from
from trechter.sets import KINDS

COUNTS = np.array([[9, 3, 11, 7], [4, 6, 9, 2], [8, 1, 0, 13]])


def release(joint, epsilon="0.7"):
    return tr.grr(joint, tr.LDP(epsilon)).protocol


@pytest.mark.parametrize("notion", [*(NOTIONS[name]("0.5") for name in ("ldp", "lip")), tr.LDP(1, protect="x")], ids=str)
def test_a_set_of_one_point_asks_for_the_plain_level(notion):
    joint = tr.Joint(COUNTS + 1)
    robust = tr.Robust(notion, over=tr.ChiSquare(radius=0))
    assert robust.level(release(joint), joint) == pytest.approx(notion.level(release(joint), joint), abs=1e-9)


@pytest.mark.parametrize("name", ["ldp", "lip", "srldp", "srlip"])
def test_every_notion_can_be_asked_for_over_a_set(name):
    joint = tr.Joint(np.random.default_rng(0).integers(20, 60, (2, 2, 3)))
    protocol, plain = tr.grr(joint, tr.LDP(1)).protocol, NOTIONS[name](1)
    robust = tr.Robust(plain, over=tr.ChiSquare())
    worst = robust.level(protocol, joint)
    assert worst > plain.level(protocol, joint)
    for P in members(tr.ChiSquare().around(joint), 30, np.random.default_rng(1)):
        assert plain.level(protocol, tr.Joint(P.reshape(joint.shape))) <= worst + 1e-9


@settings(max_examples=5, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=6, max_size=6), st.floats(0.001, 0.5), st.floats(1.0, 5.0))
def test_a_larger_set_is_no_better(counts, radius, times):
    joint = tr.Joint(np.reshape(counts, (2, 3)))
    small, large = (
        tr.Robust(tr.LDP(1), over=tr.ChiSquare(radius=r)).level(release(joint), joint) for r in (radius, radius * times)
    )
    assert small <= large + 1e-9


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_promise_can_be_written_down_and_read(kind):
    robust = tr.Robust(tr.LIP("1/3"), over=kind(alpha="0.1"))
    again = notion_from(type(robust.spec).from_json(robust.spec.to_json()))
    assert again == robust
    assert again.at("0.2").spec.over == robust.spec.over
    assert kind.name in repr(robust)


def test_what_a_robust_notion_refuses():
    empty = tr.Joint([[5, 9, 2], [0, 0, 0], [7, 1, 4]], secret=("illness", ["no", "rare", "yes"]))
    robust = tr.Robust(tr.LDP("0.5"), over=tr.ChiSquare())
    with pytest.raises(tr.TrechterError, match="illness = 'rare' never occurs"):
        robust.among(empty, "x")
    with pytest.raises(tr.TrechterError, match="PlainNotion"):
        tr.Robust(robust, over=tr.ChiSquare())
    with pytest.raises(tr.TrechterError, match="ChiSquare"):
        tr.Robust(tr.LDP(1), over=0.05)
    unseen = tr.Joint([[5, 9, 0], [3, 2, 0]])  # a value of x that never occurred is allowed
    assert tr.Robust(tr.LDP("0.5"), over=tr.ChiSquare()).among(unseen, "x").letters == 3
