"""The report's figures against slow sums over (s, x, y)."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from tests.report.releases import case, made

from trechter.model.joint import Joint
from trechter.model.randomness import SecureRandom
from trechter.privacy import LIP
from trechter.report.facts import Facts, foremost, movement
from trechter.report.sections.protocol import deviations

NAMES = ["one", "two", "task", "secrets", "typed", "reads", "noisy", "rare", "identity", "constant"]


def cells(release):
    """Every (s, x, y) with its probability, from the integers."""
    joint, protocol = release.joint, release.result.protocol
    shape, total = joint.shape[1:], int(joint.counts.sum())
    for (s, *x), n in np.ndenumerate(joint.counts):
        flat = int(np.ravel_multi_index(x, shape))
        letter = flat if protocol.reads == "x" else s * math.prod(shape) + flat
        for y in range(len(protocol.weights)):
            yield s, tuple(x), y, int(n) / total * int(protocol.weights[y, letter]) / 2**protocol.bits


@pytest.mark.parametrize("name", NAMES)
def test_what_readers_learn_of_each_column(name):
    release = case(name)
    facts, joint = Facts(release), release.joint
    for j, seen in enumerate(facts.seen):
        p, q = defaultdict(float), defaultdict(float)
        for _, x, y, mass in cells(release):
            p[x[j], y] += mass
            q[y] += mass
        outputs = [y for y in q if q[y] > 0]
        for v in range(len(seen.attribute)):
            before = sum(p[v, y] for y in outputs)
            assert seen.before[v] == pytest.approx(before)
            if before:
                assert seen.truth[v] == pytest.approx(sum(p[v, y] ** 2 / q[y] for y in outputs) / before)
                assert seen.exact[v] == pytest.approx(sum(p[v, y] for y in outputs if p[v, y] / q[y] > 1 - 1e-6) / before)
        best = sum(max(p[v, y] for v in range(len(seen.attribute))) for y in outputs)
        assert seen.guess[1] == pytest.approx(best)
        said = sum(m * math.log(m / (q[y] * seen.before[v])) for (v, y), m in p.items() if m > 0)
        assert seen.information == pytest.approx(said, abs=1e-12)
        assert len(seen.before) == joint.shape[1 + j]


@pytest.mark.parametrize("name", NAMES)
def test_shares_after_are_shares(name):
    for seen in Facts(case(name)).seen:
        assert seen.after.sum() == pytest.approx(1)
        assert np.all(seen.after >= 0)


def test_shares_after_count_the_rows_of_plain_columns():
    release = case("noisy")
    facts = Facts(release)
    (seen,) = facts.seen
    assert seen.plain
    assert seen.after * release.drawn.sum() == pytest.approx(release.drawn)
    assert not np.allclose(seen.after, seen.before, atol=0.01)


def test_the_identity_keeps_everything():
    (seen,) = Facts(case("identity")).seen
    assert np.allclose(seen.truth, 1)
    assert np.allclose(seen.exact, 1)
    assert seen.after == pytest.approx(seen.before)


def test_only_perfect_privacy_of_several_outputs_tells_the_counts():
    told = [[20, 30, 40], [30, 40, 20]], [[20, 30], [30, 20]]  # of two values nothing but a constant is independent
    assert [made(Joint(np.array(counts)), LIP(0)).tells_counts for counts in told] == [True, False]
    assert not made(Joint(np.array(told[0])), LIP(1)).tells_counts


@pytest.mark.parametrize("name", NAMES)
def test_ranges_of_posteriors(name):
    release = case(name)
    p, q = defaultdict(float), defaultdict(float)
    for s, _, y, mass in cells(release):
        p[s, y] += mass
        q[y] += mass
    facts = Facts(release)
    for s in range(release.joint.shape[0]):
        posterior = [p[s, y] / q[y] for y in q if q[y] > 0]
        assert facts.measured[s] == pytest.approx([min(posterior), max(posterior)])
        assert facts.promised[s][0] <= min(posterior) + 1e-12
        assert max(posterior) <= facts.promised[s][1] + 1e-12


def test_deviations_are_standard():
    """Over many releases of one protocol a deviation has mean 0 and variance 1."""
    release = case("noisy")
    kernel, masses = release.result.protocol.kernel(), release.joint.exact.sum(axis=0)
    codes = np.repeat(np.arange(len(masses)), masses)
    scores = [
        deviations(Facts(replace(release, drawn=np.bincount(kernel(codes, SecureRandom()), minlength=3)))) for _ in range(400)
    ]
    assert np.all(abs(np.mean(scores, axis=0)) < 0.3)
    assert np.all(abs(np.std(scores, axis=0) - 1) < 0.25)


def test_movement_and_foremost():
    assert movement(0.2, 0.5) == pytest.approx(math.log(4))
    assert movement(0.5, 0.2) == pytest.approx(math.log(4))
    assert movement(0.3, 0) == movement(0.3, 1) == math.inf
    assert movement(0.0, 0.0) == 0
    assert foremost([1, 5, 2, 5], 2) == [1, 3]
    assert foremost([1, 5], 9) == [0, 1]
