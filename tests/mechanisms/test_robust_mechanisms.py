"""Mechanisms for every distribution in a set: certified, at the largest α, or refused."""

import math

import numpy as np
import pytest

import trechter as tr

JOINT = tr.Joint([[200, 100, 50], [50, 100, 200]])
OVER = tr.ChiSquare(alpha="0.05")
CALIBRATED = [tr.grr, tr.oue, tr.sue, tr.conditional_reporting, tr.subset]


@pytest.mark.parametrize("make", CALIBRATED)
def test_the_level_is_met_from_below(make):
    found = make(JOINT, tr.Robust(tr.LDP("0.5"), over=OVER))
    plain = make(JOINT, tr.LDP("0.5"))
    assert found.certificate.holds
    assert 0.499 < tr.worst_case_level(found.protocol, JOINT, tr.LDP(1), over=OVER) <= 0.5
    assert 0 < found.stats["alpha"] < plain.stats["alpha"]
    assert 0 < found.utility < plain.utility


def test_for_lip_too():
    found = tr.grr(JOINT, tr.Robust(tr.LIP("0.5"), over=OVER))
    assert found.certificate.holds
    assert 0.499 < found.certificate.level <= 0.5


def test_a_matrix_of_ones_own():
    found = tr.pram(np.eye(3), JOINT, tr.Robust(tr.LDP("0.5"), over=OVER))
    assert found.certificate.holds
    assert found.certificate.level > 0.499


def test_a_radius_of_nothing_is_the_plain_promise():
    found = tr.grr(JOINT, tr.Robust(tr.LDP("0.5"), over=tr.ChiSquare(radius=0)))
    assert found.stats["alpha"] == pytest.approx(tr.grr(JOINT, tr.LDP("0.5")).stats["alpha"], abs=1e-6)


def test_without_a_limit_everything_is_said():
    assert math.isinf(tr.grr(JOINT, tr.Robust(tr.LDP("inf"), over=OVER)).stats["alpha"])


def test_what_lies_about_the_secret_may_have_no_level_small_enough():
    """Conditional Reporting at α = 0 is private for the shares it was made from, and not for others."""
    with pytest.raises(tr.TrechterError, match="no α was found"):
        tr.conditional_reporting(JOINT, tr.Robust(tr.LDP("0.01"), over=OVER))


def test_what_cannot_be_calibrated_says_so():
    robust = tr.Robust(tr.LDP("0.5"), over=OVER)
    two = tr.Joint(np.arange(1, 13).reshape(2, 3, 2) * 30)
    with pytest.raises(tr.TrechterError, match="products are for the counts as they are"):
        tr.product(two, robust)
    with pytest.raises(tr.TrechterError, match="products are for the counts as they are"):
        tr.papers_product(two, robust)
    many = tr.Joint(np.random.default_rng(1).integers(50, 90, (2, 14)))
    with pytest.raises(tr.TrechterError, match="so many outputs"):
        tr.oue(many, robust)
