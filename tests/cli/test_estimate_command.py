"""`trechter estimate` as a reader types it: what it says, in how many columns, and how it ends."""

import json

import polars as pl
import pytest

import trechter as tr

ROLES = ["--secret", "ill", "--release", "work,region", "--epsilon", "0.5"]


@pytest.fixture
def release(trechter, table, schema, tmp_path):
    """A published folder."""
    out = tmp_path / "out"
    schema.write_text(schema.read_text().replace(', "other"', ""))
    assert trechter("publish", table, *ROLES, "--schema", schema, "--out", out)[0] == 0
    return out / "released.csv", out / "protocol.json"


def test_shares_for_people_and_machines(trechter, release):
    rows, protocol = release
    code, shown, said = trechter("estimate", rows, "--protocol", protocol, "--margin", "work", "--json")
    found, expected = json.loads(shown), tr.estimate(rows, protocol, margin="work")
    assert (code, said) == (0, "")
    assert found == expected.to_json()
    assert [line["value"] for line in found["shares"]] == [["full"], ["part"], ["none"]]
    code, shown, _ = trechter("estimate", rows, "--protocol", protocol, "--margin", "work")
    assert code == 0
    assert "400 released rows" in shown
    assert "± s.e." in shown


@pytest.mark.parametrize("width", [60, 100])
def test_it_is_as_narrow_as_the_terminal(trechter, release, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    rows, protocol = release
    shown = trechter("estimate", rows, "--protocol", protocol, "--posterior", "50", "--given", "--seed", "1")[1]
    assert max(map(len, shown.splitlines())) <= width
    assert "posterior" in shown
    assert "What an output says" in shown
    lines = [line.split("  ")[0] for line in shown.split("\n\n")[1].splitlines()[1:]]
    assert len(set(lines)) == len(lines) == 12  # no name is cut so short that it could be another's


def test_everything_else_on_request(trechter, release, tmp_path):
    rows, protocol = release
    filled = tmp_path / "filled.parquet"
    asked = ["--posterior", "60", "--given", "--impute", filled, "--copies", "2", "--seed", "3", "--margin", "region"]
    code, shown, _ = trechter("estimate", rows, "--protocol", protocol, *asked, "--json")
    found = json.loads(shown)
    assert code == 0
    assert (found["posterior"]["draws"], len(found["posterior"]["shares"])) == (60, 4)
    assert sum(line["probability"] for line in found["given"]) == pytest.approx(len(found["given"]) / 4)
    assert pl.read_parquet(filled).columns[-2:] == ["region (imputed 1)", "region (imputed 2)"]
    assert pl.read_parquet(filled).height == 400
    again = trechter("estimate", rows, "--protocol", protocol, *asked, "--json")[1]
    assert json.loads(again) == found


def test_several_releases(trechter, release):
    rows, protocol = release
    once = json.loads(trechter("estimate", rows, "--protocol", protocol, "--json")[1])
    twice = json.loads(trechter("estimate", rows, "--protocol", protocol, "--also", rows, protocol, "--json")[1])
    assert twice["rows"] == 2 * once["rows"]
    assert twice["shares"][0]["share"] == pytest.approx(once["shares"][0]["share"])
    assert twice["shares"][0]["error"] == pytest.approx(once["shares"][0]["error"] / 2**0.5, rel=0.01)


WRONG = {
    "no protocol": (["ROWS"], "--protocol"),
    "a protocol that is none": (["ROWS", "--protocol", "ROWS"], "is not JSON"),
    "rows that were not released": (["TABLE", "--protocol", "PROTOCOL"], "the table"),
    "an unknown column": (["ROWS", "--protocol", "PROTOCOL", "--margin", "wrok"], "did you mean 'work'"),
    "copies of nothing": (["ROWS", "--protocol", "PROTOCOL", "--copies", "2"], "--impute"),
    "no copies": (["ROWS", "--protocol", "PROTOCOL", "--impute", "x.csv", "--copies", "0"], "at least one"),
    "over what is read": (["ROWS", "--protocol", "PROTOCOL", "--impute", "ROWS"], "choose another name"),
    "an unknown format": (["ROWS", "--protocol", "PROTOCOL", "--impute", "x.doc"], "must end in"),
    "a file that is not there": (["nothing.csv", "--protocol", "PROTOCOL"], "there is no such file"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests(trechter, release, table, case):
    asked, words = WRONG[case]
    places = {"ROWS": release[0], "PROTOCOL": release[1], "TABLE": table}
    code, shown, said = trechter("estimate", *[places.get(a, a) for a in asked])
    assert (code, shown) == (2, "")
    assert words in said, said
    assert "Traceback" not in said
