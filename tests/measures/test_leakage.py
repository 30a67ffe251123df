"""Leakage and utility against their literal sums, and the inequalities between them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import random_joint, random_matrix

import trechter as tr
from trechter.measures import entropy
from trechter.model.dense import DenseProtocol

CASES = (st.integers(0, 10**6), st.sampled_from([(2, 3), (3, 4), (2, 2, 3)]), st.sampled_from(["x", "sx"]))


def literal(joint, protocol):
    """p(s, x, y) cell by cell."""
    c, a = joint.p.shape
    table = np.zeros((c, a, len(protocol.matrix)))
    for s in range(c):
        for x in range(a):
            for y in range(table.shape[2]):
                table[s, x, y] = joint.p[s, x] * protocol.matrix[y, x if protocol.reads == "x" else s * a + x]
    return table


def information(table):
    """I of a two-way table, term by term."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    cells = [(i, j) for i in range(table.shape[0]) for j in range(table.shape[1]) if table[i, j] > 0]
    return sum(table[i, j] * math.log(table[i, j] / rows[i] / columns[j]) for i, j in cells)


@given(*CASES)
def test_against_the_literal_sums(seed, shape, reads):
    joint = random_joint(seed, *shape)
    n = joint.exact.shape[1] * (joint.exact.shape[0] if reads == "sx" else 1)
    protocol = DenseProtocol.from_matrix(random_matrix(seed, 4, n), joint, reads)
    table, found = literal(joint, protocol), tr.leakage(joint, protocol)
    s_y, x_y = table.sum(axis=1), table.sum(axis=0)
    assert tr.mutual_information(joint, protocol) == pytest.approx(information(x_y), abs=1e-12)
    assert found.information == pytest.approx(information(s_y), abs=1e-12)
    assert found.bayes_gain == pytest.approx(sum(s_y[:, y].max() for y in range(4)) / joint.p_s.max(), rel=1e-12)
    given_s = s_y / s_y.sum(axis=1, keepdims=True)
    assert found.maximal == pytest.approx(math.log(sum(given_s[:, y].max() for y in range(4))), abs=1e-12)
    posterior = s_y / s_y.sum(axis=0)
    assert found.posteriors == pytest.approx(np.stack([posterior.min(axis=1), posterior.max(axis=1)], axis=1))


@given(*CASES)
def test_inequalities(seed, shape, reads):
    """I(S;Y) ≤ maximal leakage ≤ LIP level; ln of the Bayes gain too; if S is not read, I(S;Y) ≤ I(X;Y)."""
    joint = random_joint(seed, *shape)
    n = joint.exact.shape[1] * (joint.exact.shape[0] if reads == "sx" else 1)
    protocol = DenseProtocol.from_matrix(random_matrix(seed, 4, n), joint, reads)
    found = tr.leakage(joint, protocol)
    assert found.information <= found.maximal + 1e-12
    assert found.maximal <= found.levels["lip"] + 1e-12
    assert math.log(found.bayes_gain) <= found.maximal + 1e-12
    if reads == "x":
        assert found.information <= tr.mutual_information(joint, protocol) + 1e-12


def test_extremes():
    joint = tr.Joint([[3, 1, 0], [1, 2, 3]])
    constant = DenseProtocol.from_matrix(np.ones((1, 3)), joint)
    identity = tr.design(joint, tr.LIP("inf")).protocol
    nothing, everything = tr.leakage(joint, constant), tr.leakage(joint, identity)
    assert (nothing.information, nothing.maximal, nothing.bayes_gain) == pytest.approx((0, 0, 1), abs=1e-15)
    assert list(nothing.levels.values()) == pytest.approx([0] * 4, abs=1e-15)
    assert everything.levels["lip"] == math.inf
    assert tr.mutual_information(joint, identity) == pytest.approx(entropy(joint.p_x))
    assert tr.mutual_information(joint, constant) == 0
