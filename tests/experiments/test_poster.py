"""The boundary of the feasible region: what is found, what is proved, and where it stops being true."""

import math

import numpy as np
import pytest
from experiments.poster import boundary
from experiments.poster.setting import FAMILIES, GRR, OUE, of_matrix, random_protocol, silent
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.measures.test_uti import triangle

import trechter as tr
from trechter.measures.dirichlet import Dirichlet
from trechter.measures.linear_forms import LinearForms
from trechter.model.dense import DenseProtocol

SEEDS = st.integers(0, 10**6)


def c(protocol, prior=1.0):
    return tr.digits(protocol, base=math.e, prior=prior).value


def line(a, hidden, prior=1.0):
    """c of x itself + ½ ln(1 − Priv): what truth or nothing has."""
    return c(of_matrix(np.eye(a)), prior) + math.log1p(-hidden) / 2


def interval(size=80):
    """Nodes on the distributions over two values, uniform."""
    nodes, weights = np.polynomial.legendre.leggauss(size)
    return np.stack([(1 + nodes) / 2, (1 - nodes) / 2], axis=1), weights / 2


def chi_square(Q, P, weights):
    """E Σ_y Var_P(Q[y,·]) / P(y) = E tr J_X⁻¹ J_Q."""
    L = P @ Q.T
    return float(weights @ ((P @ (Q**2).T - L**2) / L).sum(axis=1))


@pytest.mark.parametrize("a", [2, 3])
def test_the_rule_integrates(a):
    P, weights = boundary.rule(a)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert (weights @ P).sum() == pytest.approx(1)
    assert weights @ (P**2).sum(axis=1) == pytest.approx(2 / (a + 1), abs=1e-12)
    assert weights @ np.log(P).sum(axis=1) == pytest.approx(Dirichlet(np.ones(a)).log_mean.sum(), abs=1e-6)
    assert (np.diff(P, axis=1) <= 0).all()


@pytest.mark.parametrize("a", [2, 3])
def test_the_boundary_is_truth_or_nothing(a):
    """Found to 1e-8: x with probability 1 − Priv and nothing otherwise, a + 1 outputs, c = c(X) + ½ ln(1 − Priv)."""
    entropy, wanted = Dirichlet(np.ones(a)).entropy, (0.1, 0.5, 0.92)
    prices = [(a - 1) / (entropy * (1 - hidden)) for hidden in wanted]
    for hidden, found in zip(wanted, boundary.frontier(a, prices), strict=True):
        protocol = of_matrix(found.matrix())
        assert found.gap < 1e-8
        assert 1 - found.information / entropy == pytest.approx(hidden, abs=1e-6)
        assert c(protocol) == pytest.approx(line(a, tr.priv(protocol).value), abs=1e-8)
        rows, expected = (np.array(sorted(matrix.tolist())) for matrix in (found.matrix(), silent(a, 1 - hidden).matrix))
        assert rows == pytest.approx(expected, abs=1e-5)


def test_with_ldp_the_boundary_is_grr_or_nothing():
    a, epsilon = 3, 2.0
    grr = FAMILIES[GRR](a, epsilon)
    (found, open_end) = boundary.frontier(a, [2 / (Dirichlet(np.ones(3)).entropy * 0.15), 0.0], epsilon)
    expected = c(grr) + math.log(0.15 / (1 - tr.priv(grr).value)) / 2
    assert c(of_matrix(found.matrix())) == pytest.approx(expected, abs=1e-6)
    assert c(of_matrix(open_end.matrix())) == pytest.approx(c(grr), abs=1e-6)
    assert max(found.gap, open_end.gap) < 1e-8
    assert tr.ldp_level(of_matrix(found.matrix())).value == pytest.approx(epsilon, abs=1e-6)


def test_a_measure_that_is_not_best_has_a_gap():
    """GRR has no certificate: truth and nothing both gain on it, and its bound is still above the boundary."""
    grid = boundary.Rows(boundary.chamber(3, 30), math.inf)
    mine = boundary.Rows(np.array([[0.5, 0.0, 0.5]]), math.inf)
    price = 2 / float(mine.phi[0])
    found, excess = boundary._priced(np.ones(1), mine, grid, price, math.inf)
    assert excess.max() > 0.1
    best = boundary.solve(price, grid[::60], grid)
    bound = boundary.log_det(np.ones(1), mine) + price * (best.information - float(mine.phi[0])) + excess.max()
    assert boundary.log_det(np.ones(1), mine) - price * mine.phi[0] < best.log_det - price * best.information < bound
    assert len(found.phi) >= 2


@given(SEEDS, st.sampled_from([2, 3]))
@settings(max_examples=60)
def test_no_protocol_is_above_the_line(seed, a):
    """a = 2, 3 and a uniform prior."""
    protocol = random_protocol(a, seed)
    found, hidden = tr.digits(protocol, base=math.e), tr.priv(protocol).value
    if hidden < 1:
        assert found.value <= line(a, hidden) + 5 * found.error + 1e-9


@given(SEEDS)
@settings(max_examples=40)
def test_for_two_values_chi_square_is_twice_the_information(seed):
    """Row by row, under the uniform prior: with r = (1 + t, 1 − t) they are the series 2 Σ t^2k/(4k² − 1) and its half."""
    Q = random_protocol(2, seed).matrix
    told = LinearForms.of(Q[Q.any(axis=1)], Dirichlet(np.ones(2))).information()
    P, weights = boundary.rule(2)
    both = (chi_square(Q[Q.any(axis=1)], P, weights) + chi_square(Q[Q.any(axis=1)], P[:, ::-1], weights)) / 2
    assert both == pytest.approx(2 * told, abs=1e-8)


