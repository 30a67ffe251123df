"""Informations of unary encodings by an integral: against sums over all 2^a outputs, other quadratures, and limits."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from tests.conftest import random_counts, random_joint

import trechter as tr
from trechter.measures import entropy
from trechter.measures import unary as integral
from trechter.measures.unary import divergence
from trechter.model.unary import UnaryProtocol

SEEDS = st.integers(0, 10**6)
SHARES = st.integers(0, 2**10)


def encoding(joint, p, q, places=10):
    return UnaryProtocol(p, q, places, joint.secret, joint.release)


@settings(max_examples=200)
@given(SEEDS, st.sampled_from([(2, 2), (3, 5), (2, 8), (2, 1), (2, 2, 3)]), SHARES, SHARES, st.sampled_from([0.0, 0.5]))
def test_equal_to_the_sum_over_all_outputs(seed, shape, p, q, zeros):
    joint = random_joint(seed, *shape, zeros=zeros)
    protocol = encoding(joint, p, q)
    listed = protocol.explicit()
    assert tr.mutual_information(joint, protocol) == pytest.approx(tr.mutual_information(joint, listed), abs=1e-12)
    found, expected = tr.leakage(joint, protocol), tr.leakage(joint, listed)
    assert found.information == pytest.approx(expected.information, abs=1e-12)
    assert found.levels == pytest.approx(expected.levels, rel=1e-9, abs=1e-12)
    assert found.posteriors == pytest.approx(expected.posteriors, abs=1e-12)
    assert (found.bayes_gain, found.maximal) == pytest.approx((expected.bayes_gain, expected.maximal), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_twelve_values(seed):
    joint = random_joint(seed, 2, 12, zeros=0.3)
    protocol = encoding(joint, 512, 30 + 100 * seed)
    expected = tr.mutual_information(joint, protocol.explicit())
    assert tr.mutual_information(joint, protocol) == pytest.approx(expected, abs=1e-13)


@settings(max_examples=60)
@given(SEEDS, SHARES, SHARES)
def test_a_task(seed, p, q):
    joint = tr.Joint(random_counts(seed, 2, 4, 3, zeros=0.5), task=("T", ["u", "v", "w"]))
    protocol, task = encoding(joint, p, q), tr.TaskInformation()
    assert task.utility(joint, protocol) == pytest.approx(task.utility(joint, protocol.explicit()), abs=1e-12)


@settings(max_examples=40)
@given(SEEDS, st.integers(1, 6), st.sampled_from([1.0, 1 - 1e-9, 0.5, 0.3]), st.floats(0.4, 22))
def test_against_fifty_digits(seed, a, p, digits):
    """Σ_y P₀(y) V ln V in decimals, V exact."""
    counts = [int(n) for n in np.random.default_rng(seed).integers(1, 10**6, a)]
    p, q, r = Fraction(p), Fraction(min(10.0**-digits, p / 2)), [Fraction(n, sum(counts)) for n in counts]
    beta, expected = (p - q) / (q * (1 - q)), Decimal(0)
    with localcontext() as context:
        context.prec = 60
        for has in itertools.product([0, 1], repeat=a):
            V = 1 + beta * (sum(share for share, h in zip(r, has, strict=True) if h) - q)
            drawn = q ** sum(has) * (1 - q) ** (a - sum(has)) * V
            if V:
                expected += decimal(drawn) * decimal(V).ln()
    found = divergence(np.array([float(share) for share in r]), float(beta), float(q), float((1 - p) / (1 - q)))
    assert found == pytest.approx(float(expected), rel=1e-14, abs=0)


def decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


@pytest.mark.parametrize("a", [3, 100, 3000])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.27), (0.5, 1e-6), (0.9, 0.01), (1.0, 0.3), (0.5, 0.499), (0.5, 1e-22)])
def test_half_the_step_and_twice_the_tails_give_the_same(monkeypatch, a, p, q):
    r = np.random.default_rng(a).dirichlet(np.full(a, 0.3))
    beta, least = (p - q) / (q * (1 - q)), (1 - p) / (1 - q)
    found = divergence(r, beta, q, least)
    monkeypatch.setattr(integral, "STEP", 0.08)
    monkeypatch.setattr(integral, "TAIL", integral.TAIL * 1.3)
    assert divergence(r, beta, q, least) == pytest.approx(found, rel=3e-13, abs=1e-15)
    monkeypatch.setattr(integral, "STEP", 2.0)
    assert divergence(r, beta, q, least) != pytest.approx(found, rel=3e-13, abs=1e-15)


@pytest.mark.parametrize("a", [2, 16])
def test_equal_to_the_integral_of_the_definition(a):
    """The formula with a logarithm and leave-one-out products, by adaptive quadrature."""
    joint, E = tr.Joint(np.random.default_rng(a).integers(1, 99, (2, a))), 16 - 1
    protocol, p = encoding(joint, 8, 1, 4), joint.p_x  # p = 1/2, q = 1/16 = 1/(E + 1)
    k = E - 1
    assert protocol.shares[1] == 1 / (E + 1)

    def average(t, x):
        """E ln(1 + k(t + Z_x)), Z_x = Σ_{x'≠x} p_x' B_x'."""
        rest = np.delete(p, x)

        def part(u):
            tau = math.exp(u)
            return math.exp(-tau) - math.exp(-tau * (1 + k * t) + np.log1p(np.expm1(-tau * k * rest) / (E + 1)).sum())

        return quad(part, -40, 8, limit=400, epsabs=1e-12)[0]

    expected = sum(p[x] * (math.log(E) - average(p[x], x) - average(0, x)) / 2 for x in range(a))
    assert tr.mutual_information(joint, protocol) == pytest.approx(expected, abs=1e-9)


def test_limits():
    """q = 0 tells x or nothing; p = 1 and q = 0 tell x; p = q nothing; and next to them hardly anything else."""
    joint = random_joint(3, 3, 40)
    task = tr.Joint(random_counts(4, 2, 40, 3), task=("T", [0, 1, 2]))
    whole = entropy(joint.p_x)
    assert tr.mutual_information(joint, encoding(joint, 512, 0)) == pytest.approx(whole / 2)
    assert tr.mutual_information(joint, encoding(joint, 1024, 0)) == pytest.approx(whole)
    assert tr.mutual_information(joint, encoding(joint, 0, 1024)) == pytest.approx(whole)
    assert tr.mutual_information(joint, encoding(joint, 300, 300)) == 0
    near = UnaryProtocol(2**299, 1, 300, joint.secret, joint.release)
    assert tr.mutual_information(joint, near) == pytest.approx(whole / 2, abs=1e-11)
    everything = tr.TaskInformation().utility(task, encoding(task, 1024, 0))
    assert tr.TaskInformation().utility(task, encoding(task, 256, 0)) == pytest.approx(everything / 4)
    identity = tr.design(task, tr.LIP("inf")).protocol
    assert everything == pytest.approx(tr.TaskInformation().utility(task, identity))


def test_nearly_nothing_is_told_to_many_digits():
    """I(X;Y) ≈ (p − q)² (1 − Σ p_x²) / (2 q (1 − q)) for p near q."""
    joint = random_joint(5, 2, 30)
    protocol = UnaryProtocol(2**39 + 2**19, 2**39, 40, joint.secret, joint.release)
    gap, q = 2.0**-21, 0.5
    expected = gap**2 * (1 - (joint.p_x**2).sum()) / (2 * q * (1 - q))
    assert tr.mutual_information(joint, protocol) == pytest.approx(expected, rel=1e-5, abs=0)


def test_what_has_no_formula_is_said_to_be_missing():
    joint = random_joint(1, 2, 200)
    protocol = encoding(joint, 512, 100)
    leak = tr.leakage(joint, protocol)
    assert math.isnan(leak.bayes_gain)
    assert math.isnan(leak.maximal)
    assert 0 < leak.information < tr.mutual_information(joint, protocol)
    assert leak.levels["lip"] <= leak.levels["ldp"]
    with pytest.raises(tr.TrechterError, match="not listed"):
        tr.ChiSquareInformation().utility(joint, protocol)
