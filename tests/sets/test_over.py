"""Sets in plain words: their radii, what they are told of, what they refuse."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta, chi2

import trechter as tr
from trechter.exact.radii import chi_square_quantile, rounded_up, total_variation_radius
from trechter.model.over import SETS, Over
from trechter.sets import KINDS

COUNTS = np.arange(1, 16).reshape(3, 5)


@pytest.mark.parametrize("degrees", [1, 2, 14, 999, 100_000])
@pytest.mark.parametrize("alpha", ["0.5", "0.05", "1e-9", "0.999"])
def test_a_quantile_is_rounded_up_and_hardly(degrees, alpha):
    found, known = float(chi_square_quantile(degrees, Fraction(alpha))), chi2.isf(float(alpha), degrees)
    assert known * (1 - 1e-11) <= found <= known * (1 + (1e-11 if degrees < 10_000 else 1e-7))


def test_radii_are_those_of_their_formulas():
    n, k, q = 120, 15, chi2.isf(0.05, 14)
    radius = {name: float(Over.of(name, "0.05").around(tr.Joint(COUNTS)).radius) for name in SETS}
    assert radius["chi-square"] == pytest.approx(q / n, rel=1e-11)
    assert radius["kullback-leibler"] == pytest.approx(q / (2 * n), rel=1e-11)
    assert radius["total-variation"] == pytest.approx(math.sqrt(2 * math.log((2**k - 2) / 0.05) / n), rel=1e-11)
    assert total_variation_radius(15, Fraction(1), Fraction(1, 20)) == 2


def test_a_box_is_a_clopper_pearson_interval_at_alpha_over_k():
    region = Over.of("boxes", "0.05").around(tr.Joint(COUNTS))
    for count, low, high in zip(COUNTS.ravel(), region.low, region.high, strict=True):
        assert float(low) == pytest.approx(beta.ppf(0.05 / 30, count, 121 - count), rel=1e-8)
        assert float(high) == pytest.approx(beta.isf(0.05 / 30, count + 1, 120 - count), rel=1e-8)


def test_rounding_up_never_rounds_down():
    random = np.random.default_rng(0)
    for _ in range(200):
        value = Fraction(int(random.integers(1, 10**9)), int(random.integers(1, 10**9)))
        assert value <= rounded_up(value) <= value * (1 + Fraction(1, 10**10))


@pytest.mark.parametrize("over", [Over.of(name, "0.05") for name in SETS] + [Over.of("chi-square", radius="1/8")])
def test_words_can_be_read_back(over):
    assert Over.from_json(over.to_json()) == over


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda: tr.ChiSquare(alpha=0), "between 0 and 1"),
        (lambda: tr.ChiSquare(alpha=1.5), "1.5"),
        (lambda: tr.ChiSquare(alpha="x"), "'x'"),
        (lambda: tr.ChiSquare(radius=-1), "-1"),
        (lambda: tr.ChiSquare(radius=float("nan")), "nan"),
        (lambda: tr.ChiSquare(alpha="0.05", radius=1), "or else"),
        (lambda: tr.Boxes(radius=1), "alpha"),
        (lambda: Over.of("sphere", "0.05"), "sphere"),
        (lambda: Over.from_json({"alpha": "0.05"}), "name"),
        (lambda: tr.ChiSquare().around(tr.Joint(np.eye(4, dtype=int))), "too few"),
        (lambda: tr.ChiSquare().around(tr.Joint([[0.25, 0.25], [0.25, 0.25]])), "whole counts"),
    ],
)
def test_what_makes_no_set_is_refused(asked, said):
    with pytest.raises(tr.TrechterError, match=said):
        asked()


def test_sets_that_hold_for_any_number_of_rows_take_few():
    few = tr.Joint(np.eye(4, dtype=int))
    assert tr.TotalVariation().around(few).radius == 2
    assert tr.Boxes().around(few).box[1].min() > 0.5


@pytest.mark.parametrize("alpha", ["1e-17", "1e-300", "1e-3000"])
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_confidence_beyond_floats_has_a_set(kind, alpha):
    joint = tr.Joint([[30, 20, 9], [10, 15, 30]])
    small, large = (kind(alpha=each).over.around(joint) for each in ("1e-9", alpha))
    assert large.radius >= small.radius
    assert all(b <= a for a, b in zip(small.low, large.low, strict=True))


@pytest.mark.parametrize("kind", ["chi-square", "kullback-leibler"])
def test_a_radius_beyond_floats_leaves_only_constants(kind):
    joint = tr.Joint([[30, 20, 9], [10, 15, 30]])
    protocol = tr.grr(joint, tr.LDP(1, protect="x")).protocol
    assert tr.worst_case_level(protocol, joint, tr.LDP(1), over=KINDS[kind](radius="1e6")) == pytest.approx(1, abs=1e-6)