@pytest.mark.parametrize("t", [0.1, 0.7, 1.0])
def test_the_series(t):
    row = np.array([[1 + t, 1 - t]])
    series = math.fsum(t ** (2 * k) / (4 * k * k - 1) for k in range(1, 200_000))
    assert LinearForms.of(row, Dirichlet(np.ones(2))).information() == pytest.approx(series, abs=3e-6 if t == 1 else 1e-12)


@given(SEEDS, st.sampled_from([2, 3]))
@settings(max_examples=40)
def test_the_bound_by_chi_square(seed, a):
    """c(Q) ≤ c(X) + ½ ln(E χ²/(a − 1)), for every prior: a determinant is at most a power of its trace, and ln is concave."""
    Q = np.random.default_rng(seed).dirichlet(np.ones(a + 1), a).T
    P, weights = interval() if a == 2 else triangle()
    for density, prior in ((np.ones(len(P)), 1.0), (np.prod(P, axis=1) ** 2, 3.0)):
        shares = weights * density / (weights @ density)
        bound = c(of_matrix(np.eye(a)), prior) + math.log(chi_square(Q, P, shares) / (a - 1)) / 2
        assert c(of_matrix(Q), prior) <= bound + 1e-4
    assert c(silent(a, 0.3)) == pytest.approx(c(of_matrix(np.eye(a))) + math.log(0.3) / 2, abs=1e-9)


@pytest.mark.parametrize("beta", [1.0, 3.0])
@pytest.mark.parametrize("a", [2, 3])
def test_chi_square_of_a_row_is_an_integral(a, beta):
    """The identity of the diffusion, against nodes on the simplex."""
    P, weights = interval() if a == 2 else triangle()
    shares = weights * np.prod(P, axis=1) ** (beta - 1)
    shares, prior = shares / shares.sum(), Dirichlet(np.full(a, beta))
    for row in np.random.default_rng(a).uniform(0.2, 2, (5, a)):
        scaled = row / row.mean()
        told = LinearForms.of(scaled[None], prior).information()
        expected = chi_square(scaled[None], P, shares) / (a - 1) / (told / prior.entropy)
        assert boundary.exchange(row, prior) == pytest.approx(expected, abs=1e-6)


def rows_of_all_kinds(a, times=40):
    """Random ones, two levels, and next to constant."""
    random = np.random.default_rng(a)
    for _ in range(times):
        yield random.dirichlet(np.full(a, 10 ** random.uniform(-1, 1)))
        yield np.where(np.arange(a) < random.integers(1, a), 1.0, 10 ** random.uniform(-6, -0.05))
        yield np.exp(random.normal(size=a) * random.uniform(0.05, 5))


@pytest.mark.parametrize("a", [2, 3, 4, 8, 16])
@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_no_row_learns_more_than_the_truth(a, beta):
    """For β ≤ 1 no row was found above 1: then truth or nothing is the boundary, whatever a."""
    prior = Dirichlet(np.full(a, beta))
    found = [boundary.exchange(row / row.max(), prior) for row in rows_of_all_kinds(a)]
    assert max(found) < 1 + 1e-6
    assert boundary.exchange(np.eye(a)[0], prior) == pytest.approx(1, abs=1e-9)
    assert min(found) < (1 - 1e-3 if (a, beta) != (2, 1.0) else 1 + 1e-6)


@pytest.mark.parametrize(("a", "beta", "other"), [(2, 5.0, 0.5), (3, 2.0, 0.0769), (5, 20.0, 0.0552)])
def test_for_a_sharper_prior_rows_of_grr_do(a, beta, other):
    row = np.where(np.arange(a) == 0, 1.0, other)
    assert boundary.exchange(row, Dirichlet(np.full(a, beta))) > 1.04


@pytest.mark.parametrize("a", [4, 10])
def test_many_values_by_whole_protocols(a):
    tried = [FAMILIES[name](a, level) for name in (GRR, OUE) for level in (0.5, 3)]
    tried += [random_protocol(a, seed) for seed in range(8)]
    tried += [tr.subset(tr.Joint(np.ones((2, a), int)), tr.LDP(1, protect="x"), size=2).protocol]
    for protocol in tried:
        found = tr.digits(protocol, base=math.e, draws=100)
        assert found.value <= line(a, tr.priv(protocol).value) + 5 * found.error


def test_with_a_sharper_prior_the_line_is_crossed():
    """a = 2, β = 5: then 2 H(X|P) > a − 1, and weak randomised response learns more than truth or nothing at its Priv."""
    assert 2 * Dirichlet(np.full(2, 5.0)).entropy > 1 >= 2 * Dirichlet(np.ones(2)).entropy
    weak = FAMILIES[GRR](2, 0.3)
    assert c(weak, 5.0) > line(2, tr.priv(weak, prior=5.0).value, 5.0) + 0.1
    assert c(weak) < line(2, tr.priv(weak).value)


def test_one_row_only_is_another_matter():
    """n = 1: I(Y;P) = I(X;Y) − I(X;Y|P), and GRR learns more of P than truth or nothing at the same Priv."""

    def learned(protocol):
        joint = tr.Joint(np.ones((2, 3), int))
        return tr.mutual_information(joint, protocol) - (1 - tr.priv(protocol).value) * Dirichlet(np.ones(3)).entropy

    grr = FAMILIES[GRR](3, 1.5)
    same = silent(3, 1 - tr.priv(grr).value)
    assert isinstance(same, DenseProtocol)
    assert tr.priv(same).value == pytest.approx(tr.priv(grr).value, abs=1e-9)
    assert learned(grr) > 1.05 * learned(same)
    assert c(grr) < c(same)
    found = tr.uti(grr, 1)
    assert abs(found.information - learned(grr)) < 5 * found.information_error
