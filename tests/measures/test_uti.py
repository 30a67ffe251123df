"""Uti_n(Q) and I(Xⁿ;P): against quadrature over P, enumeration of releases, and what must hold of them."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma as psi
from scipy.special import gammaln
from tests.conftest import random_joint, random_matrix
from tests.measures.test_priv import bits, grr, protocol

import trechter as tr
from trechter.measures.dirichlet import Dirichlet
from trechter.measures.posterior import Posteriors
from trechter.measures.raw_information import raw_information

SEEDS = st.integers(0, 10**6)


def triangle(size=60):
    """Nodes on the distributions over three values and their weights under Dirichlet(1, 1, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    u, w = (nodes + 1) / 2, weights / 2
    first, share = np.meshgrid(u, u, indexing="ij")
    P = np.stack([first, (1 - first) * share, (1 - first) * (1 - share)], axis=2).reshape(-1, 3)
    return P, 2 * (np.outer(w, w) * (1 - first)).ravel()


def by_quadrature(Q, n, nodes):
    """I(Yⁿ;P), every release by itself and the mean over P by its nodes."""
    P, weights = nodes
    logs = np.log(P @ Q.T)
    total = 0.0
    for counts in product(range(n + 1), repeat=len(Q) - 1):
        if sum(counts) > n:
            continue
        full = np.array([*counts, n - sum(counts)])
        ways = gammaln(n + 1) - gammaln(full + 1).sum()
        likely = np.exp(logs @ full + ways)
        mean = weights @ likely
        total += weights @ (likely * np.log(likely / mean))
    return total


def test_raw_information_of_the_poster():
    prior = Dirichlet(np.ones(3))
    found = [raw_information(prior, 10**k) for k in range(4)]
    assert found == pytest.approx([0.26528, 1.36698, 3.37319, 5.63284], abs=5e-6)


@pytest.mark.parametrize("beta", [[1.0, 1.0], [0.3, 2.0, 5.0], [40.0, 0.01]])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_raw_information_by_enumeration(beta, n):
    """H(Xⁿ) − n H(X|P) over all sequences."""
    b = np.array(beta)
    whole = 0.0
    for sequence in product(range(len(b)), repeat=n):
        counts = np.bincount(sequence, minlength=len(b))
        log = gammaln(b.sum()) - gammaln(b.sum() + n) + (gammaln(b + counts) - gammaln(b)).sum()
        whole -= math.exp(log) * log
    left = psi(b.sum() + 1) - b @ psi(b + 1) / b.sum()
    assert raw_information(Dirichlet(b), n) == pytest.approx(whole - n * left, abs=1e-11)


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
def test_raw_information_of_many_rows_tends_to_its_asymptote(beta):
    """What is left falls, down to a million rows: nothing of the order of n is lost in floats."""
    identity, prior = tr.digits(protocol(np.eye(4)), prior=beta), Dirichlet(np.full(4, beta))
    away = [abs(raw_information(prior, n) - identity.information(n)) for n in (10**4, 10**6)]
    assert away[1] < away[0] / (9 if beta < 1 else 50)  # as 1/√n for β = ½
    assert away[1] < (3e-3 if beta < 1 else 2e-5)


@pytest.mark.parametrize(("n", "b"), [(1, 3), (4, 3), (10, 3), (3, 4)])
def test_by_quadrature(n, b):
    """Within five standard errors, which are small."""
    Q = grr(3, 1.5).matrix if b == 3 else random_matrix(5, 4, 3)
    expected, found = by_quadrature(Q, n, triangle()), tr.uti(protocol(Q), n)
    assert abs(found.information - expected) < 5 * found.information_error
    assert found.information_error < 0.03 * expected + 0.001
    assert found.value == pytest.approx(found.information / found.raw)
    if (n, b) == (10, 3):
        assert expected == pytest.approx(0.53576, abs=5e-5)


@pytest.mark.parametrize(
    ("n", "expected", "error"), [(10, 0.53576, 0), (100, 1.97377, 0), (1000, 4.016, 0.016), (10_000, 6.230, 0.018)]
)
def test_the_numbers_of_the_poster(n, expected, error):
    found = tr.uti(grr(3, 1.5), n, draws=600)
    assert abs(found.information - expected) < 4 * math.hypot(found.information_error, error)
    assert found.information_error < 0.02
    assert found.raw == raw_information(Dirichlet(np.ones(3)), n)


def test_finite_n_tends_to_the_asymptote():
    """From above, and by less and less."""
    Q = grr(3, 1.5)
    above = [tr.uti(Q, n, draws=400).information - tr.digits(Q).information(n) for n in (10, 100, 1000, 10**6)]
    assert above == sorted(above, reverse=True)
    assert 0 < above[2] < 0.15
    assert abs(above[3]) < 0.02


@pytest.mark.parametrize("beta", [[1.0, 1.0, 1.0], [0.4, 1.0, 6.0], [0.1, 0.1, 0.1]])
def test_divergences_of_single_posteriors(beta):
    """Each D is that of weighted draws from the prior, and 1024 draws have no bias that a mean over releases could hide."""
    Q, prior = random_matrix(2, 3, 3), Dirichlet(np.array(beta))
    counts = np.array([[3.0, 0, 0], [10, 20, 70], [5, 35, 60]])
    logs = np.log(np.random.default_rng(1).dirichlet(beta, 400_000) @ Q.T)
    for k in range(3):
        likely = logs @ counts[k]
        weights = np.exp(likely - likely.max())
        expected = weights @ likely / weights.sum() - math.log(weights.mean()) - likely.max()
        many = Posteriors(np.repeat(counts[k : k + 1], 200, axis=0), Q, prior)
        found, worth = many.divergences(np.random.default_rng(k), 1024)
        error = found.std() / math.sqrt(200)
        assert abs(found.mean() - expected) < 5 * error + 0.003
        assert error < 0.01
        assert worth.mean() > 50


@given(SEEDS, st.sampled_from([0.2, 1.0, 5.0]), st.sampled_from([0, 1, 50, 10**6]))
@settings(max_examples=30)
def test_modes_are_where_the_slope_is_constant(seed, beta, n):
    """At the mode all ∂ ln f / ∂P are β₀ + n."""
    Q = random_matrix(seed, 4, 4)
    counts = np.random.default_rng(seed).multinomial(n, Q @ np.random.default_rng(seed + 1).dirichlet(np.full(4, beta)), 3)
    posteriors = Posteriors(counts.astype(float), Q, Dirichlet(np.full(4, beta)))
    P = posteriors.modes()
    slopes = posteriors._slope(P)
    assert (P > 0).all()
    assert P * slopes == pytest.approx(P * (4 * beta + n), rel=2e-3, abs=1e-3 * math.sqrt(n + 1))


def test_nothing_and_everything():
    assert tr.uti(protocol(np.ones((1, 3))), 100).value == 0
    whole = tr.uti(protocol(np.eye(3)), 100, draws=600)
    assert abs(whole.value - 1) < 5 * whole.error
    assert whole.error < 0.01
    half = tr.uti(protocol(np.vstack([np.eye(2) / 2, np.ones((1, 2)) / 2])), 1)
    assert abs(half.value - 0.5) < 5 * half.error


@pytest.mark.parametrize("seed", range(3))
def test_what_is_done_to_outputs_never_raises_it(seed):
    first, second, after = random_matrix(seed, 4, 3), random_matrix(seed + 9, 3, 3), random_matrix(seed + 5, 3, 4)
    one, less = (tr.uti(protocol(Q), 50, draws=400) for Q in (first, after @ first))
    both = tr.uti(tr.compose(protocol(first), protocol(second)), 50, draws=400)
    assert less.value < one.value + 4 * one.error
    assert one.value < both.value + 4 * both.error
    assert 0 < less.value < both.value < 1


@pytest.mark.parametrize("beta", [0.1, 0.3, 50.0])
def test_x_itself_under_extreme_priors(beta):
    """Uti is 1, within five standard errors."""
    found = tr.uti(protocol(np.eye(3)), 100, prior=beta, draws=300)
    assert abs(found.value - 1) < 5 * found.error
    assert found.error < 0.1


def test_what_is_too_much():
    with pytest.raises(tr.TrechterError, match="too far from normal"):
        tr.uti(grr(20, 2), 1000, draws=32)
    with pytest.raises(tr.TrechterError, match=r"tr\.priv and tr\.digits do without"):
        tr.uti(bits(20, 512, 100), 10)
    with pytest.raises(tr.TrechterError, match="10,000,000 rows"):
        tr.uti(grr(3, 1), 10**8)
    for n in (0, -1, 2.5, True):
        with pytest.raises(tr.TrechterError, match=f"n = {n}"):
            tr.uti(grr(3, 1), n)


def test_designs_and_bits():
    own = random_joint(2, 2, 4)
    for result in (tr.design(own, tr.LIP(1)), tr.oue(own, tr.LIP(1))):
        found = tr.uti(result.protocol, 200, draws=64)
        assert 0 < found.value < 1
        assert str(found).startswith("Uti_200 = 0.")
