"""Laws that every notion obeys, over random joints and protocols."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import random_joint, random_matrix

import trechter as tr
from trechter.measures import posterior_range
from trechter.model.dense import DenseProtocol
from trechter.model.letters import letters
from trechter.privacy import NOTIONS, notion_from
from trechter.privacy import notion as module

SEEDS = st.integers(0, 10**6)
SHAPES = st.sampled_from([(2, 2), (2, 5), (3, 4), (5, 3), (2, 2, 2), (3, 2, 3)])
NAMES = sorted(NOTIONS)


def protocol_for(joint, seed, reads="x"):
    n = joint.exact.shape[1] * (joint.exact.shape[0] if reads == "sx" else 1)
    return DenseProtocol.from_matrix(random_matrix(seed, 3, n), joint, reads)


def level(name, protocol, joint):
    return NOTIONS[name]("inf").level(protocol, joint)


@given(SEEDS, SHAPES, st.sampled_from(["x", "sx"]))
def test_lemma_1(seed, shape, reads):
    """ε-LDP ⇒ ε-LIP ⇒ 2ε-LDP, ε-LIP ⇒ I(S;Y) ≤ ε, ε-SRLIP ⇒ ε-LIP, SRLDP ⇒ LDP, SRLDP ⇒ SRLIP."""
    joint = random_joint(seed, *shape)
    protocol = protocol_for(joint, seed + 1, reads)
    ldp, lip, srldp, srlip = (level(n, protocol, joint) for n in ("ldp", "lip", "srldp", "srlip"))
    slack = 1 + 1e-9
    assert lip <= ldp * slack
    assert ldp <= 2 * lip * slack
    assert tr.leakage(joint, protocol).information <= lip * slack
    assert lip <= srlip * slack
    assert ldp <= srldp * slack
    assert srlip <= srldp * slack


@given(SEEDS, SHAPES, st.sampled_from(NAMES), st.sampled_from(["x", "sx"]), st.sampled_from(["s", "x"]))
def test_cone_level_and_judge_agree(seed, shape, name, reads, protect):
    """Rows lie in the cone exactly at the levels that hold, and the judge, who shares no code, finds the same level."""
    joint = random_joint(seed, *shape)
    protocol = protocol_for(joint, seed + 1, reads)
    notion = NOTIONS[name]("inf", protect=protect)
    found = notion.level(protocol, joint)
    verdict = tr.certify(protocol, joint, notion)
    assert verdict.level == pytest.approx(found, rel=1e-9, abs=1e-12)
    if 1e-3 < found < 30:
        for factor, inside in ((1.001, True), (0.999, False)):
            asked = NOTIONS[name](found * factor, protect=protect)
            assert tr.certify(protocol, joint, asked).holds is inside
            excess = asked.cone(joint, reads).excess(protocol.matrix).max()
            assert bool(excess < 1e-12) is inside


@given(SEEDS, SHAPES, st.sampled_from(NAMES), st.sampled_from(["x", "sx"]))
def test_merging_outputs_and_processing_never_raise_the_level(seed, shape, name, reads):
    joint = random_joint(seed, *shape)
    protocol = protocol_for(joint, seed + 1, reads)
    merged = np.vstack([protocol.matrix[0] + protocol.matrix[1], protocol.matrix[2:]])
    processed = np.random.default_rng(seed).dirichlet(np.ones(4), 3).T @ protocol.matrix
    for matrix in (merged, processed):
        less = DenseProtocol.from_matrix(matrix, joint, reads)
        assert level(name, less, joint) <= level(name, protocol, joint) * (1 + 1e-9)
        assert tr.mutual_information(joint, less) <= tr.mutual_information(joint, protocol) + 1e-12


@given(SEEDS, SHAPES, st.sampled_from(["lip", "ldp"]))
def test_posteriors_stay_in_the_promised_range(seed, shape, name):
    """What `posterior_range` promises in words is what an attacker with the joint computes."""
    joint = random_joint(seed, *shape)
    protocol = protocol_for(joint, seed + 1)
    found = level(name, protocol, joint)
    if math.isinf(found):
        return
    promise = notion_from(NOTIONS[name](found).spec)
    leak = tr.leakage(joint, protocol)
    for prior, (low, high) in zip(leak.priors, leak.posteriors, strict=True):
        least, most = posterior_range(promise.spec, prior)
        assert least <= low + 1e-12
        assert high <= most + 1e-12


def test_promised_range_is_attained():
    """Power: for two secret values and the randomised response that meets the level, the range is met too."""
    joint = tr.Joint([[30, 0], [0, 70]])
    for name in ("lip", "ldp"):
        result = tr.design(joint, NOTIONS[name]("0.5"))
        low, high = posterior_range(result.certificate.notion, 0.3)
        found = tr.leakage(joint, result.protocol).posteriors[0]
        assert found[1] == pytest.approx(high, abs=1e-9) or found[0] == pytest.approx(low, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [-1, "-0.1", float("nan"), "nan", "high", None, True, [0.5]])
def test_levels_that_make_no_sense(name, bad):
    with pytest.raises(tr.TrechterError, match="ε"):
        NOTIONS[name](bad)


@pytest.mark.parametrize("name", NAMES)
def test_levels_are_taken_exactly(name):
    from decimal import Decimal
    from fractions import Fraction

    tenth = Fraction(1, 10)
    assert NOTIONS[name]("0.1").epsilon == NOTIONS[name](Decimal("0.1")).epsilon == NOTIONS[name](tenth).epsilon == tenth
    assert NOTIONS[name](0.1).epsilon == Fraction(0.1) != tenth
    assert NOTIONS[name](np.float64(0.5)).epsilon == NOTIONS[name]("1/2").epsilon == Fraction(1, 2)
    assert NOTIONS[name](np.int64(2)).epsilon == 2
    assert NOTIONS[name](float("inf")).epsilon is NOTIONS[name]("inf").epsilon is None


@pytest.mark.parametrize("name", NOTIONS)
def test_conditions_that_would_not_fit_are_refused(name, monkeypatch):
    joint = random_joint(1, 3, 2, 4)
    F, _ = NOTIONS[name](1).conditions(letters(joint, "x"))
    monkeypatch.setattr(module, "MOST_CELLS", F.size)
    assert tr.design(joint, NOTIONS[name](1)).certificate.holds
    monkeypatch.setattr(module, "MOST_CELLS", F.size - 1)
    with pytest.raises(tr.TrechterError, match="too many to write down; put values into bins"):
        tr.design(joint, NOTIONS[name](1))


def test_the_data_of_many_values_is_refused_before_the_memory_is_full():
    with pytest.raises(tr.TrechterError, match="1,438,800 conditions on 1,200 letters"):
        tr.design(tr.Joint(np.ones((2, 1200), int)), tr.LDP(1, protect="x"))
