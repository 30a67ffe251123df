"""The benchmark judges by the definition, its contenders agree, and its command line does what it says."""

import csv
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from benchmarks.contenders import Answer, load
from benchmarks.instances import NOTIONS, Instance, Need, catalogue, matching, one_bound, uniform
from benchmarks.objective import float_level, information, judge
from benchmarks.runner import Row, compare

import trechter as tr
from benchmarks import report, runner

ROOT = Path(__file__).parents[2]
JOINT = tr.Joint(np.array([[5, 1, 3], [2, 6, 1]]))


def answered(notion):
    return load("trechter")(JOINT, notion, 10, 1e-9)


def test_a_right_answer_has_no_fault():
    for notion in (tr.LIP("0.5"), tr.LDP("0.5")):
        answer = answered(notion)
        verdict = judge(JOINT, notion, answer)
        assert verdict.faults == ()
        assert verdict.utility == pytest.approx(tr.mutual_information(JOINT, answer.protocol), abs=1e-12)
        assert 0 <= verdict.gap <= 1e-9


def test_wrong_answers_are_flagged():
    notion = tr.LIP("0.5")
    answer = answered(notion)
    matrix, value = answer.protocol.matrix, answer.utility
    whole = information(np.eye(3), JOINT.p_x)
    wrong = {
        "not private": Answer(np.eye(3), whole, whole),
        "claims a utility": replace(answer, utility=value + 1e-6),
        "is below its utility": replace(answer, bound=value - 1e-6),
        "no distribution": Answer(2 * matrix, value, None),
        "no protocol": Answer(None, 0.0, None),
    }
    for fault, given in wrong.items():
        assert fault in "; ".join(judge(JOINT, notion, given).faults)
    slightly = (1 - 1e-4) * matrix + 1e-4 * np.eye(len(matrix), 3)
    slightly /= slightly.sum(axis=0)
    assert "not private" in judge(JOINT, notion, Answer(slightly, information(slightly, JOINT.p_x), None)).faults[0]


def test_floats_are_judged_like_integers():
    sparse = pytest.importorskip("scipy.sparse")
    Q = np.random.default_rng(0).dirichlet(np.ones(4), 3).T
    for name, notion in (("lip", tr.LIP(1)), ("ldp", tr.LDP(1))):
        exact = judge(JOINT, notion, Answer(Q, information(Q, JOINT.p_x), None)).level
        assert float_level(Q, JOINT, name) == pytest.approx(exact, abs=1e-12)
        assert float_level(sparse.csr_array(Q), JOINT, name) == pytest.approx(exact, abs=1e-12)
    assert information(sparse.csr_array(Q), JOINT.p_x) == pytest.approx(information(Q, JOINT.p_x), abs=1e-14)


APPLY = [("lip_polytope", "lip"), ("gamma", "ldp"), ("falk_soland", "lip"), ("falk_soland", "ldp"), ("pairs", "ldp")]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("other", "name"), APPLY)
def test_contenders_agree(seed, other, name):
    if other in ("gamma", "lip_polytope"):
        pytest.importorskip("cdd", reason="cddlib is missing: pip install -r benchmarks/requirements.txt")
    shape = (2, 4) if other == "pairs" else (3, 3) if seed else (2, 3)
    joint, notion = uniform(seed, *shape), NOTIONS[name]("0.5")
    best = load("trechter")(joint, notion, 10, 1e-9).utility
    answer = load(other)(joint, notion, 10, 1e-8)
    assert judge(joint, notion, answer).faults == ()
    assert answer.utility == pytest.approx(best, abs=1e-8)


def test_the_floor_is_below():
    joint = uniform(0, 3, 4)
    for notion in (tr.LIP("0.5"), tr.LDP("0.5")):
        floor = load("grr")(joint, notion, 10, 1e-9)
        assert judge(joint, notion, floor).faults == ()
        assert 0 < floor.utility < load("trechter")(joint, notion, 10, 1e-9).utility


def test_the_papers_product_is_judged_by_its_true_level():
    joint = tr.Joint(np.array([[[2, 9], [5, 4]], [[1, 2], [10, 3]]]))
    verdict = judge(joint, tr.SRLIP("1/10"), load("product")(joint, tr.SRLIP("1/10"), 10, 1e-6))
    assert ("not private" in "".join(verdict.faults)) == (verdict.level > 0.1)


def test_every_row_of_the_table_is_there():
    known = catalogue(None)
    wanted = {
        "ldp-a5": 10,
        "lip-a5": 10,
        "adult/*/l?p/*": 84,
        "jeffreys-c2-a10000": 2,
        "one-bound-a1000000": 1,
        "c3-a100": 4,
        "c5-a50": 4,
        "c10-a30": 4,
        "c10-a100": 4,
        "adult/salary*": 4,
        "srlip-334": 40,
        "adult/occupation×(race,sex,relationship)/srlip": 2,
    }
    assert {glob: len(matching(known, glob)) for glob in wanted} == wanted
    assert matching(known, "adult/maritalx*") == []
    assert matching(known, "adult/occupationxsex/lip/1") == matching(known, "adult/occupation×sex/lip/1")


