"""The frontier and the choice of a measure, as a user types them; what is shown while a design runs."""

import json

import pytest
from tests.cli.asking import asked

import trechter as tr
from trechter.cli.console import watch
from trechter.measures import MEASURES


def frontier(table, schema, *more):
    roles = ["--secret", "ill", "--release", "work", "--schema", schema]
    return ["frontier", table, *roles, *more]


def test_each_level_is_what_a_design_finds(trechter, table, schema):
    code, shown, said = trechter(*frontier(table, schema, "--epsilon", "1/4, 0.5", "--epsilon", "0.1", "--json"))
    assert code == 0, said
    levels = json.loads(shown)["levels"]
    joint = tr.Joint.from_table(table, secret="ill", release="work", schema=schema)
    for level, epsilon in zip(levels, ["1/4", "0.5", "0.1"], strict=True):
        assert level["notion"] == str(tr.LIP(epsilon).spec)
        assert level["utility"] == pytest.approx(tr.design(joint, tr.LIP(epsilon)).utility, abs=1e-9)
        assert level["holds"] is True


def test_the_table_is_narrow_and_has_one_line_for_each_level(trechter, table, schema):
    code, shown, _ = trechter(*frontier(table, schema, "--epsilon", "0.1,0.5,1"))
    head, *lines, note = shown.strip("\n").split("\n")
    assert code == 0
    assert "kept" in head
    assert [line.split()[0] for line in lines] == ["0.1", "0.5", "1"]
    assert all(line.endswith("%") for line in lines)
    assert max(map(len, [head, *lines])) <= 50
    assert "I(X;Y), in nats" in note


@pytest.mark.parametrize("name", sorted(set(MEASURES) - {"task"}))
def test_every_measure_by_its_name(trechter, table, schema, name):
    column = "region" if not name.endswith("distance") else "age"
    code, shown, said = trechter(
        *frontier(table, schema, "--release", column, "--epsilon", "0.1", "--measure", name, "--json")
    )
    if name.endswith("distance"):
        assert (code, "no number" in said) == (2, True)  # work is text
        return
    assert code == 0, said
    assert json.loads(shown)["levels"][0]["measure"] == MEASURES[name]().symbol


def test_a_distance_of_bins_and_its_report(trechter, table, schema, tmp_path):
    out = tmp_path / "release"
    code, shown, said = trechter(*asked(table, out, schema, release="age", measure="distance"))
    assert code == 0, said
    assert "Its E d(X,Y) is" in shown
    assert "no protocol can have less" in shown
    report = (out / "steward" / "report.html").read_text()
    assert "best possible E d(X,Y)" in report
    assert "has less (rounded down)" in report


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--epsilon", "1,x"], "x"),
        (["--epsilon", "1", "--measure", "joy"], "squared-distance"),
        (["--epsilon", "1", "--measure", "task"], "task"),
        (["--epsilon", "1", "--notion", "k"], "srlip"),
    ],
)
def test_requests_that_make_no_sense(trechter, table, schema, more, said):
    code, shown, error = trechter(*frontier(table, schema, *more))
    assert (code, shown) == (2, "")
    assert said in error


def test_while_a_design_runs_the_gap_is_shown_as_it_falls():
    told = []
    hear = watch(told.append)
    for k in range(40):
        hear({"gap": 10.0 ** (-k / 10), "seconds": k / 4})
    assert "gap 1.3e-04 after 10 s" in told[-1]
    bars = next(word for word in told[-1].split() if word[0] == "█")
    assert bars[-1] == "▁"
    assert len(bars) <= 16
    assert list(bars) == sorted(bars, reverse=True)
