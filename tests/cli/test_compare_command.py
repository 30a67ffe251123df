"""`trechter compare` as a user types it: a table, JSON, a picture, and what happens when something is wrong."""

import json
import sys

import pytest

import trechter as tr
from trechter.mechanisms import MECHANISMS, OF_SEVERAL

SIMPLE = "grr,conditional-reporting,identity"


def asked(table, schema, *more, epsilon="0.5", mechanisms=SIMPLE):
    roles = ["--secret", "ill", "--release", "work", "--schema", schema]
    return ["compare", table, *roles, "--epsilon", epsilon, "--mechanisms", mechanisms, *more]


def test_json_is_what_python_gives(trechter, table, schema):
    code, shown, said = trechter(*asked(table, schema, "--json"))
    assert (code, said) == (0, "")
    joint = tr.Joint.from_table(table, secret="ill", release="work", schema=schema)
    there = tr.compare(joint, tr.LIP("0.5"), mechanisms=SIMPLE.split(",")).to_json()
    here = json.loads(shown)
    assert here["said"] == there["said"]
    assert here["secret"] == ["ill"]
    (mine,), (theirs,) = (found["levels"] for found in (here, there))
    assert [row["name"] for row in mine["rows"]] == [row["name"] for row in theirs["rows"]]
    assert [row["utility"] for row in mine["rows"]] == [row["utility"] for row in theirs["rows"]]


def test_without_a_choice_every_mechanism_is_compared(trechter, table, schema):
    code, shown, _ = trechter(*[part for part in asked(table, schema, "--json") if part not in ("--mechanisms", SIMPLE)])
    assert code == 0
    names = {row["name"] for row in json.loads(shown)["levels"][0]["rows"]}
    assert names == {"optimum", *MECHANISMS} - set(OF_SEVERAL)


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("epsilon", ["0.5", "0.1, 0.2,0.5,1,1.5,2"])
def test_the_table_reads_well_in_a_terminal(trechter, table, schema, monkeypatch, width, epsilon):
    monkeypatch.setenv("COLUMNS", str(width))
    code, shown, _ = trechter(*asked(table, schema, epsilon=epsilon))
    assert code == 0
    assert max(map(len, shown.splitlines())) <= width
    assert "published: work; secret: ill; 400 rows; LIP(" in shown
    lines = [line for line in shown.splitlines() if line.startswith(("optimum", "grr", "conditional", "identity"))]
    assert lines[0].startswith("optimum")
    assert "of the information, grr " in shown.replace("\n  ", " ")


@pytest.mark.parametrize("end", ["png", "svg", "html"])
def test_a_picture(trechter, table, schema, tmp_path, end):
    pytest.importorskip("altair")
    out = tmp_path / f"picture.{end}"
    code, shown, _ = trechter(*asked(table, schema, "--plot", out, "--json", epsilon="0.1,1"))
    assert code == 0
    assert json.loads(shown)["plot"] == str(out)
    assert out.stat().st_size > 2000
    assert f"The picture is in {out}." in trechter(*asked(table, schema, "--plot", out))[1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--mechanisms", "grr,rgr"], "unknown mechanism 'rgr'; there are constant, grr"),
        (["--reads", "y"], "'sx'"),
        (["--epsilon", "0.5,x"], "x"),
        (["--plot", "picture.jpg"], ".png, .svg, .html"),
        (["--plot", "absent/picture.png"], "no folder absent"),
        (["--measure", "joy"], "squared-distance"),
        (["--time-limit", "-1"], "time_limit"),
    ],
)
def test_requests_that_make_no_sense(trechter, table, schema, more, said):
    code, shown, error = trechter(*asked(table, schema, *more))
    assert (code, shown) == (2, "")
    assert said in error


def test_nothing_is_computed_that_cannot_be_drawn(trechter, table, schema, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setattr(sys.modules["trechter.cli.compare"], "compare_for_table", lambda *_, **__: pytest.fail("computed"))
    code, _, said = trechter(*asked(table, schema, "--plot", tmp_path / "picture.png"))
    assert code == 2
    assert "pip install 'trechter[figures]'" in said


def test_the_table_comes_also_where_the_picture_fails(trechter, table, schema, tmp_path):
    pytest.importorskip("altair")
    out = tmp_path / "picture.svg"
    out.mkdir()
    code, shown, said = trechter(*asked(table, schema, "--plot", out))
    assert code == 2
    assert shown.startswith("published: work")
    assert f"cannot write {out}" in said


def test_the_picture_does_not_replace_the_table(trechter, table, schema):
    table.rename(table.with_suffix(".svg"))
    code, _, said = trechter(*asked(table.with_suffix(".svg"), schema, "--plot", table.with_suffix(".svg")))
    assert code == 2
    assert table.with_suffix(".svg").read_text().startswith("name,ill")
    assert said


def test_an_interrupt_prints_what_there_is(trechter, table, schema, monkeypatch):
    def stops(joint, notion, *, measure=None):
        raise KeyboardInterrupt

    monkeypatch.setitem(MECHANISMS, "stops", stops)
    code, shown, said = trechter(*asked(table, schema, "--json", mechanisms="grr,stops,constant"))
    assert code == 3
    assert [row["name"] for row in json.loads(shown)["levels"][0]["rows"]] == ["grr"]
    assert json.loads(shown)["interrupted"] is True
    assert "rows may be missing" in said
    assert trechter(*asked(table, schema, mechanisms="stops"))[:2] == (3, "")


def test_what_went_wrong_is_a_line_not_the_end(trechter, table, schema, monkeypatch):
    def fails(joint, notion, *, measure=None):
        raise tr.TrechterError("no luck today")

    monkeypatch.setitem(MECHANISMS, "fails", fails)
    code, shown, _ = trechter(*asked(table, schema, mechanisms="grr,fails"))
    assert code == 0
    assert "fails: no luck today" in shown
