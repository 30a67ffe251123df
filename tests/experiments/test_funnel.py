"""Figures 3, 4 and 5: Γ against the row cone, the papers' product, and whether their numbers are all there."""

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from experiments.funnel import gamma
from experiments.funnel.fig5_lip_srlip import even_product, tuned_product
from experiments.funnel.setting import JOINTS, timed, uniform_joint
from tests.conftest import random_matrix

import trechter as tr
from trechter.workflow.reproduce import Script

PATHS = sorted((Path(__file__).parents[2] / "experiments" / "funnel").glob("fig*.py"))
NAMES = [path.stem for path in PATHS]


@pytest.fixture(params=PATHS, ids=NAMES)
def script(request):
    return Script(request.param)


def test_numbers_are_expected_of_every_method_at_every_level(script):
    """Of a full run; a quick one leaves out ε = 0.5 where that takes long."""
    groups = [(line["rows"], line["epsilon"], line["method"]) for line in script.expected if line["quantity"] == "utility"]
    methods = {method for _, _, method in groups}
    full = {tuple(group) for rows, *group in groups if rows == str(JOINTS)}
    quick = {tuple(group) for rows, *group in groups if rows != str(JOINTS)}
    assert full == set(product(("0.5", "1.0", "1.5", "2.0"), methods))
    assert quick >= set(product(("1.0", "1.5", "2.0"), methods))


def test_gamma_and_row_cone_are_expected_to_agree():
    """On the same joints, for every ε: the gap that Figure 3 of the papers shows is one of time."""
    lines = [line for line in Script(PATHS[0]).expected if line["quantity"] == "utility" and line["rows"] == "10"]
    means = {(line["epsilon"], line["method"]): float(line["mean"]) for line in lines}
    compared = [epsilon for epsilon, method in means if "Γ" in method]
    assert set(compared) == {"0.5", "1.0", "1.5", "2.0"}
    for epsilon in compared:
        assert means[epsilon, "ε-LDP, vertices of Γ (papers)"] == pytest.approx(means[epsilon, "ε-LDP, row cone"], abs=1e-8)


@pytest.mark.slow
def test_gamma_is_the_row_cone():
    pytest.importorskip("cdd", reason="needs pycddlib-standalone, which has the GPL")
    for seed in range(3):
        joint = uniform_joint(seed, 2, 4)
        for epsilon in ("1/2", "1"):
            utility, vertices = gamma.gamma_optimum(joint, float(Fraction(epsilon)))
            assert utility == pytest.approx(tr.design(joint, tr.LDP(epsilon)).utility, abs=1e-8)
            assert vertices > 100


def test_gamma_holds_the_private_matrices_and_no_others():
    inside = []
    for seed in range(60):
        joint, epsilon = uniform_joint(seed, 3, 4), 0.6
        Q = random_matrix(seed, 4, 4) * 0.7 + 0.3 / 4
        rows = gamma._inequalities(joint, epsilon)
        assert rows.shape == (4 * (4 + 3 * 2), 1 + 4 * 3)
        given = joint.p / joint.p_s[:, None]
        level = max(math.log(a / b) for row in Q for a in given @ row for b in given @ row)
        assert np.all(rows[:, 0] + rows[:, 1:] @ Q[:-1].ravel() >= 0) == (level <= epsilon)
        negative = Q + np.array([[0], [0], [-1], [1]])
        assert np.any(rows[:, 0] + rows[:, 1:] @ negative[:-1].ravel() < 0)
        inside.append(level <= epsilon)
    assert 10 < sum(inside) < 50


def test_a_product_tuned_to_its_level():
    """Where the papers' product is above ε as well as where it is below."""
    above = tr.Joint(np.array([[[2, 9], [5, 4]], [[1, 2], [10, 3]]]))
    below = uniform_joint(0, 2, 3, 3, 4)
    for joint, epsilon in ((above, "1/10"), (below, "1")):
        papers, tuned = even_product(joint, epsilon), tuned_product(joint, epsilon)
        assert tuned.certificate.level <= Fraction(epsilon)
        assert tuned.certificate.level >= 0.9 * float(Fraction(epsilon))
        assert (tuned.utility > papers.utility) == (papers.certificate.level < Fraction(epsilon))
        assert tr.certify(tuned.protocol, joint, tr.SRLIP(Fraction(epsilon) + Fraction(1, 10**9))).holds


def test_the_papers_product_breaks_its_promise_as_the_page_says():
    joint = tr.Joint(np.array([[[2, 9], [5, 4]], [[1, 2], [10, 3]]]))
    found = even_product(joint, "1/10")
    assert found.certificate.level == pytest.approx(0.10236, abs=1e-5)
    assert tr.LIP("inf").level(found.protocol, joint) == pytest.approx(found.certificate.level, abs=1e-9)
    assert not tr.certify(found.protocol, joint, tr.SRLIP("102/1000")).holds


@pytest.mark.slow
def test_how_often_the_papers_product_breaks_its_promise():
    """As the page says of sixty joints: rarely, so that ten may well show none."""
    draws = (np.random.default_rng(seed).dirichlet(np.full(18, 0.5)).reshape(2, 3, 3) for seed in range(60))
    levels = [even_product(tr.Joint(p), 1).certificate.level for p in draws]
    assert sum(level > 1 for level in levels) == 3
    assert max(levels) == pytest.approx(1.253, abs=1e-3)


def test_time_is_the_least_of_several():
    calls = []

    def slow_once():
        calls.append(1)
        if len(calls) == 1:
            sum(range(10**6))
        return len(calls)

    found, seconds = timed(slow_once)
    assert (found, len(calls)) == (3, 3)
    assert seconds < 5e-3
