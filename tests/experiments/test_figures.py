"""The figures: what their scripts compute is what is expected of them, and what is not as expected is seen."""

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from experiments.funnel import gamma
from tests.conftest import ADULT

from experiments import charts
from trechter.workflow.reproduce import Script, disagreements, is_figure

PATHS = sorted((Path(__file__).parents[2] / "experiments").glob("*/fig*.py"))
NAMES = [path.stem for path in PATHS]
SHOWN = {
    "fig2": ("true level ε* [nats]", "what it costs"),
    "figposter1": ("x = 1", "GRR, n = 10"),
    "figposter2": ("Priv(Q)", "Uti of 10 rows"),
    "figposter3": ("rows n", "asymptote"),
    "figposter4": ("c(Q) below the boundary", "boundary, found"),
}  # an axis and a word of each chart that is not over ε


@pytest.fixture(scope="module", params=PATHS, ids=NAMES)
def script(request):
    return Script(request.param)


def computed(script, tasks):
    """The rows of tasks as the runner would have them: through JSON, with those about all of them."""
    found = [json.loads(json.dumps(row)) for task in tasks for row in script.module.compute(**task.params)]
    assert found
    return found + script.summary(found)


def tasks_of(script, quick):
    """The script's tasks; where it needs Adult and that is not at hand, the test is skipped."""
    return _tasks(script.path, quick)


@cache
def _tasks(path, quick):
    script = Script(path)
    adult = script.find_adult(str(ADULT) if ADULT.exists() else None)
    if script.needs_adult and adult is None:
        pytest.skip(f"Adult is not part of this project; put adult.csv.gz at {ADULT} to run this test")
    return script.tasks(quick, adult)


def cheap(script):
    """What takes seconds: no Γ, no optimum that reads (s,x); few joints where each takes long, no X of many values."""
    tasks = [task for task in tasks_of(script, script.name[:4] not in ("fig3", "fig4")) if quickly(**task.params)]
    return [task for task in tasks if not task.params.get("optimum") or task.params["epsilons"] == ("2",)]


def quickly(papers=False, both=False, kind="", release="", n=10_000, **_):
    """Whether a task takes less than a second or so."""
    return not papers and not both and kind != "both" and release != "education" and n > 1000


def test_which_tasks_are_cheap():
    assert quickly(seed=1, epsilons=("1",))
    slow = ({"papers": True}, {"both": True}, {"kind": "both"}, {"release": "education"}, {"n": 75})
    assert not any(quickly(**params) for params in slow)


@pytest.fixture(scope="module")
def rows(script):
    return computed(script, cheap(script))


def test_they_are_found():
    figures = {name.removeprefix("fig").split("_")[0] for name in NAMES}
    assert {*map(str, range(2, 10)), "average", *(f"poster{k}" for k in range(1, 5))} <= figures
    assert all(is_figure(path) for path in PATHS)
    assert not is_figure(Path(gamma.__file__))


@pytest.mark.filterwarnings("ignore:fig3")
def test_one_shape(script):
    for quick in (True, False):
        tasks = tasks_of(script, quick)
        assert len({task.key for task in tasks}) == len(tasks)
        assert all(json.loads(json.dumps(task.params)) for task in tasks)
    quick, full = ({task.key for task in tasks_of(script, quick)} for quick in (True, False))
    assert quick <= full  # and it is resumed
    page = script.path.with_suffix(".md").read_text(encoding="utf-8")
    for part in (
        "# Figure",
        "## What the papers found",
        "## What we find",
        "## Where they differ, and why",
        "trechter reproduce",
    ):
        assert part in page


@pytest.mark.filterwarnings("ignore:fig3")
def test_as_expected(script, rows):
    compared, wrong = disagreements(script, rows)
    assert wrong == []
    assert compared >= 8


@pytest.mark.filterwarnings("ignore:fig3")
def test_a_perturbed_expectation_is_seen(script, rows):
    """Each line that is compared, moved by twice its tolerance either way, is rejected, and no other."""
    expected = script.expected
    for line in expected:
        assert 0 < float(line["tolerance"]) <= 0.05 * max(1, float(line["mean"]))
        assert all(math.isfinite(float(line[name])) for name in ("rows", "mean"))
    for way in (-2, 2):
        moved = [line | {"mean": str(float(line["mean"]) + way * float(line["tolerance"]))} for line in expected]
        mixed = [new if k % 2 else old for k, (old, new) in enumerate(zip(expected, moved, strict=True))]
        for lines in (moved, mixed):
            alone = [line for line in lines if line not in expected]
            compared, wrong = disagreements(script, rows, alone)
            assert len(wrong) == compared > 0
            assert disagreements(script, rows, lines)[1] == wrong
    assert disagreements(script, rows, [expected[0] | {"mean": "nan"}])[1] or disagreements(script, rows, expected[:1])[0] == 0


@pytest.mark.filterwarnings("ignore:fig3")
def test_rows_keep_what_was_promised(script, rows):
    for row in rows:
        if "seconds" not in row:
            continue  # the others have laws of their own
        assert row["utility"] > 0
        assert row["seconds"] > 0
        if "product, ε/3" not in row["method"] and "SRLIP" not in row["method"] and row["method"] != "ε-LIP, optimum":
            assert row.get("level", 0) <= row["epsilon"] + 1e-9
        if "gap" in row:
            assert row["gap"] <= 1e-6 + 1e-9


@pytest.mark.filterwarnings("ignore:fig3")
def test_charts_can_be_drawn(script, rows, tmp_path):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    chart = script.module.plot([*rows, rows[0] | {"level": math.inf, "joint": -1}])
    text = json.dumps(chart.to_dict(), ensure_ascii=False)
    assert script.module.TITLE in text
    axis, word = SHOWN.get(script.name.split("_")[0], ("ε [nats]", "I(X;Y)"))
    assert axis in text
    assert "Infinity" not in text
    chart.save(str(tmp_path / "figure.png"))
    chart.save(str(tmp_path / "figure.svg"))
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"
    assert word in (tmp_path / "figure.svg").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:fig3")
def test_all_but_gamma_as_expected(script):
    tasks = [task for task in tasks_of(script, quick=False) if quickly(**task.params | {"release": ""})]
    compared, wrong = disagreements(script, computed(script, tasks))
    assert wrong == []
    assert compared >= 8


def test_decades():
    assert charts._decades([0.0021, 0.4]) == [0.001, 1]


def test_a_task_is_a_value(script):
    task = tasks_of(script, quick=True)[0]
    assert replace(task) == task
