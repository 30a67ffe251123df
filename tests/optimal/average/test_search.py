"""Exact pricing: no posterior is worth more than the search says, and it finds what is worth as much."""

import numpy as np
import pytest
from tests.conftest import random_joint

from trechter.optimal.average.merging import Clusters, merged, starts, tidied
from trechter.optimal.average.pricing import BottleneckPricing, FunnelPricing, pricing, supports
from trechter.optimal.average.search import Search
from trechter.optimal.average.trade import Prices, Trade

SHAPES = ((2, 3), (2, 6), (3, 5), (4, 4), (1, 3), (4, 2))


def family(seed, sign, c, a):
    """A pricing problem at random prices."""
    draw = np.random.default_rng([seed, c, a])
    trade = Trade.of(random_joint(seed, c, a), 0.1, sign)
    return pricing(trade, Prices(draw.normal(0, 0.3, a), float(draw.choice([0.0, 0.7, 1.5, 4.0, 40.0]))))


def sampled(trade, seed, n=20_000):
    """Posteriors of every kind: anywhere, on faces, near the prior."""
    draw, a = np.random.default_rng(seed), trade.letters
    anywhere = [draw.dirichlet(np.full(a, alpha), n // 4) for alpha in (1.0, 0.2, 5.0)]
    near = trade.masses + 0.1 * (draw.dirichlet(np.ones(a), n // 4) - trade.masses)
    return np.vstack([*anywhere, near, np.eye(a)])


def finished(search, steps=400):
    for _ in range(steps):
        if not search.open:
            return search
        search.step()
    raise AssertionError(f"{search.open} simplices are left")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_no_posterior_is_worth_more_than_the_bound(seed, shape, sign):
    """Also those that name more letters than the secret has values: the funnel's best do not."""
    priced = family(seed, sign, *shape)
    search = finished(Search(priced, 1e-7))
    worth = priced.trade.worth(sampled(priced.trade, seed), priced.prices)
    climbed = priced.trade.worth(priced.climbed(sampled(priced.trade, seed)[::40]), priced.prices)
    assert max(worth.max(), climbed.max()) <= search.bound + 1e-11
    found = priced.trade.worth(search.found[:1], priced.prices)[0]
    assert found == pytest.approx(search.best, abs=1e-12)
    assert search.best <= search.bound
    if search.best > 1e-7:
        assert search.bound == pytest.approx(search.best, rel=1e-10, abs=1e-10)
        assert climbed.max() == pytest.approx(search.best, abs=2e-3)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_a_simplex_holds_in_it(seed, sign):
    priced = family(seed, sign, 3, 5)
    draw = np.random.default_rng(seed)
    for _ in range(6):
        face = priced.faces()[draw.integers(len(priced.faces()))]
        corners = draw.dirichlet(np.full(3, 0.5), 3)
        values, seen = priced.corners(corners, np.repeat(face[None], 3, axis=0))
        bound = priced.most(values[None], seen[None])[0]
        inside = np.vstack([draw.dirichlet(np.ones(3), 500), np.eye(3)]) @ corners
        if sign > 0:
            columns = priced.posteriors(inside, np.repeat(face[None], len(inside), axis=0))
        else:  # all columns whose Lv is in the simplex
            sample = sampled(priced.trade, seed)
            shares = np.linalg.lstsq(np.vstack([corners.T, np.ones(3)]), _with_ones(priced.trade.seen(sample)).T, rcond=None)[
                0
            ]
            columns = sample[np.all(shares >= 0, axis=0)]
        assert priced.trade.worth(columns, priced.prices).max(initial=-np.inf) <= bound + 1e-12


def _with_ones(z):
    return np.hstack([z, np.ones((len(z), 1))])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(8))
def test_climbing_never_goes_down(seed, sign, monkeypatch):
    monkeypatch.setattr("trechter.optimal.average.pricing.STEPS", 1)
    priced = family(seed, sign, 3, 6)
    v = np.random.default_rng(seed).dirichlet(np.ones(6), 50)
    for _ in range(30):
        before, v = priced.trade.worth(v, priced.prices), priced.climbed(v)
        if sign < 0 or priced.prices.limit > 1.05:
            assert np.all(priced.trade.worth(v, priced.prices) >= before - 1e-12)


def test_blahut_arimoto_keeps_a_mixture_a_protocol_and_gains():
    trade = Trade.of(random_joint(4, 3, 6), 0.1, -1)
    priced = BottleneckPricing(trade, Prices(np.zeros(6), 6.0))
    draw = np.random.default_rng(0)
    q = draw.dirichlet(np.ones(5), 6).T * trade.masses
    columns, shares = q / q.sum(axis=1, keepdims=True), q.sum(axis=1)
    better, prices = priced.improved(columns, shares, 1000)
    weights = np.linalg.lstsq(better.T, trade.masses, rcond=None)[0]
    free = Prices(np.zeros(6), 6.0)
    assert weights @ better == pytest.approx(trade.masses)
    assert weights @ trade.worth(better, free) > shares @ trade.worth(columns, free)
    assert np.abs(trade.worth(better, prices)).max() < 1e-6  # at its own prices nothing in it is worth more, or less


def test_faces_are_as_large_as_the_rank():
    assert supports(Trade.of(random_joint(0, 3, 6), 0.1, 1)).shape == (20, 3)
    twice = random_joint(0, 3, 6).counts
    twice[2] = 2 * twice[1]
    from trechter.model.joint import Joint

    assert supports(Trade.of(Joint(twice), 0.1, 1)).shape == (15, 2)
    assert isinstance(family(0, 1, 2, 3), FunnelPricing)


@pytest.mark.parametrize("seed", range(4))
def test_merging_loses_what_it_says(seed):
    trade = Trade.of(random_joint(seed, 3, 6), 0.1, 1)
    for group, leaked in merged(trade):
        rows = np.array([(group == g) * trade.masses for g in np.unique(group)])
        columns = rows / rows.sum(axis=1, keepdims=True)
        assert rows.sum(axis=1) @ trade.leaked(columns) == pytest.approx(leaked, abs=1e-12)
    assert len(np.unique(group)) == 1
    assert len(starts(trade)) == 2 * 6 - 1


def test_the_first_pair_is_the_best_of_all():
    """By trying all pairs literally: the most of S for what is lost of X."""
    trade = Trade.of(random_joint(7, 3, 5), 0.1, 1)
    groups = [group for group, _ in merged(trade)]
    scores = {}
    for i in range(5):
        for j in range(i + 1, 5):
            rows = np.delete(np.diag(trade.masses), j, axis=0)
            rows[i, j] = trade.masses[j]
            columns, q = rows / rows.sum(axis=1, keepdims=True), rows.sum(axis=1)
            lost_s, lost_x = trade.all_leaked - q @ trade.leaked(columns), trade.all_said - q @ trade.said(columns)
            scores[i, j] = lost_s / lost_x
    assert scores[tuple(np.flatnonzero(groups[1] == groups[1][np.argmax(np.bincount(groups[1])[groups[1]])]))] == max(
        scores.values()
    )


def test_near_columns_are_added_up_and_others_are_not():
    trade = Trade.of(random_joint(3, 2, 4), 0.1, 1)
    columns = np.vstack([np.eye(4), trade.masses, trade.masses + 1e-7 * np.array([1, -1, 0, 0])])
    shares = np.array([*(0.2 * trade.masses), 0.5, 0.3])
    few, weights = tidied(trade, columns, shares, 1e-9)
    assert len(few) == 5
    assert weights @ few == pytest.approx(shares @ columns)
    assert len(tidied(trade, columns, shares, 0.0)[0]) == 6
    assert len(Clusters.of_letters(trade).alive) == 4
