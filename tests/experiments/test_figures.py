"""The figures: what their scripts compute is what is expected of them, and what is not as expected is seen."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from experiments.funnel import gamma

from experiments import charts
from trechter.workflow.reproduce import Script, disagreements, is_figure

PATHS = sorted((Path(__file__).parents[2] / "experiments").glob("*/fig*.py"))
NAMES = [path.stem for path in PATHS]


@pytest.fixture(scope="module", params=PATHS, ids=NAMES)
def script(request):
    return Script(request.param)


def computed(script, tasks):
    """The rows of tasks as the runner would have them: through JSON."""
    found = [json.loads(json.dumps(row)) for task in tasks for row in script.module.compute(**task.params)]
    assert found
    return found


def cheap(script):
    """What takes seconds: no Γ; few joints where each takes long."""
    tasks = [task for task in script.tasks("fig5" in script.name) if not task.params.get("papers")]
    return [task for task in tasks if not task.params.get("optimum") or task.params["epsilons"] == ("2",)]


@pytest.fixture(scope="module")
def rows(script):
    return computed(script, cheap(script))


def test_they_are_found():
    assert {"fig3_ldp_lip", "fig4_half_lip", "fig5_lip_srlip"} <= set(NAMES)
    assert all(is_figure(path) for path in PATHS)
    assert not is_figure(Path(gamma.__file__))


@pytest.mark.filterwarnings("ignore:fig3")
def test_one_shape(script):
    for quick in (True, False):
        tasks = script.tasks(quick)
        assert len({task.key for task in tasks}) == len(tasks)
        assert all(json.loads(json.dumps(task.params)) for task in tasks)
    assert {task.key for task in script.tasks(True)} <= {task.key for task in script.tasks(False)}  # and it is resumed
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
    seen = 0
    for line in expected:
        tolerance = float(line["tolerance"])
        assert 0 < tolerance <= 0.05 * max(1, float(line["mean"]))
        for way in (-2, 2):
            moved = line | {"mean": str(float(line["mean"]) + way * tolerance)}
            before, after = (disagreements(script, rows, lines)[1] for lines in ([line], [moved]))
            assert before == []
            seen += len(after)
        assert all(math.isfinite(float(line[name])) for name in ("rows", "mean"))
    assert seen == 2 * disagreements(script, rows)[0]
    assert disagreements(script, rows, [expected[0] | {"mean": "nan"}])[1] or disagreements(script, rows, expected[:1])[0] == 0


@pytest.mark.filterwarnings("ignore:fig3")
def test_rows_keep_what_was_promised(script, rows):
    for row in rows:
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
    chart = script.module.plot([*rows, rows[0] | {"level": math.inf, "joint": "void"}])
    text = json.dumps(chart.to_dict(), ensure_ascii=False)
    assert script.module.TITLE in text
    assert "ε [nats]" in text
    assert "Infinity" not in text
    chart.save(str(tmp_path / "figure.png"))
    chart.save(str(tmp_path / "figure.svg"))
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"
    assert "I(X;Y)" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:fig3")
def test_all_but_gamma_as_expected(script):
    tasks = [task for task in script.tasks(False) if not task.params.get("papers")]
    compared, wrong = disagreements(script, computed(script, tasks))
    assert wrong == []
    assert compared >= 8


def test_decades():
    assert charts._decades([0.0021, 0.4]) == [0.001, 1]


def test_a_task_is_a_value(script):
    task = script.tasks(True)[0]
    assert replace(task) == task
