"""What a candidate is accepted by, and what its certificate says, is one answer: also where ε is the level to ten digits."""

from fractions import Fraction

import numpy as np
import pytest

import trechter as tr
from trechter.audit import certify, keeps
from trechter.sets import KINDS


@pytest.mark.parametrize("notion", [tr.LDP(1), tr.LIP(1)], ids=str)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_what_is_kept_is_certified(kind, notion):
    joint = tr.Joint(np.random.default_rng(3).integers(5, 60, (2, 3)))
    protocol = tr.grr(joint, tr.LDP("0.4")).protocol
    level, answers = tr.worst_case_level(protocol, joint, notion, over=kind()), []
    for beyond in (-1e-6, -1e-11, 0, 1e-11, 1e-6):
        robust = tr.Robust(notion.at(Fraction(level + beyond)), over=kind())
        kept = keeps(protocol.integers, "x", joint, robust.spec)
        answers.append(kept)
        assert certify(protocol, joint, robust).holds or not kept
    assert answers[0] is False
    assert answers[-1] is True