def test_only_one_bound_binds():
    joint = one_bound(0, 5000)
    rate, rare, factor = joint.p[1] / joint.p_x, joint.p_s[1], np.exp(0.5)
    assert rate.min() > max(rare / factor, 1 - factor * (1 - rare))
    assert rate.max() > min(factor * rare, 1 - (1 - rare) / factor)


def test_comparison():
    instance = Instance("i", "g", partial(uniform, 0, 2, 3), tr.LIP(1), 1, Need(1, 1e-6, 10, "gamma"), ("gamma", "trechter"))
    slow, ours = Row("i", "g", "gamma", 1, 20.0, utility=1.0), Row("i", "g", "trechter", 1, 0.5, utility=1.0, gap=0.0)
    compare(instance, [slow, ours])
    assert (ours.reached, ours.behind, slow.reached) == ("yes, 40 ×", 0, "")
    compare(instance, [replace(slow, seconds=3.0), ours])
    assert ours.reached == "no: 6 ×"
    compare(instance, [replace(slow, utility=1.1), ours])
    assert ours.reached == "no: gamma says 1.1"
    assert ours.behind == pytest.approx(0.1)
    lying = replace(ours, bound=1.0)
    compare(instance, [replace(slow, utility=1.1), lying])
    assert "refuted" in lying.faults


def command(*arguments):
    return [sys.executable, str(ROOT / "benchmarks" / "run.py"), *map(str, arguments)]


def test_one_contender_on_one_instance(tmp_path):
    run = subprocess.run(
        command("--only", "lip-a5/0", "--contender", "grr", "--out", tmp_path), capture_output=True, text=True, check=True
    )
    assert "| lip-a5/0 " in run.stdout
    (row,) = report.read_csv(tmp_path / "results.csv")
    assert (row.contender, row.faults, row.valid) == ("grr", "", True)
    assert row.level <= row.epsilon + 1e-6
    assert "lip-a5/0" in (tmp_path / "report.md").read_text()


def test_a_glob_that_matches_nothing_lists_what_there_is(tmp_path):
    run = subprocess.run(command("--only", "nothing*", "--out", tmp_path / "out"), check=False, capture_output=True, text=True)
    assert run.returncode == 2
    assert "'nothing*'" in run.stderr
    assert "srlip-334/0/0.5" in run.stderr
    assert not (tmp_path / "out").exists()


def test_an_interrupted_run_keeps_what_it_has(tmp_path):
    process = subprocess.Popen(command("--only", "lip-a5", "--contender", "grr", "--out", tmp_path), stdout=subprocess.PIPE)
    while not (tmp_path / "results.csv").exists():
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[0].decode()
    assert process.returncode == 130
    assert "interrupted" in said
    with (tmp_path / "results.csv").open() as file:
        assert 0 < len(list(csv.reader(file))) - 1 < 10
    assert (tmp_path / "report.md").exists()


def test_the_clock_stops_who_does_not_stop_himself(monkeypatch):
    pytest.importorskip("cdd", reason="pip install -r benchmarks/requirements.txt")
    monkeypatch.setattr(runner, "GRACE", (0.2, 0))
    (instance,) = matching(catalogue(None), "ldp-a5/0")
    row = runner.run(instance, "gamma", 0.5, None)
    assert row.over
    assert row.seconds == pytest.approx(0.7)
    assert row.utility is None


def test_the_summary_goes_to_its_place(tmp_path, monkeypatch):
    rows = [
        Row("lip-a5/0", "LIP, a = 5", "trechter", 0.5, 0.002, utility=1.0, gap=1e-12, required="≤ 0.003 s", reached="yes"),
        Row(
            "lip-a5/1",
            "LIP, a = 5",
            "trechter",
            0.5,
            0.004,
            utility=1.0,
            gap=1e-11,
            required="≤ 0.003 s",
            reached="no: 0.004 s",
        ),
    ]
    report.write_csv(tmp_path, rows)
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    monkeypatch.setattr(report, "README", readme)
    monkeypatch.setattr(sys, "argv", ["report.py", str(tmp_path / "results.csv")])
    report.main()
    text = readme.read_text()
    assert "| LIP, a = 5 | ≤ 0.003 s | 1 of 2 | 0.004 s | 1.0e-11 |" in text
    assert "old" not in text
    assert text.startswith("before")
    assert text.endswith("after\n")
