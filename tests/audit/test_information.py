"""I(S;Y) in balls: against floats, against analytic values, and what only exact arithmetic can decide."""

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.conftest import random_joint, random_matrix

import trechter as tr
from trechter.audit.information import keeps_at_least, leaks_at_most, secret_information
from trechter.model.dense import DenseProtocol


def protocol(joint, matrix, bits=48):
    return DenseProtocol.from_matrix(np.asarray(matrix, float), joint, bits=bits)


@pytest.mark.parametrize("seed", range(10))
def test_as_floats_have_it(seed):
    joint = random_joint(seed, 2 + seed % 3, 4)
    made = protocol(joint, random_matrix(seed, 3, 4))
    low, high = secret_information(made, joint)
    p_sy = joint.p @ made.matrix.T
    literal = math.fsum(t * math.log(t / (a * b)) for t, a, b in _terms(p_sy) if t)
    assert low < high <= low + 1e-14
    assert literal == pytest.approx(low, abs=1e-12)


def _terms(p):
    return [(p[s, y], p[s].sum(), p[:, y].sum()) for s in range(p.shape[0]) for y in range(p.shape[1])]


def test_what_does_not_depend_on_the_secret_has_exactly_none():
    joint = tr.Joint([[1, 2, 3], [2, 4, 6]])
    made = protocol(joint, random_matrix(0, 3, 3))
    assert secret_information(made, joint) == (0.0, 0.0)
    assert leaks_at_most(made, joint, Fraction(0))
    assert keeps_at_least(made, joint, Fraction(0))


def test_a_unit_in_the_last_of_forty_digits_is_told_apart():
    joint = tr.Joint([[1, 0], [0, 1]])
    made = protocol(joint, np.eye(2), bits=1)
    ln2 = Fraction("0.6931471805599453094172321214581765680755")  # rounded to 40 digits: ln 2 = …0755001…
    assert secret_information(made, joint)[0] <= math.log(2) <= secret_information(made, joint)[1]
    assert not leaks_at_most(made, joint, ln2)
    assert leaks_at_most(made, joint, ln2 + Fraction(1, 10**40))
    assert keeps_at_least(made, joint, ln2)
    assert not keeps_at_least(made, joint, ln2 + Fraction(1, 10**40))


def test_a_weight_that_is_off_by_one_in_2_to_the_60_is_seen():
    joint = tr.Joint([[1, 1], [1, 1]])
    assert leaks_at_most(protocol(joint, [[0.5, 0.5], [0.5, 0.5]]), joint, Fraction(0))
    joint = tr.Joint([[1, 2], [2, 1]])
    weights = np.array([[1 << 59, (1 << 59) + 1], [1 << 59, (1 << 59) - 1]])
    off = DenseProtocol(weights, 60, (0, 1), joint.secret, joint.release)
    assert not leaks_at_most(off, joint, Fraction(0))
    assert secret_information(off, joint)[1] > 0
