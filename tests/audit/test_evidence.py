"""What rows prove: never more than is true, and enough to matter."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.levels import worst_ratio

from trechter.audit.evidence import Evidence, _excess
from trechter.model.spec import NAMES

SEEDS = st.integers(0, 10**9)


def drawn(seed, n, sizes, kept, reads_s=0.0, p=None):
    """Rows (s, x, y): y is x with probability `kept`, or s with probability `reads_s`, else anything."""
    c, a = sizes
    draw = np.random.default_rng(seed)
    p = draw.dirichlet(np.ones(c * a)) if p is None else p
    cell = draw.choice(c * a, n, p=p)
    s, x, u = cell // a, cell % a, draw.random(n)
    y = np.where(u < kept, x, np.where(u < kept + reads_s, s, draw.integers(0, a, n)))
    return s, x, y


def evidence(s, x, y, c, a, b=None, shape=None):
    return Evidence.of(s, x, y, (c, a, b or a), shape or (a,))


def response(a, kept):
    """GRR as exact rows."""
    kept = Fraction(kept)
    return [[(1 - kept) / a + kept * (x == y) for x in range(a)] for y in range(a)]


def counts(s, x, c, a):
    table = np.zeros((c, a), int)
    np.add.at(table, (s, x), 1)
    return table


def attributes(a):
    """x as one attribute, or as two if its values can be halved."""
    return (a,) if a % 2 else (a // 2, 2)


def level(name, kept, table):
    """The true level of the release, in nats."""
    c, a = table.shape
    return math.log(worst_ratio(name, response(a, kept), table.reshape(c, *attributes(a))))


@settings(max_examples=30)
@given(SEEDS, st.sampled_from([(2, 3), (3, 2, 2)]), st.sampled_from(NAMES))
def test_the_empirical_level_is_the_definition(seed, shape, name):
    """As if every pair (s, x) had been given the frequencies that were seen with it."""
    c, a = shape[0], math.prod(shape[1:])
    s, x, y = drawn(seed, 60 + seed % 400, (c, a), 0.5)
    found = evidence(s, x, y, c, a, shape=shape[1:])
    seen = found.whole
    sums = seen.sum(axis=2)
    rates = [
        [Fraction(int(seen[s, x, y]), int(sums[s, x])) if sums[s, x] else Fraction(1, a) for s in range(c) for x in range(a)]
        for y in range(a)
    ]
    assert found.level(name) == worst_ratio(name, rates, sums.reshape(shape), "sx")


WORLDS = [(2, 3, 0.3, 2000), (3, 5, 0.7, 1000), (4, 6, 0.5, 4000), (6, 12, 0.02, 1000)]


def wrong_claims(name, alpha, seeds, worlds=WORLDS, look=lambda found: found):
    """How often more is claimed than is true, over all worlds and seeds; `look` may spoil the evidence."""
    wrong = 0
    for (c, a, kept, n), seed in product(worlds, seeds):
        s, x, y = drawn(seed, n, (c, a), kept)
        claim = look(evidence(s, x, y, c, a, shape=attributes(a))).claim(name, alpha)
        wrong += math.log(claim.bound) > level(name, kept, counts(s, x, c, a))
    return wrong


@pytest.mark.parametrize("name", ["lip", "ldp"])
def test_what_is_claimed_is_true(name):
    assert wrong_claims(name, 0.05, range(8)) <= 0.05 * 8 * len(WORLDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_is_claimed_is_true_in_the_long_run(name):
    assert wrong_claims(name, 0.05, range(50)) <= 0.05 * 50 * len(WORLDS)


def test_this_would_show_if_the_rows_that_choose_were_those_that_test():
    def twice(found):
        return Evidence(np.array([found.counts[0]] * 2), found.shape)

    assert wrong_claims("ldp", 0.05, range(20), WORLDS[-1:], twice) > 2 * 0.05 * 20


def test_a_release_that_claims_half_its_level_is_refuted():
    """At n = 20,000, for nearly every joint whose level is worth the name; with the claims at 95 % confidence."""
    refuted = runs = 0
    for seed in range(24):
        s, x, y = drawn(seed, 20_000, (2 + seed % 3, 4), 0.7)
        table = counts(s, x, 2 + seed % 3, 4)
        true = level("lip", 0.7, table)
        if true > 0.15:
            runs += 1
            refuted += math.log(evidence(s, x, y, *table.shape).claim("lip", 0.05).bound) > true / 2
    assert runs > 15
    assert refuted >= 0.95 * runs


def test_a_leak_that_only_side_channels_show():
    """y is s xor x¹: independent of s, until x¹ is known."""
    draw = np.random.default_rng(1)
    s, one, two = draw.integers(0, 2, (3, 5000))
    found = evidence(s, 2 * one + two, s ^ one, 2, 4, 2, (2, 2))
    assert found.claim("lip", 0.05).bound < Fraction(105, 100)
    claim = found.claim("srldp", 0.05)
    assert claim.bound > 100
    assert claim.known[0][0] == 0
    assert (claim.over[0] ^ claim.known[0][1],) == claim.outputs


def test_with_side_channels_hardly_less_is_claimed_than_without():
    """The notion implies the plain one, so what refutes that refutes it."""
    for seed in range(10):
        s, x, y = drawn(seed, 3000, (3, 6), 0.6)
        found = evidence(s, x, y, 3, 6, shape=(3, 2))
        for name in ("lip", "ldp"):
            assert math.log(found.claim("sr" + name, 0.1).bound) >= math.log(found.claim(name, 0.05).bound)


def test_a_claim_is_about_the_rows_that_it_names():
    s, x, y = drawn(3, 3000, (3, 4), 0.6)
    found = evidence(s, x, y, 3, 4)
    second = found.counts[1].sum(axis=1)
    for name in ("lip", "ldp"):
        claim = found.claim(name, 0.05)
        k, n, l, m = claim.seen
        assert k == sum(second[v, w] for v, w in product(claim.over, claim.outputs))
        assert (l, m) == (sum(second[v, w] for v, w in product(claim.under, claim.outputs)), second[list(claim.under)].sum())
        assert k / n > l / m


@pytest.mark.parametrize("kept", [0.0, 1e-9])
def test_nothing_is_claimed_of_a_release_that_says_nothing(kept):
    wrong = sum(evidence(*drawn(seed, 500, (3, 4), kept), 3, 4).claim("ldp", 0.05).bound > 1 for seed in range(100))
    assert wrong <= 5


def test_an_attacker_is_measured_on_rows_that_were_not_learned_from():
    """Outputs that identify rows teach nothing about others; outputs that are the secret teach all."""
    n = 2000
    s = np.random.default_rng(0).integers(0, 3, n)
    ids = evidence(s, np.zeros(n, int), np.arange(n), 3, 1, n).attack(0.05)
    assert ids.right == ids.right_by_mode
    full = evidence(s, np.zeros(n, int), s, 3, 1, 3).attack(0.05)
    assert (full.right, full.rows, full.interval[1]) == (1000, 1000, 1.0)
    assert full.interval_by_mode[0] < full.right_by_mode / 1000 < full.interval_by_mode[1]


def test_functions_are_recognised():
    s, x, _ = drawn(5, 2000, (2, 4), 1)
    weights, reads = evidence(s, x, x // 2, 2, 4, 2).mapping()
    assert (reads, weights.tolist()) == ("x", [[1, 1, 0, 0], [0, 0, 1, 1]])
    weights, reads = evidence(s, x, s ^ (x // 2), 2, 4, 2).mapping()
    assert (reads, weights.tolist()[0]) == ("sx", [1, 1, 0, 0, 0, 0, 1, 1])
    y = x // 2
    y[7] ^= 1
    assert evidence(s, x, y, 2, 4, 2).mapping() is None
    alone = np.arange(50)  # every x once: any y would be a function of it
    assert evidence(alone % 2, alone, alone % 3, 2, 50, 3).mapping() is None


@pytest.mark.parametrize("shape", [(2, 2), (3, 40), (30, 2)])
def test_association_has_the_moments_of_permutations(shape):
    """For fixed margins, χ² in standard deviations has mean 0 and spread 1."""
    draw = np.random.default_rng(2)
    x, y = (draw.choice(k, 300, p=draw.dirichlet(np.ones(k))) for k in shape)
    found = []
    for _ in range(1500):
        table = np.zeros(shape, int)
        np.add.at(table, (draw.permutation(x), y), 1)
        found.append(_excess(table))
    assert abs(np.mean(found)) < 0.13
    assert 0.85 < np.std(found) < 1.15


def test_shuffled_rows_show_no_association():
    wrong = 0
    for seed in range(50):
        s, x, y = drawn(seed, 2000, (2, 5), 0.3)
        assert evidence(s, x, y, 2, 5).associated()
        y = np.random.default_rng(seed).permutation(y)
        wrong += evidence(s, x, y, 2, 5).associated()
    assert wrong <= 3
