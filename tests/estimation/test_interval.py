"""95 % intervals: 95 % for what is common, never under 94 % for what is rare; exactly so where it can be summed up."""

import numpy as np
import pytest
from scipy import stats
from tests.estimation.cases import SHARES, grr, lip, oue

from trechter.estimation.interval import interval
from trechter.estimation.inversion import coefficients, linear
from trechter.estimation.released import Released


def wald(a, counts):
    found = linear(a, counts)
    return found.shares - 1.96 * found.errors, found.shares + 1.96 * found.errors


def exact_coverage(n, q, gap, shares, limits=interval):
    """Of a share f of which k ~ Bin(n, q + gap·f) rows tell, over all k."""
    k = np.arange(n + 1)
    low, high = limits(np.array([-q, 1 - q]) / gap, np.stack([n - k, k], axis=1).astype(float))
    chance = stats.binom.pmf(k[:, None], n, q + gap * shares)
    return (chance * ((low[:, None] <= shares) & (shares <= high[:, None]))).sum(axis=0)


def bits(epsilon):
    """What one bit of OUE, and one value of GRR among ten, tells."""
    e = np.exp(epsilon)
    return [(1 / (e + 1), 0.5 - 1 / (e + 1)), (1 / (e + 9), (e - 1) / (e + 9))]


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 3, 4, 6])
@pytest.mark.parametrize("n", [1000, 4000])
def test_exact_coverage(n, epsilon):
    """No simulation: every number of rows with its probability, for 200 shares on either side of n·f = 50."""
    rare, common = (np.geomspace(*ends, 200) for ends in ((0.01 / n, 50 / n), (50 / n, 0.95)))
    for q, gap in bits(epsilon):
        assert exact_coverage(n, q, gap, rare).min() > 0.94
        covered = exact_coverage(n, q, gap, common)
        assert covered.min() > 0.94
        assert covered.max() < (0.96 if n * q > 10 else 0.965)  # where nothing blurs them, steps of one row in 25 are coarse


def test_wald_would_be_found_out():
    """The same sum rejects the interval of the textbooks."""
    rare = np.geomspace(0.01 / 1000, 50 / 1000, 200)
    assert min(exact_coverage(1000, *bits(epsilon)[1], rare, wald).min() for epsilon in (4, 6)) < 0.9


def covered(protocol, shares, n, runs, limits, seed):
    """How often limits of each cell hold, over simulated releases."""
    draw = np.random.default_rng(seed)
    if protocol.kind == "unary":
        p, q, _, _ = protocol.shares
        ones = draw.binomial(n, shares * p + (1 - shares) * q, (runs, len(shares))).T
        low, high = limits(np.array([-q, 1 - q]) / (p - q), np.stack([n - ones, ones], axis=-1).astype(float))
    else:
        counts = draw.multinomial(n, protocol.matrix @ shares, runs)
        seen = Released(counts[0], np.zeros(len(counts[0]), int), protocol.matrix, protocol.weights)
        a = coefficients(seen, np.eye(len(shares), dtype=bool), shares)
        low, high = limits(a[:, None, :], counts[None].astype(float))
    return ((low <= shares[:, None]) & (shares[:, None] <= high)).mean(axis=1)


