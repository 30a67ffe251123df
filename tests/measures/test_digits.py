"""c(Q): against determinants by quadrature, plain draws and limits; and what must hold of it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_joint, random_matrix
from tests.measures.test_priv import bits, grr, joint, protocol

import trechter as tr
from trechter.measures.dirichlet import Dirichlet
from trechter.measures.draws import controlled
from trechter.measures.fisher import mean_log_det
from trechter.measures.unary_forms import unary_fisher
from trechter.model.dense import DenseProtocol

SEEDS = st.integers(0, 10**6)


def fisher(Q, P):
    """J by its definition, in all coordinates of P but the last."""
    slopes = Q[:, :-1] - Q[:, -1:]
    return (slopes / (Q @ P)[:, None]).T @ slopes


def plain(Q, beta, seed=1, draws=40_000):
    """E ln det J by draws and nothing else, with its standard error."""
    P = np.random.default_rng(seed).dirichlet(beta, draws)
    found = np.array([np.linalg.slogdet(fisher(Q, each))[1] for each in P])
    return found.mean(), found.std() / math.sqrt(draws)


def test_the_numbers_of_the_poster():
    Q = grr(3, 1.5)
    nats, decimal = tr.digits(Q, base=math.e), tr.digits(Q)
    assert nats.value == pytest.approx(-1.162297, abs=5e-7)
    assert decimal.value == pytest.approx(-0.504779, abs=5e-7)
    assert (nats.error, decimal.error) == (0, 0)
    assert [nats.information(10**k) for k in range(1, 5)] == pytest.approx([-0.715, 1.587, 3.890, 6.193], abs=5e-4)
    assert decimal.information(100) == pytest.approx(nats.information(100))


def test_two_values_by_quadrature():
    """One coordinate: J(p) = Σ_y (difference of the row)² / L_y, averaged over a uniform p by Gauss and Legendre."""
    Q = random_matrix(3, 2, 2)
    nodes, weights = np.polynomial.legendre.leggauss(80)
    p = (nodes + 1) / 2
    J = sum((row[0] - row[1]) ** 2 / (row[0] * p + row[1] * (1 - p)) for row in Q)
    expected = (weights / 2) @ np.log(J) / 2 - math.log(2 * math.pi * math.e) / 2
    assert tr.digits(protocol(Q), base=math.e).value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("beta", [0.5, 1.0, 4.0])
def test_the_identity_in_closed_form(beta):
    """J of X itself is that of a multinomial: det J = 1 / Π P."""
    prior = Dirichlet(np.full(5, beta))
    assert tr.digits(protocol(np.eye(5)), prior=beta, base=math.e).value == pytest.approx(
        -prior.log_mean.sum() / 8 - math.log(2 * math.pi * math.e) / 2
    )


@pytest.mark.parametrize(("b", "a"), [(2, 2), (3, 3), (5, 3), (9, 4)])
def test_against_plain_draws(b, a):
    """Square ones have no error; the definition of J agrees, one that is 5 % larger does not, and the controls help."""
    Q, beta = random_matrix(b, b, a), np.random.default_rng(a).uniform(0.6, 2, a)
    value, error = mean_log_det(protocol(Q), Dirichlet(beta), 1000, 0)
    expected, plain_error = plain(Q, beta)
    assert (error == 0) == (a == b)
    assert abs(value - expected) < 5 * math.hypot(error, plain_error)
    assert abs(value + (a - 1) * math.log(1.05) - expected) > 5 * math.hypot(error, plain_error)
    assert error < plain_error * math.sqrt(40) / 3  # as many draws would be 40 times as many


def test_the_error_is_what_it_is_said_to_be():
    """Over 60 seeds the values spread as their errors say, and they are far nearer than without controls."""
    Q = protocol(random_matrix(6, 7, 3))
    found = [tr.digits(Q, draws=64, seed=seed) for seed in range(60)]
    spread = np.std([d.value for d in found])
    assert 0.7 < spread / np.mean([d.error for d in found]) < 1.4
    truth = tr.digits(Q, draws=100_000, seed=99)
    assert abs(np.mean([d.value for d in found]) - truth.value) < 5 * spread / math.sqrt(60)


@given(SEEDS, st.integers(2, 5))
@settings(max_examples=40)
def test_equal_rows_and_constant_ones_change_nothing_but_the_mass(seed, a):
    """An erasure of share 3/8 leaves 5/8 of J; outputs that say the same are one: both without draws."""
    Q = random_matrix(seed, a, a)
    whole = tr.digits(protocol(Q), base=math.e).value
    integers = np.rint(np.ldexp(Q, 40)).astype(np.int64)
    integers[0] += (1 << 40) - integers.sum(axis=0)
    own = joint(a)
    exact = np.vstack([integers * 2, integers * 3, np.full((1, a), 3 << 40)])
    split = DenseProtocol(exact, 43, tuple(range(2 * a + 1)), own.secret, own.release)
    found = tr.digits(split, base=math.e)
    assert found.error == 0
    assert found.value == pytest.approx(whole + math.log(5 / 8) / 2, abs=1e-9)


@pytest.mark.parametrize("a", [2, 3, 6])
@pytest.mark.parametrize(("p", "q"), [(512, 100), (1024, 300), (900, 100), (100, 800), (0, 512), (300, 1023)])
def test_bits_equal_their_list(a, p, q):
    unary = bits(a, p, q)
    Q = unary.matrix
    for P in np.random.default_rng(a).dirichlet(np.ones(a), 3):
        drawn = Q @ P
        kept = Q[drawn > 0]
        F = (kept / drawn[drawn > 0, None]).T @ kept
        assert unary_fisher(unary, P) == pytest.approx(F, rel=1e-9)
    one, two = (tr.digits(each, draws=200) for each in (unary, unary.explicit()))
    assert abs(one.value - two.value) < 5 * math.hypot(one.error, two.error) + 1e-9


def test_bits_at_the_ends():
    """Y is {x} or ∅: an erasure; p = q says nothing."""
    identity = tr.digits(protocol(np.eye(4)), base=math.e).value
    for unary, told in ((bits(4, 512, 0), 0.5), (bits(4, 256, 0), 0.25), (bits(4, 256, 1024), 0.75)):
        assert tr.digits(unary, base=math.e).value == pytest.approx(identity + math.log(told) / 2, abs=1e-12)
        assert tr.digits(unary.explicit(), base=math.e).value == pytest.approx(identity + math.log(told) / 2, abs=1e-12)
    assert tr.digits(bits(4, 77, 77)).value == -math.inf


@pytest.mark.parametrize("epsilon", ["1e-4", "1e-5", "1e-6", "1e-7"])
@pytest.mark.parametrize("mechanism", [tr.oue, tr.sue])
def test_bits_that_hardly_differ_equal_their_list(mechanism, epsilon):
    unary = mechanism(tr.Joint([[9, 3, 5], [4, 6, 2]]), tr.LDP(epsilon, protect="x")).protocol
    listed = tr.digits(protocol(unary.matrix), draws=50, base=math.e)
    assert tr.digits(unary, base=math.e).value == pytest.approx(listed.value, abs=1e-5)


def test_a_rank_below_a_is_seen_exactly():
    """Two columns that differ by one unit in 2^60 have full rank, equal ones have not; floats could not tell."""
    own, whole = joint(3), 1 << 60
    near = np.array([[whole // 2, whole // 2 + 1, 0], [whole // 2, whole // 2 - 1, 0], [0, 0, whole]], object)
    same = near.copy()
    same[:, 1] = same[:, 0]
    one, two = (DenseProtocol(w, 60, (0, 1, 2), own.secret, own.release) for w in (near, same))
    assert tr.digits(two).value == -math.inf
    assert "never learned" in tr.digits(two).sentence(10)
    expected = math.log(Fraction(1, whole)) * 2  # det Q = 2^-60 / … and the rest is near 1
    assert mean_log_det(one, Dirichlet(np.ones(3)), 100, 0)[0] == pytest.approx(expected, abs=5)
    assert tr.digits(protocol(random_matrix(1, 2, 3))).value == -math.inf  # fewer outputs than values
    assert tr.digits(protocol(np.ones((1, 3)))).value == -math.inf


@given(SEEDS, st.integers(2, 4))
@settings(max_examples=25)
def test_what_is_done_to_outputs_never_raises_it(seed, a):
    first, second, after = random_matrix(seed, a + 1, a), random_matrix(seed + 1, 3, a), random_matrix(seed + 2, a, a + 1)
    one, two, less = (tr.digits(protocol(Q), draws=200) for Q in (first, second, after @ first))
    both = tr.digits(tr.compose(protocol(first), protocol(second)), draws=200)
    assert less.value <= one.value + 5 * one.error
    assert both.value + 5 * both.error >= max(one.value, two.value) - 5 * max(one.error, two.error)


def test_designs_and_mechanisms():
    own = random_joint(1, 2, 5)
    values = [tr.digits(tr.grr(own, tr.LIP(e)).protocol).value for e in ("0.2", 1, 3)]
    assert values == sorted(values)
    assert math.isfinite(tr.digits(tr.oue(own, tr.LIP(1)).protocol).value)
    assert tr.digits(tr.subset(own, tr.LIP(1), size=2).protocol).value > -5


def test_a_hundred_values():
    square, wide = random_matrix(1, 100, 100), random_matrix(2, 130, 100)
    assert tr.digits(protocol(square)).error == 0
    assert 0 < tr.digits(protocol(wide), draws=32).error < 1e-3
    assert 0 < tr.digits(bits(100, 512, 50), draws=32).error < 1e-3


@pytest.mark.parametrize("beta", [0.1, 0.3, 1e6])
def test_extreme_priors(beta):
    """Tiny shares, or hardly any randomness: still what plain draws give."""
    for unary in (bits(3, 1024, 100), bits(3, 512, 100), bits(3, 1000, 1)):
        one, two = (tr.digits(each, prior=beta, draws=400) for each in (unary, unary.explicit()))
        assert abs(one.value - two.value) < 5 * math.hypot(one.error, two.error) + 1e-9
        assert math.isfinite(one.value)
    middle = np.full(3, 1 / 3)
    far = np.linalg.slogdet(fisher(random_matrix(1, 5, 3), middle))[1] / 4 - math.log(2 * math.pi * math.e) / 2
    if beta == 1e6:
        assert tr.digits(protocol(random_matrix(1, 5, 3)), prior=beta, base=math.e).value == pytest.approx(far, abs=1e-5)


def test_in_words():
    found = tr.digits(grr(3, 1.5))
    assert found.after(10**6) == pytest.approx(3 - 0.504779, abs=1e-6)
    assert found.sentence(10**6) == (
        "After 1,000,000 rows the aggregator knows each share of X to about 2.50 decimal digits (½ log n − 0.50)."
    )
    assert "digits of base 2 (" in tr.digits(grr(3, 1.5), base=2).sentence(7)
    for wrong in (0, "5", 2.5):
        with pytest.raises(tr.TrechterError, match=f"n = {wrong!r}"):
            found.after(wrong)


@pytest.mark.parametrize("options", [{"base": 1}, {"base": "ten"}, {"base": math.nan}, {"draws": 3}, {"draws": "many"}])
def test_requests_that_make_no_sense(options):
    ((name, wrong),) = options.items()
    with pytest.raises(tr.TrechterError, match=f"{name}={wrong!r}"):
        tr.digits(protocol(random_matrix(1, 4, 3)), **options)


def test_controls_take_away_what_is_known():
    random = np.random.default_rng(0)
    known = random.normal(size=(500, 2))
    found = 3 + known @ [2.0, -5.0] + 0.01 * random.normal(size=500)
    value, error = controlled(found, known, np.zeros(2))
    assert error == pytest.approx(0.01 / math.sqrt(500), rel=0.15)
    assert abs(value - 3) < 5 * error
    assert abs(controlled(found, known, np.array([0.1, 0]))[0] - 3) > 5 * error
