"""The posterior where it is known, what outputs say, and imputations from it."""

import numpy as np
import pytest
from scipy import stats
from tests.conftest import random_matrix

from trechter.estimation.imputation import impute
from trechter.estimation.posterior import Draws, given, posterior


def test_without_noise_it_is_the_dirichlet():
    counts = np.array([3, 0, 40, 7])
    found = Draws(posterior(np.eye(4), counts, 4000, 0.5, np.random.default_rng(0)))
    exact = stats.dirichlet(counts + 0.5)
    assert np.all(np.abs(found.mean - exact.mean()) < 4 * found.errors)
    assert found.spread == pytest.approx(np.sqrt(exact.var()), rel=0.05)
    assert found.effective == pytest.approx(np.full(4, 4000), rel=0.2)


def test_with_noise_it_is_what_summing_over_a_grid_gives():
    """Two values: the posterior is one-dimensional."""
    q, counts = np.array([[0.8, 0.3], [0.2, 0.7]]), np.array([55, 45])
    found = Draws(posterior(q, counts, 4000, 0.5, np.random.default_rng(1)))
    p = np.linspace(0, 1, 20_001)[1:-1]
    log = stats.beta(0.5, 0.5).logpdf(p) + counts @ np.log(q @ np.stack([p, 1 - p]))
    weight = np.exp(log - log.max())
    mean = (p * weight).sum() / weight.sum()
    spread = np.sqrt(((p - mean) ** 2 * weight).sum() / weight.sum())
    assert abs(found.mean[0] - mean) < 4 * found.errors[0]
    assert found.spread[0] == pytest.approx(spread, rel=0.05)
    wrong = Draws(posterior(q[::-1], counts, 4000, 0.5, np.random.default_rng(1)))
    assert abs(wrong.mean[0] - mean) > 20 * wrong.errors[0]


def test_what_outputs_leave_open_is_crossed():
    """Letters 0 and 1 have the same outputs, and so do 2 and 3: the prior alone divides what they share."""
    q, counts = np.array([[0.8, 0.8, 0.3, 0.3], [0.2, 0.2, 0.7, 0.7]]), np.array([550, 450])
    found = Draws(posterior(q, counts, 1000, 0.5, np.random.default_rng(0)))
    assert found.effective.min() > 100  # data augmentation alone: below 10
    halves = Draws(found.cells[:, ::2] / (found.cells[:, ::2] + found.cells[:, 1::2]))
    assert np.all(np.abs(halves.mean - 0.5) < 4 * halves.errors)
    assert halves.spread == pytest.approx(stats.beta(0.5, 0.5).std(), rel=0.1)


def test_three_values_of_a_noisy_protocol_are_what_summing_over_a_grid_gives():
    """Few rows and much noise: the posterior fills the simplex, up to its edges."""
    q, counts, beta = np.array([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]]), np.array([60, 30, 20]), 1.5
    found = Draws(posterior(q, counts, 3000, beta, np.random.default_rng(2)))
    grid = (np.arange(600) + 0.5) / 600
    p = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    p = np.hstack([p, 1 - p.sum(axis=1, keepdims=True)])[p.sum(axis=1) < 1]
    log = (beta - 1) * np.log(p).sum(axis=1) + np.log(p @ q.T) @ counts
    weight = np.exp(log - log.max()) / np.exp(log - log.max()).sum()
    mean = weight @ p
    assert np.all(np.abs(found.mean - mean) < 4 * found.errors)
    wrong = Draws(posterior(q, counts[[1, 2, 0]], 1000, beta, np.random.default_rng(2)))
    assert np.abs(wrong.mean - mean)[0] > 20 * wrong.errors[0]
    assert found.spread == pytest.approx(np.sqrt(weight @ (p - mean) ** 2), rel=0.08)


def test_the_error_of_a_mean_is_as_large_as_it_says():
    """An autoregression whose true error is known."""
    draw, rho, n = np.random.default_rng(0), 0.9, 40_000
    noise, x = draw.normal(size=n), np.empty(n)
    x[0] = 0
    for t in range(1, n):
        x[t] = rho * x[t - 1] + noise[t]
    assert Draws(x[:, None]).effective[0] == pytest.approx(n * (1 - rho) / (1 + rho), rel=0.2)


def test_what_outputs_say_is_bayes():
    q, p = random_matrix(0, 4, 3), np.array([0.2, 0.0, 0.8])
    for y, odds in enumerate(given(q, p)):
        assert odds == pytest.approx([q[y, x] * p[x] / sum(q[y, z] * p[z] for z in range(3)) for x in range(3)])
    assert given(np.array([[0.0, 0.4]]), np.array([1.0, 0.0])).tolist() == [[0, 1]]


def test_imputed_values_have_the_odds_of_their_outputs():
    q, p, draw = random_matrix(1, 3, 4), np.array([0.1, 0.2, 0.3, 0.4]), np.random.default_rng(0)
    outputs = draw.choice(3, 200_000, p=q @ p)
    copies = impute(q, outputs, 3, draw)
    assert len({copy.tobytes() for copy in copies}) == 3
    odds = given(q, p)
    for copy in copies:
        shares = np.bincount(copy, minlength=4) / len(copy)
        for y in range(3):
            rows = copy[outputs == y]
            # given the shares of this copy the rows of an output are multinomial
            assert stats.chisquare(np.bincount(rows, minlength=4), len(rows) * given(q, shares)[y]).pvalue > 1e-6
            assert stats.chisquare(np.bincount(rows, minlength=4), len(rows) * odds[[1, 2, 0][y]]).pvalue < 1e-6
