"""Releases of so many values that the protocol is sparse: the report says what it would say of the matrix."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import random_joint
from tests.model.test_sparse import protocol_of, random_weights
from tests.report.releases import case, made

import trechter as tr
from trechter.model.dense import DenseProtocol
from trechter.model.randomness import SecureRandom
from trechter.model.sparse_weights import SparseWeights
from trechter.report import codebook, page
from trechter.report.facts import Facts
from trechter.report.sections.protocol import UNLIKELY, chance, deviations, variance


def twins(seed, shape, reads):
    """The same release by sparse weights and by their matrix."""
    joint = random_joint(seed, *shape)
    sparse = protocol_of(random_weights(seed, joint.p.size if reads == "sx" else len(joint.p_x), 62), joint, reads=reads)
    dense = DenseProtocol(sparse.weights, 62, sparse.outputs, joint.secret, joint.release, reads)
    first = made(joint, tr.LIP("inf"), sparse, secure=False)
    return first, made(joint, tr.LIP("inf"), dense, secure=False), sparse


@pytest.mark.parametrize("reads", ["x", "sx"])
@pytest.mark.parametrize("shape", [(2, 5), (3, 4), (2, 3, 2)])
def test_all_figures_are_those_of_the_matrix(shape, reads):
    for seed in range(4):
        first, second, protocol = twins(seed, shape, reads)
        second = replace(second, drawn=first.drawn)
        few, all_ = Facts(first), Facts(second)
        for name in ("output_shares", "secret_given", "measured", "information"):
            assert getattr(few, name) == pytest.approx(getattr(all_, name), abs=1e-9), name
        for mine, theirs in zip(few.seen, all_.seen, strict=True):
            for name in ("before", "after", "truth", "exact", "guess", "information", "entropy"):
                assert getattr(mine, name) == pytest.approx(getattr(theirs, name), abs=1e-4), name
        n = few.masses * 1000
        assert variance(protocol, n) == pytest.approx(variance(second.result.protocol, n), abs=1e-9)
        assert deviations(few) == pytest.approx(deviations(all_), abs=1e-6)
        assert codebook.certain(first) == codebook.certain(second)


def test_what_an_output_tells_is_listed_likeliest_first():
    weights = SparseWeights([0, 0], [0, 0, 1], [0, 1, 2], [4, 4, 4], 3, 2)
    joint = tr.Joint([[1, 5, 3], [1, 2, 4]])
    values, shares = Facts(made(joint, tr.LIP("inf"), protocol_of(weights, joint))).told.of(0)
    assert values.tolist() == [1, 0]
    assert shares == pytest.approx([7 / 9, 2 / 9])


def test_chance_is_bounded_and_no_excuse():
    """Samples as they should be are explained; where 2 % of the rows have moved they are not."""
    release = case("noisy")
    protocol, n = release.result.protocol, int(release.joint.rows)
    codes, kernel = np.repeat(np.arange(3), release.joint.exact.sum(axis=0)), protocol.kernel()
    for scale in (1, 100):
        many = np.repeat(codes, scale)
        joint = tr.Joint(release.joint.counts * scale, secret=release.joint.secret, release=release.joint.release)
        found = [
            chance(Facts(replace(release, joint=joint, drawn=np.bincount(kernel(many, SecureRandom()), minlength=3))))
            for _ in range(100)
        ]
        assert min(found) > UNLIKELY
        assert np.median(found) > 0.5
    moved = np.bincount(kernel(many, SecureRandom()), minlength=3) + np.array([-1, 1, 0]) * (n * scale // 50)
    assert chance(Facts(replace(release, joint=joint, drawn=moved))) < UNLIKELY


def test_rare_outputs_may_be_drawn(large):
    """Among thousands of outputs that are seldom drawn some are five standard deviations off, as they should."""
    assert chance(Facts(large)) > UNLIKELY
    rare = np.flatnonzero(Facts(large).output_shares * large.drawn.sum() < 2)[0]
    drawn = large.drawn.copy()
    drawn[rare], drawn[np.argmax(drawn)] = 30, drawn.max() - 30
    assert chance(Facts(replace(large, drawn=drawn))) < UNLIKELY


@pytest.fixture(scope="module")
def large():
    """Two secrets, so many values that no matrix of them would be made."""
    counts = np.random.default_rng(3).integers(0, 3, (2, 9000)) * np.random.default_rng(4).integers(1, 9, 9000)
    return made(tr.Joint(counts + (counts.sum(axis=0) == 0)), tr.LIP("0.5"))


def test_no_matrix_is_ever_made(large):
    with pytest.raises(tr.TrechterError, match="too many for a matrix"):
        large.result.protocol.matrix  # noqa: B018 (it is what must not be asked for)
    shown = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.render(large)))
    assert "The 24 most frequent of" in shown
    assert "as chance would have it" in shown
    assert "8980 other values" in shown
    assert "more outputs are explained in `protocol.json`" in codebook.render(large)