PROTOCOLS = {
    "grr 1": lambda: grr("1"),
    "grr 4": lambda: grr("4"),
    "oue 1": lambda: oue("1"),
    "oue 3": lambda: oue("3"),
    "lip 2 secrets": lambda: lip(0, 2, "0.3"),
    "lip 3 secrets": lambda: lip(0, 3, "0.5"),
    "lip 5 secrets": lambda: lip(3, 5, "1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("n", [1000, 10_000])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_coverage_over_ten_thousand_simulations(name, n):
    """Within 94–96 % where n·p ≥ 50, not under 94 % where it is less; three standard errors of a simulation are 0.65 %."""
    shares = SHARES / SHARES.sum()
    found = covered(PROTOCOLS[name](), shares, n, 10_000, interval, seed=n)
    common = n * shares >= 50
    assert np.all((found[common] >= 0.94) & (found[common] <= 0.96))
    assert np.all(found[~common] >= 0.94)


@pytest.mark.slow
def test_where_a_rare_output_carries_a_common_value():
    """Here one share of 1 % is known from an output of which two rows are expected: it is covered more often, never less."""
    found = covered(lip(1, 2, "1"), SHARES / SHARES.sum(), 10_000, 10_000, interval, seed=1)
    assert found.min() >= 0.94
    assert 0.96 < found[3] < 0.985
    assert np.delete(found, 3)[3:].max() <= 0.96


@pytest.mark.parametrize("name", ["grr 1", "oue 1", "lip 2 secrets"])
def test_coverage(name):
    """The same with fewer runs: three standard errors more are allowed."""
    shares, n = SHARES / SHARES.sum(), 10_000
    found = covered(PROTOCOLS[name](), shares, n, 2_000, interval, seed=1)
    assert np.all(found >= 0.935)
    assert np.all(found[n * shares >= 50] <= 0.967)


def test_simulated_coverage_finds_wald_out():
    shares = SHARES / SHARES.sum()
    found = covered(PROTOCOLS["lip 2 secrets"](), shares, 1000, 2_000, wald, seed=1)
    assert found.min() < 0.85


@pytest.mark.parametrize(("k", "n"), [(0, 20), (1, 20), (3, 50), (5, 10), (20, 20)])
def test_without_noise_and_far_from_the_ends_it_is_clopper_and_pearson(k, n):
    """Of few rows; near 0 and 1 the limits are tighter on the side of the end, never on the other beyond its 5 %."""
    low, high = interval(np.array([0.0, 1.0]), np.array([n - k, k]))
    plain = stats.binomtest(k, n).proportion_ci()
    one_sided = stats.binomtest(k, n).proportion_ci(0.90)
    assert plain.low - 1e-3 <= low <= one_sided.low + 2e-3 or low == pytest.approx(plain.low, abs=2e-3)
    assert one_sided.high - 2e-3 <= high <= plain.high + 1e-3


def test_of_many_rows_it_is_the_normal_interval():
    counts, a = np.array([3e5, 2e5, 5e5]), np.array([-0.4, 0.3, 1.7])
    low, high = interval(a, counts)
    found = linear(a, counts)
    assert low == pytest.approx(found.shares - 1.95996 * found.errors, abs=2e-2 * found.errors)
    assert high == pytest.approx(found.shares + 1.95996 * found.errors, abs=2e-2 * found.errors)


def test_tails_are_those_of_the_dirichlet():
    """An upper limit without ends in reach: a quantile of Σ a D, by simulation."""
    draw = np.random.default_rng(0)
    counts, a = np.array([4, 7, 30, 9]), np.array([-1.2, 0.2, 0.6, 1.9])
    low, high = interval(a, counts)
    sums = draw.dirichlet(counts + 0.5, 400_000) @ a
    wide = draw.dirichlet(counts + np.array([0, 0, 0, 1]) + 1e-9, 400_000) @ a
    assert np.mean(sums > high) < 0.035
    assert np.mean(wide > high) > 0.015
    assert low < a @ counts / counts.sum() < high


@pytest.mark.parametrize("estimate", [-3.0, -0.1, 0.0, 0.3, 1.0, 1.4, 5.0])
def test_no_interval_is_empty_or_leaves_what_is_possible(estimate):
    """Even where noise drives the estimate far out of [0, 1]."""
    spread = np.array([estimate - 8, estimate + 8])
    for n in (10, 1000, 100_000):
        low, high = interval(spread, np.array([n / 2, n / 2]))
        assert 0 <= low <= high <= 1
        assert high > 0
        assert low < 1


def test_a_cell_that_holds_everything_is_certain():
    low, high = interval(np.array([1.0, 1.0, 1.0]), np.array([3, 0, 9]))
    assert (low, high) == (1, 1)
