"""Figures 6 to 9: the order of the protocols, the closed forms of the criterion, and what the pages claim."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from experiments.mechanisms import criterion, setting
from experiments.mechanisms.fig8_alpha import correlation
from experiments.mechanisms.setting import BOTH, CR, GRR, LDP, LIP, OUE, SHAPES, explicit, jeffreys_joint
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import ADULT, random_joint
from tests.experiments.test_figures import tasks_of

import trechter as tr
from trechter.measures import entropy
from trechter.workflow.reproduce import Script

FOLDER = Path(setting.__file__).parent
ABOVE = {GRR: [LIP, BOTH], OUE: [LIP, BOTH], LDP: [LIP, BOTH], LIP: [BOTH], CR: [BOTH]}  # who is never better than whom
JOINTS = [jeffreys_joint(seed, a, c) for seed in range(4) for a, c in SHAPES] + [random_joint(seed, 3, 4) for seed in range(8)]
LEVELS = st.sampled_from([0.02, 0.3, 1.0, 2.0, 5.0])


def check_order(rows):
    """At one level of one joint."""
    by_method = {row["method"]: row for row in rows}
    compared = 0
    for method, row in by_method.items():
        assert 0 <= row["share"] <= 1 + 1e-9
        assert row["level"] <= row["epsilon"] + 1e-9
        if row["alpha"] is not None:
            assert row["level"] == pytest.approx(row["epsilon"], abs=2e-9)  # an explicit protocol uses all of it
        for better in ABOVE.get(method, ()):
            if better in by_method:
                compared += 1
                assert row["utility"] <= by_method[better]["utility"] + by_method[better]["gap"] + 1e-9
    return compared


@pytest.mark.parametrize(("a", "c"), [(5, 2), (2, 5), (3, 5)])
def test_nothing_is_above_the_optimum_of_its_own_input(a, c):
    figure = Script(FOLDER / "fig7_grr_cr.py").module
    rows = [*figure.compute(a, c, 1), *figure.compute(a, c, 1, both=True)]
    levels = {row["epsilon"] for row in rows}
    assert len(levels) == 5
    for level in levels:
        assert check_order([row for row in rows if row["epsilon"] == level]) == 4


@pytest.mark.skipif(not ADULT.exists(), reason="Adult is not part of this project")
def test_adult_in_order():
    script = Script(FOLDER / "fig6_adult.py")
    tasks = [t for t in tasks_of(script, quick=True) if t.params["release"] in ("race", "sex") and t.params["epsilon"] == "1"]
    compared = 0
    for pair in {(t.params["secret"], t.params["release"], t.params["epsilon"]) for t in tasks}:
        own = [t for t in tasks if (t.params["secret"], t.params["release"], t.params["epsilon"]) == pair]
        compared += check_order([row for task in own for row in script.module.compute(**task.params)])
    assert compared == 4 * 8


def test_no_panel_of_figure_6_is_missing():
    expected = Script(FOLDER / "fig6_adult.py").expected
    found = {(line["secret"], line["release"], line["epsilon"], line["method"]) for line in expected}
    methods = {GRR, CR, OUE, LIP, LDP, BOTH}
    assert found == {
        (*pair, str(float(Fraction(e))), m)
        for pair in setting.PAIRS
        for e in ("1/4", "1/2", "1", "3/2", "2", "3", "4")
        for m in methods
    }


def test_optima_of_figure_6_are_the_published_ones():
    lines = Script(FOLDER / "fig6_adult.py").expected
    found = {(line["secret"], line["release"], line["epsilon"], line["method"]): float(line["mean"]) for line in lines}
    assert found["marital-status", "sex", "1.0", LIP] == pytest.approx(0.4500551671, abs=1e-8)
    assert found["marital-status", "sex", "1.0", LDP] == pytest.approx(0.1983293678, abs=1e-8)
    assert found["occupation", "education", "0.5", LIP] == pytest.approx(1.4966348565, abs=2e-5)
    assert found["occupation", "education", "1.0", LDP] == pytest.approx(1.55439, abs=2e-5)


@settings(max_examples=60)
@given(st.sampled_from(JOINTS), LEVELS)
def test_both_alphas_in_closed_form(joint, epsilon):
    for row, k in zip(explicit(joint, str(Fraction(epsilon))), criterion.weights(joint, epsilon), strict=True):
        assert (row["alpha"] is None) == math.isinf(k)
        assert row["alpha"] is None or math.log1p(k) == pytest.approx(row["alpha"], abs=1e-9)


@settings(max_examples=60)
@given(st.sampled_from(JOINTS), LEVELS)
def test_how_often_the_output_is_not_x(joint, epsilon):
    """In closed form, and by the matrices that are drawn from."""
    notion, (c, a) = tr.LIP(Fraction(epsilon)), joint.p.shape
    reading_x, reading_both = tr.grr(joint, notion).protocol, tr.conditional_reporting(joint, notion).protocol
    true = sum(reading_x.matrix[x, x] * joint.p_x[x] for x in range(a))
    truth = sum(reading_both.matrix[x, s * a + x] * joint.p[s, x] for s in range(c) for x in range(a))
    assert criterion.wrong(joint, epsilon) == pytest.approx((1 - true, 1 - truth), abs=1e-9)
    outputs = reading_x.matrix @ joint.p_x, reading_both.matrix @ joint.p.ravel()
    chances = [float(q @ joint.p_x) for q in outputs]
    kappas = [(agreed - chance) / (1 - chance) for agreed, chance in zip((true, truth), chances, strict=True)]
    assert criterion.agreement(joint, epsilon) == pytest.approx(kappas, abs=1e-9)


def test_values_and_secrets_that_never_occur():
    counts = np.array([[5, 0, 2, 1], [0, 0, 0, 0], [1, 0, 3, 4]])
    full, occurring = tr.Joint(counts), tr.Joint(counts[[0, 2]][:, [0, 2, 3]])
    assert criterion.frequency(full) == pytest.approx(criterion.frequency(occurring))
    assert criterion.properties(full, 1.0) == pytest.approx(criterion.properties(occurring, 1.0))


def test_the_limit_of_the_criterion():
    """Near the level of publishing x, k_CR = P_x* k_GRR; so the sign of the limit is that of the criterion."""
    signs = []
    for joint in JOINTS:
        level = float(criterion.extremes(joint).max())
        epsilon = 30.0 if math.isinf(level) else level * (1 - 1e-9)
        grr, cr = criterion.wrong(joint, epsilon)
        frequency = criterion.frequency(joint)
        assert grr / cr == pytest.approx(frequency, rel=1e-4)
        signs.append(frequency > 1)
    assert 5 < sum(signs) < len(signs) - 5


@settings(max_examples=30)
@given(st.sampled_from(JOINTS))
def test_conditional_reporting_wins_at_small_levels(joint):
    grr, cr = explicit(joint, "1/10000")
    assert cr["utility"] > grr["utility"]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=30))
def test_a_stump_is_the_best_threshold(sample):
    values, wins = [float(value) for value, _ in sample], [won for _, won in sample]
    stump = criterion.Stump(values, wins)
    cuts = [-math.inf, *sorted(set(values))]
    best = max(
        np.mean([((v > cut) == side) == won for v, won in zip(values, wins, strict=True)])
        for cut in cuts
        for side in (True, False)
    )
    assert stump.right(values, wins) == pytest.approx(best)


def test_a_stump_learns_and_is_judged_elsewhere():
    draw = np.random.default_rng(0)
    x, noise = draw.normal(size=400), draw.normal(size=400)
    wins = x > 0.3
    assert criterion.Stump(x[:200], wins[:200]).right(x[200:], wins[200:]) > 0.97
    assert criterion.Stump(noise[:200], wins[:200]).right(noise[200:], wins[200:]) < 0.7


def test_properties_by_their_definitions():
    joint = tr.Joint(np.array([[3, 1], [2, 4]]))
    found = criterion.properties(joint, 0.1)
    about = [n / 10 * math.log(n / 10 / (given / 2)) for n, given in ((3, 0.4), (1, 0.4), (2, 0.6), (4, 0.6))]
    assert found["I(S;X)"] == pytest.approx(math.fsum(about))
    assert found["H(X|S)"] == pytest.approx(0.4 * entropy(np.array([0.75, 0.25])) + 0.6 * entropy(np.array([1, 2]) / 3))
    assert found["max p(x|s) / p(x)"] == pytest.approx(1.5)
    assert found["level of publishing x"] == pytest.approx(max(math.log(1.5), math.log(2)))
    assert found["conditions that x violates"] == 4
    assert criterion.properties(joint, 0.5)["conditions that x violates"] == 1


def test_correlation_and_its_uncertainty():
    draw = np.random.default_rng(1)
    x, noise = draw.normal(size=100), draw.normal(size=100)
    assert correlation(x, 3 * x - 1) == pytest.approx((1, 1, 1))
    value, low, high = correlation(x, noise)
    assert low < value < high
    assert low < 0 < high
    value, low, high = correlation(x, x + noise)
    assert 0.4 < low < value < high < 0.85
    assert value == pytest.approx(np.corrcoef(x, x + noise)[0, 1])


def test_what_the_page_of_figure_8_claims():
    """ρ is as the paper's, and a criterion names the winner where none of the properties does that the paper tried."""
    lines = [line for line in Script(FOLDER / "fig8_alpha.py").expected if int(line["joints"]) >= 90]
    values = {(line["what"], line["epsilon"]): float(line["mean"]) for line in lines if line["quantity"] == "value"}
    for epsilon, papers in (("1", 0.9815), ("1.5", 0.9889), ("2", 0.9731)):
        low, high = (
            next(float(x["mean"]) for x in lines if (x["what"], x["epsilon"], x["quantity"]) == ("ρ", epsilon, q))
            for q in ("low", "high")
        )
        assert low < papers < high
        assert low < values["ρ", epsilon] < high
        always = values["CR wins: always", epsilon]
        assert values["CR wins: its κ is larger", epsilon] > 0.95
        for name in ("I(S;X)", "max p(s,x)", "max p(x)", "max p(s)"):
            assert values[f"CR wins: {name}", epsilon] < always + 0.021
    assert values["CR wins: x* is frequent", "0.9 of x"] > 0.97
    assert values["CR wins: x* is frequent", "0.1 of x"] < values["CR wins: always", "0.1 of x"]
