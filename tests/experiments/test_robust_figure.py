"""Figure 2: its setting is the paper's, its two numbers are their definitions, and what the page claims."""

import math

import numpy as np
import pytest
from experiments.robust import fig2_robust, setting
from experiments.robust.setting import ASKED, FOUR, HALVES, SQUARED, inside, instance, measured, within
from scipy.stats import chi2

from experiments import bands


def literal(weights, truth):
    """ε* of a matrix over (s, u), one number after the other."""
    c, a = truth.shape
    given = [[sum(truth[s, u] * row[s * a + u] for u in range(a)) / truth[s].sum() for row in weights] for s in range(c)]
    ratios = [given[s][y] / given[t][y] for y in range(len(weights)) for s in range(c) for t in range(c) if given[s][y] > 0]
    return math.log(max(ratios))


@pytest.mark.parametrize(("method", "n", "seed"), [("NUNP", 15_000, 0), ("RURP", 15_000, 1), (HALVES, 1_500, 2)])
def test_the_numbers_are_their_definitions(method, n, seed, monkeypatch):
    truth, joint, _ = instance(seed, n)
    designs, design = [], setting.tr.design
    monkeypatch.setattr(setting.tr, "design", lambda *given, **named: designs.append(design(*given, **named)) or designs[-1])
    found = measured(method, truth, joint)
    protocol = designs[0].protocol
    level = literal(protocol.matrix, truth.p)
    cost = sum(
        truth.p[s, u] * protocol.matrix[y, 5 * s + u] * (u - float(output)) ** 2
        for s in range(3)
        for u in range(5)
        for y, output in enumerate(protocol.outputs)
    )
    assert found["level"] == pytest.approx(level, abs=1e-9)
    assert found["distortion"] == pytest.approx(cost, abs=1e-9)
    assert found["above"] == (level > 0.5)
    assert found["holds"]
    assert found["gap"] <= 1e-6


def test_an_output_that_rounding_made_is_an_infinite_level(monkeypatch):
    truth, joint, _ = instance(0, 15_000)
    monkeypatch.setattr(setting, "MOST", 0.01)
    found = measured("NUNP", truth, joint)
    assert found["level"] == math.inf
    assert found["infinite"] == 1


def test_an_instance_is_one_truth_and_rows_of_it():
    truth, few, again = instance(3, 75)
    same, many, _ = instance(3, 15_000)
    assert np.array_equal(truth.p, same.p)
    assert (few.n, many.n, again) == (75, 15_000, 0)
    assert np.abs(many.p - truth.p).max() < 0.02 < np.abs(few.p - truth.p).max()
    assert any(instance(seed, 15)[2] for seed in range(20))  # a secret value that nobody has: drawn again
    assert all(instance(seed, 15)[1].p_s.min() > 0 for seed in range(20))


def test_the_set_is_the_papers():
    answers = []
    for seed in range(60):
        truth, joint, _ = instance(seed, 75)
        distance = ((joint.p - truth.p) ** 2 / truth.p).sum()
        answers.append(within(truth, joint))
        assert answers[-1] == (distance <= chi2.ppf(0.95, 14) / 75)
    assert 0.8 < np.mean(answers) < 1


def test_the_rule_of_quartiles():
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 8.1, math.inf]
    kept = [value for value, inner in zip(values, inside(values), strict=True) if inner]
    assert kept == [1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 8.1]  # quartiles 2.5 and 6.5, so up to 12.5
    assert inside([0.0, 1.0, 1.0, 1.0, 1.0, 2.0]) == [False, True, True, True, True, False]
    assert inside([1.0]) == [True]


def test_what_the_page_says_of_a_few_instances():
    """Robust designs keep their promise at the truth, plain ones do not; readings in halves can only cost less as planned."""
    rows = [{"n": 15_000, "instance": seed} | row for seed in (0, 1) for row in fig2_robust._rows(seed, 15_000)]
    by = {method: [row for row in rows if row["method"] == method] for method in ASKED}
    assert all(row["above"] for method in ("NUNP", "RUNP") for row in by[method])
    assert not any(row["above"] for method in ("NURP", "RURP", HALVES) for row in by[method])
    for nunp, nurp, rurp in zip(by["NUNP"], by["NURP"], by["RURP"], strict=True):
        assert nunp["planned"] < nurp["planned"] <= rurp["planned"] + 1e-6
        assert nurp["distortion"] == pytest.approx(rurp["distortion"], abs=0.01)
    assert all(row["saved as planned"] > 0.01 for row in by[HALVES])
    kept = fig2_robust.summary(rows)
    assert {row["method"] for row in kept} == set(ASKED)
    assert len(kept) == 2 * len(ASKED) * 2


def test_means_and_bands_are_of_each_method_at_each_n():
    rows = [{"n": n, "method": m, "v": v} for n, m, v in ((1, "a", 1.0), (1, "a", 3.0), (1, "b", 5.0), (2, "a", 7.0))]
    found = {(row["x"], row["method"]): (row["low"], row["mean"], row["high"]) for row in bands._spreads(rows, "n", "v")}
    assert found[1, "a"] == pytest.approx((2 - math.sqrt(2), 2, 2 + math.sqrt(2)))
    assert found[1, "b"] == (5, 5, 5)
    assert found[2, "a"] == (7, 7, 7)


def test_the_measure_is_the_squared_distance():
    assert SQUARED.table(instance(0, 75)[1])[1].tolist() == [1, 0, 1, 4, 9]
    assert set(FOUR) < set(ASKED)
