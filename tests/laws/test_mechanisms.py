"""Laws that every mechanism obeys by being registered: calibrated, certified, below the optimum of what it reads."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_joint
from tests.oracles import levels
from tests.oracles.exponential import exp

import trechter as tr
from trechter.mechanisms import MECHANISMS
from trechter.model.protocol import Protocol
from trechter.privacy import NOTIONS

SEEDS = st.integers(0, 10**6)
SHAPES = st.sampled_from([(2, 2), (2, 5), (3, 4), (4, 3), (2, 2, 2), (2, 3, 2)])
LEVELS = st.sampled_from(["0", "1e-6", "0.01", "0.3", "1", "2.5", "50", "inf"])
UNCALIBRATED = ("constant", "identity", "papers-product")


def made(name, joint, notion):
    """What the mechanism gives, or None where it says that it cannot reach the level."""
    try:
        return MECHANISMS[name](joint, notion)
    except tr.TrechterError as error:
        assert "level is between" in str(error)  # noqa: PT017
        return None


@settings(max_examples=60)
@given(SEEDS, SHAPES, st.sampled_from(sorted(NOTIONS)), LEVELS, st.sampled_from([0.0, 0.15, 0.4]))
@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_certified_and_calibrated(name, seed, shape, notion, eps, zeros):
    joint, notion = random_joint(seed, *shape, zeros=zeros), NOTIONS[notion](eps)
    result = made(name, joint, notion)
    if result is None:
        return
    certificate, protocol = result.certificate, result.protocol
    assert certificate.notion == notion.spec
    assert result.status == "heuristic"
    if name == "product":
        assert certificate.holds
    elif name not in UNCALIBRATED:
        assert certificate.holds
        if not math.isinf(result.stats["alpha"]):
            assert certificate.level == pytest.approx(notion.spec.exponent, abs=1e-9)
    elif name == "constant":
        assert certificate.level_exact == 1
    exact = levels.worst_ratio(notion.name, protocol.weights, joint.counts, protocol.reads)
    assert certificate.level_exact == exact
    assert certificate.holds == (notion.epsilon is None or (exact is not None and exact <= exp(notion.epsilon, 60)))
    assert 0 <= result.utility <= tr.design(joint, tr.LIP("inf")).utility + 1e-12
    assert result.utility == pytest.approx(
        levels.mutual_information(protocol.weights, joint.counts, protocol.reads), abs=1e-12
    )
    assert list(map(sum, protocol.weights.T.tolist())) == [2**protocol.bits] * protocol.weights.shape[1]


@settings(max_examples=15)
@given(SEEDS, SHAPES, st.sampled_from(sorted(NOTIONS)), st.sampled_from(["0", "0.1", "0.5", "2"]))
@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_never_above_the_optimum_of_its_input(name, seed, shape, notion, eps):
    joint, notion = random_joint(seed, *shape), NOTIONS[notion](eps)
    result = made(name, joint, notion)
    if result is None or not result.certificate.holds:
        return
    best = tr.design(joint, notion, reads=result.protocol.reads, time_limit=20)
    assert result.utility <= best.bound


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_saved_loaded_and_drawn_from(name, tmp_path):
    joint = tr.Joint(np.array([[9, 4, 2], [3, 5, 7]]), secret=("S", ["no", "yes"]), release={"X": ["a", "b", "c"]})
    result = MECHANISMS[name](joint, tr.LIP("0.7"))
    result.protocol.save(tmp_path / "protocol.json")
    again = Protocol.load(tmp_path / "protocol.json")
    assert again == result.protocol
    assert json.loads((tmp_path / "protocol.json").read_text())["promise"]["notion"] == "lip"
    assert result.protocol._repr_html_()


@pytest.mark.parametrize("name", sorted(MECHANISMS))
@pytest.mark.parametrize("arguments", [([[1, 2], [3, 4]], tr.LIP(1)), (tr.Joint([[1, 2], [3, 4]]), "lip")])
def test_what_is_no_joint_and_no_notion(name, arguments):
    with pytest.raises(tr.TrechterError, match="make one with tr"):
        MECHANISMS[name](*arguments)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_what_is_no_measure(name):
    with pytest.raises(tr.TrechterError, match="'bits' is no Measure; make one with tr"):
        MECHANISMS[name](tr.Joint([[1, 2], [3, 4]]), tr.LIP(1), measure="bits")


def spread(seed, shape):
    """Masses from one down to 1e-9."""
    draw = np.random.default_rng(seed)
    return tr.Joint(np.maximum((10.0 ** draw.uniform(0, 9, shape)).astype(int), 1))


@pytest.mark.parametrize("eps", ["1e-6", "1e-3", "1", "10", "50"])
@pytest.mark.parametrize("notion", ["lip", "ldp"])
@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - set(UNCALIBRATED)))
def test_tiny_masses_and_extreme_levels(name, notion, eps):
    for seed in range(3):
        joint, notion_ = spread(seed, (3, 6)), NOTIONS[notion](eps)
        result = MECHANISMS[name](joint, notion_)
        assert result.certificate.holds
        if not math.isinf(result.stats.get("alpha", math.inf)):
            assert result.certificate.level == pytest.approx(float(eps), abs=1e-9)
