"""Delivery: whatever a solver claims, what comes out is certified, and costs no more than it must."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import random_joint, random_matrix

import trechter as tr
from trechter.finish import deliver
from trechter.finish.explain import explain
from trechter.model.outputs import Mixture
from trechter.privacy import NOTIONS


@given(st.integers(0, 10**6), st.sampled_from([(2, 3), (3, 4), (2, 2, 2)]), st.sampled_from(sorted(NOTIONS)))
def test_even_lies_are_repaired(seed, shape, name):
    """Rows that are not private at all come back private."""
    joint = random_joint(seed, *shape)
    notion = NOTIONS[name]("0.1")
    protocol, stats = deliver(random_matrix(seed, 5, joint.exact.shape[1]), joint, notion.spec, "x")
    assert tr.certify(protocol, joint, notion).holds
    assert 0 <= stats["mixed"] <= 1


def test_small_violations_cost_little():
    """A solver that is off by 1e-9 costs about 1e-9 of utility, not more."""
    joint = random_joint(3, 2, 5)
    result = tr.design(joint, tr.LIP("0.5"))
    draw = np.random.default_rng(0)
    noisy = result.protocol.matrix * (1 + 1e-9 * draw.standard_normal(result.protocol.matrix.shape))
    protocol, stats = deliver(noisy / noisy.sum(axis=0), joint, tr.LIP("0.5").spec, "x")
    assert tr.certify(protocol, joint, tr.LIP("0.5")).holds
    assert 0 < stats["mixed"] < 1e-6
    assert tr.mutual_information(joint, protocol) > result.utility - 1e-6


def test_nearly_empty_outputs_are_merged():
    """An output of mass 1e-17 would void the worst case; it does not survive."""
    joint = tr.Joint([[5, 3, 2], [1, 4, 5]])
    matrix = np.vstack([np.full((1, 3), 0.6), np.full((1, 3), 0.4), [[1e-17, 0, 0]]])
    protocol, _ = deliver(matrix, joint, tr.LIP("0.5").spec, "x")
    assert len(protocol.weights) == 2
    assert tr.certify(protocol, joint).level < 1e-12


@given(st.integers(0, 10**6), st.sampled_from([(2, 5), (3, 5), (4, 6)]), st.sampled_from(["lip", "ldp"]))
def test_outputs_are_one_of_few_values(seed, shape, name):
    """A vertex has a support of at most c values, and the output says which, with their posterior odds."""
    joint = random_joint(seed, *shape)
    protocol = tr.design(joint, NOTIONS[name]("0.3")).protocol
    posterior = protocol.matrix * joint.p_x / (protocol.matrix @ joint.p_x)[:, None]
    for y, output in enumerate(protocol.outputs):
        if isinstance(output, Mixture):
            assert len(output.values) <= shape[0]
            assert [posterior[y, v] for v in output.values] == pytest.approx(output.odds, abs=1e-4)
        else:
            assert posterior[y, output] > 1 - 1e-6


def test_labels_are_short_and_all_different():
    joint = tr.Joint(np.ones((2, 6), int), release={"X": list("abcdef")})
    matrix = np.array([[0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.25] * 6, [0.25, 0.25, 0.25, 0.25, 0.2, 0.25], [0, 0, 0, 0, 0.05, 0]])
    outputs, released = explain(matrix, joint, "x")
    assert released == ("Y",)
    assert [o if isinstance(o, str) else o.label for o in outputs] == [
        "a 17% | b 17% | c 17% | d 17% | …",
        "a 17% | b 17% | c 17% | d 17% | … #2",
        "a 17% | b 17% | c 17% | d 17% | … #3",
        "e",
    ]
