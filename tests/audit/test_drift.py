"""Whether new shares are in the set around old counts: against the definitions, at the edge, and for what never occurred."""

from fractions import Fraction
from math import inf, log

import numpy as np
import pytest

import trechter as tr
from trechter.audit.drift import distance
from trechter.model.over import Over

OLD = [30, 20, 0, 50]


def region(name, counts=OLD, **size):
    return Over.of(name, **size).around(tr.Joint(np.reshape(counts, (2, 2))))


def literal(name, old, new):
    p, q = np.array(old) / sum(old), np.array(new) / sum(new)
    with np.errstate(all="ignore"):
        parts = {
            "chi-square": np.where(q > 0, (p - q) ** 2 / q, np.where(p > 0, inf, 0)),
            "kullback-leibler": np.where(p > 0, p * np.log(p / q), 0),
            "total-variation": abs(p - q),
        }
    return parts[name].sum()


@pytest.mark.parametrize("name", ["chi-square", "kullback-leibler", "total-variation"])
def test_the_distance_is_the_definition(name):
    draw = np.random.default_rng(5)
    for _ in range(30):
        new = draw.integers(0, 40, 4) + 40 * np.eye(4, dtype=int)[draw.integers(4)]
        found, expected = distance(region(name, radius="0.1"), new.tolist()), literal(name, OLD, new)
        assert (inf if found is None else float(found)) == pytest.approx(expected, rel=1e-12)


def test_scaling_is_no_drift_and_the_edge_belongs_to_the_set():
    assert distance(region("chi-square", radius=0), [60, 40, 0, 100]) == 0
    exact = Fraction(1, 50)  # Σ (P̂−P)²/P of (½, ½) against (5/9, 4/9) is 1/80; total variation 1/9
    assert distance(region("chi-square", [1, 1, 0, 0], radius=exact), [5, 4, 0, 0]) == Fraction(1, 80)
    assert distance(region("total-variation", [1, 1, 0, 0], radius=exact), [5, 4, 0, 0]) == Fraction(1, 9)


def test_kullback_leibler_is_rounded_up():
    found = distance(region("kullback-leibler", [1, 1, 0, 0], radius=1), [2, 1, 0, 0])
    assert found is not None
    assert 0 <= float(found) - (0.5 * log(9 / 8)) < 1e-15


def test_a_value_that_no_longer_occurs_is_infinitely_far():
    assert distance(region("chi-square", radius=1), [10, 0, 0, 10]) is None
    assert distance(region("kullback-leibler", radius=1), [10, 0, 0, 10]) is None


def test_boxes_hold_what_is_within_every_interval():
    around = region("boxes", alpha="0.05")
    assert distance(around, OLD) == 0
    assert distance(around, [30, 20, 1, 50]) == 0
    outside = distance(around, [80, 10, 0, 10])
    assert outside is not None
    assert outside == max(Fraction(80, 100) - around.high[0], around.low[3] - Fraction(10, 100))
    assert outside > around.radius
