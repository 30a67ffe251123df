"""Priv(Q): against sums of draws, quadrature, the list of a unary encoding's outputs, and what must hold of it."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import digamma as psi
from scipy.stats import beta as beta_law
from tests.conftest import random_joint, random_matrix

import trechter as tr
from trechter.measures import linear_forms
from trechter.measures.dirichlet import Dirichlet
from trechter.measures.linear_forms import LinearForms
from trechter.mechanisms.grr import randomised_response
from trechter.model.dense import DenseProtocol
from trechter.model.unary import UnaryProtocol

SEEDS = st.integers(0, 10**6)
SHARES = st.integers(0, 2**10)
BETAS = st.sampled_from([0.4, 1.0, 7.0, 300.0])


def joint(a):
    return tr.Joint(np.ones((2, a), int))


def protocol(matrix):
    """A matrix as a protocol on as many values."""
    return DenseProtocol.from_matrix(matrix, joint(len(matrix[0])))


def grr(a, alpha):
    E = math.exp(alpha)
    return protocol(((E - 1) * np.eye(a) + 1) / (E + a - 1))


def bits(a, p, q, places=10):
    own = joint(a)
    return UnaryProtocol(p, q, places, own.secret, own.release)


def betas(seed, a, around=1.0):
    return np.random.default_rng(seed).uniform(0.3, 2, a) * around


def test_the_number_of_the_poster():
    assert tr.priv(grr(3, 1.5)).value == pytest.approx(0.76443, abs=5e-6)
    assert tr.priv(grr(3, 1.5)).error == 0
    assert Dirichlet(np.ones(3)).entropy == pytest.approx(5 / 6, abs=1e-14)


def test_the_ends():
    assert tr.priv(protocol(np.eye(4))).value == pytest.approx(0, abs=1e-13)
    assert tr.priv(protocol(np.ones((1, 4)))).value == 1
    assert tr.priv(protocol(np.vstack([0.25 * np.eye(3), 0.75 * np.ones((1, 3))]))).value == pytest.approx(0.75, abs=1e-13)
    assert tr.priv(bits(5, 512, 0)).value == pytest.approx(0.5, abs=1e-14)
    assert tr.priv(bits(5, 300, 300)).value == 1


@pytest.mark.parametrize("one", [0.2, 1.0, 3.0, 40.0])
@pytest.mark.parametrize("two", [0.7, 9.0])
def test_two_values_by_quadrature_of_the_definition(one, two):
    """The densities of P are integrated; nothing of the gamma representation is used."""
    Q = random_matrix(7, 4, 2)

    def average(f):
        law = beta_law(one, two)
        middle = law.ppf([1e-12, 0.01, 0.3, 0.7, 0.99, 1 - 1e-12])
        edges = [0.0, *middle, 1.0]
        return sum(
            quad(lambda u: f(law.ppf(u)), law.cdf(a), law.cdf(b), epsabs=1e-13, limit=200)[0]
            for a, b in pairwise(edges)
            if law.cdf(b) > law.cdf(a)
        )

    def known(p):
        drawn = Q @ [p, 1 - p]
        return sum(x * Q[y, i] * math.log(Q[y, i] / drawn[y]) for y in range(4) for i, x in enumerate((p, 1 - p)))

    left = average(lambda p: -sum(x * math.log(x) for x in (p, 1 - p) if x))
    assert tr.priv(protocol(Q), prior=[one, two]).value == pytest.approx(1 - average(known) / left, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_against_draws_of_p(seed):
    """The mean over draws is within five standard errors of the integral, for E ln L and E L ln L; a moved row is not."""
    beta, Q = betas(seed, 6), random_matrix(seed, 5, 6)
    forms, P = LinearForms.of(Q, Dirichlet(beta)), np.random.default_rng(seed).dirichlet(beta, 400_000)

    def far(expected, found):
        return np.abs(found.mean(axis=0) - expected) / (found.std(axis=0) / math.sqrt(len(found)))

    L = P @ Q.T
    assert far(forms.logs(), np.log(L)).max() < 5
    assert far(LinearForms.of(Q * 1.01, Dirichlet(beta)).logs(), np.log(L)).min() > 5
    told = (P[:, None, :] * Q * np.log(Q / L[:, :, None])).sum(axis=(1, 2))
    assert far(forms.information(), told) < 5
    assert far(forms.information() * 1.01, told) > 5


@given(SEEDS, st.integers(2, 5), BETAS)
@settings(max_examples=40)
def test_single_values_have_the_logarithms_of_a_dirichlet(seed, a, around):
    """E ln P_x = ψ(β_x) − ψ(β₀), and E ln of a constant is its logarithm."""
    beta = betas(seed, a, around)
    forms = LinearForms.of(np.vstack([np.eye(a), np.full((1, a), 0.3)]), Dirichlet(beta))
    expected = [*(psi(beta) - psi(beta.sum())), math.log(0.3)]
    assert forms.logs() == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_half_the_step_and_longer_tails_give_the_same(monkeypatch):
    protocols = [(protocol(random_matrix(3, 6, 9)), betas(3, 9, around)) for around in (0.4, 1.0, 1e4)]
    found = [tr.priv(q, prior=b).value for q, b in protocols]
    monkeypatch.setattr(linear_forms, "STEP", 0.09)
    monkeypatch.setattr(linear_forms, "TAIL", 50)
    assert [tr.priv(q, prior=b).value for q, b in protocols] == pytest.approx(found, abs=2e-13)
    monkeypatch.setattr(linear_forms, "STEP", 3.0)
    assert [tr.priv(q, prior=b).value for q, b in protocols] != pytest.approx(found, abs=2e-13)


@given(SEEDS, st.integers(2, 6), SHARES, SHARES, BETAS)
@settings(max_examples=60)
def test_bits_equal_their_list(seed, a, p, q, around):
    unary, prior = bits(a, p, q), betas(seed, a, around)
    assert tr.priv(unary, prior=prior).value == pytest.approx(tr.priv(unary.explicit(), prior=prior).value, abs=1e-12)


@given(SEEDS, st.integers(2, 5), st.integers(1, 6), BETAS)
@settings(max_examples=60)
def test_what_is_done_to_outputs_never_lowers_it(seed, a, b, around):
    """Priv is between 0 and 1; it falls by no post-processing, and rises by no second release."""
    first, second, after = random_matrix(seed, b, a), random_matrix(seed + 1, 3, a), random_matrix(seed + 2, 4, b)
    prior = betas(seed, a, around)
    one, two = protocol(first), protocol(second)
    found = tr.priv(one, prior=prior).value
    assert 0 <= found <= 1
    assert tr.priv(protocol(after @ first), prior=prior).value >= found - 1e-12
    assert tr.priv(tr.compose(one, two), prior=prior).value <= min(found, tr.priv(two, prior=prior).value) + 1e-12


def test_mechanisms_and_designs_of_every_kind():
    own = random_joint(1, 2, 6)
    for result in (
        tr.grr(own, tr.LIP(1)),
        tr.design(own, tr.LIP(1)),
        tr.oue(own, tr.LIP(1)),
        tr.subset(own, tr.LIP(1), size=2),
    ):
        assert 0 < tr.priv(result.protocol).value < 1
    k = math.expm1(3)
    sparse = randomised_response(joint(600), k)
    assert sparse.kind == "sparse"
    assert tr.priv(sparse).value == pytest.approx(tr.priv(protocol((k * np.eye(600) + 1) / (k + 600))).value, abs=1e-9)


def test_a_prior_by_value_is_in_the_order_of_the_values():
    own = tr.Joint(np.ones((2, 3), int), secret=("S", ["a", "b"]), release={"X": ["u", "v", "w"]})
    Q = DenseProtocol.from_matrix(random_matrix(4, 3, 3), own)
    by_name = tr.priv(Q, prior={"w": 3, "u": 1, "v": 2})
    assert by_name == tr.priv(Q, prior=[1, 2, 3]) != tr.priv(Q, prior=[3, 1, 2])


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        (0, "Dirichlet parameter of 0"),
        ([1, -2, 1], "of -2"),
        ([1, math.nan, 1], "of nan"),
        (1e7, "from 0.1 to 1e\\+06"),
        ([1, 2], "2 parameters for 3 values"),
        ("flat", "'flat' is not understood"),
        ({"u": 1}, "names each value"),
    ],
)
def test_priors_that_make_no_sense(prior, said):
    with pytest.raises(tr.TrechterError, match=said):
        tr.priv(grr(3, 1), prior=prior)


def test_protocols_that_have_no_metric():
    with pytest.raises(tr.TrechterError, match="reads x"):
        tr.priv(tr.design(random_joint(1, 2, 2), tr.LIP(1), reads="sx").protocol)
    with pytest.raises(tr.TrechterError, match="one value only"):
        tr.priv(protocol(np.ones((1, 1))))
    with pytest.raises(tr.TrechterError, match="no Protocol"):
        tr.priv(random_joint(1, 2, 2))


def test_a_hundred_values_take_no_time():
    """100 values, 100 outputs, β all different: integrals in one dimension, far below a second."""
    found = tr.priv(protocol(random_matrix(1, 100, 100)), prior=betas(1, 100))
    assert 0 < found.value < 1
    assert 0 < tr.priv(bits(2000, 512, 20)).value < 1


def test_a_metric_in_words():
    assert str(tr.priv(grr(3, 1.5))) == "Priv = 0.76443"
    assert float(tr.priv(grr(3, 1.5))) == tr.priv(grr(3, 1.5)).value
