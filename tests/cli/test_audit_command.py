"""`trechter audit` as a user types it: what it says, in how many columns, and how it ends."""

import json

import numpy as np
import polars as pl
import pytest

import trechter as tr
from trechter.model.counts_file import counts_csv

ROLES = ["--secret", "ill", "--release", "work"]
HEADER = ",full,none,part\n"
PRAM = HEADER + "full,0.8,0.1,0.1\nnone,0.2,0.7,0.1\npart,0,0.1,0.9\n"  # rows sum to 1


@pytest.fixture
def pram(tmp_path):
    path = tmp_path / "pram.csv"
    path.write_text(PRAM)
    return path


@pytest.fixture
def released(table, tmp_path):
    """The table's work, kept with probability 0.9."""
    draw, path = np.random.default_rng(1), tmp_path / "released.csv"
    work = pl.read_csv(table)["work"].to_numpy()
    other = draw.choice(["full", "none", "part"], len(work))
    pl.DataFrame({"work": np.where(draw.random(len(work)) < 0.9, work, other)}).write_csv(path)
    return path


@pytest.mark.parametrize(("epsilon", "ends"), [("1", 0), ("0.001", 1)])
def test_a_matrix(trechter, table, pram, epsilon, ends):
    asked = ["audit", pram, "--input", table, *ROLES, "--notion", "lip", "--epsilon", epsilon]
    code, shown, said = trechter(*asked, "--json")
    found = json.loads(shown)
    assert (code, found["holds"], said) == (ends, not ends, "")
    joint = tr.Joint.from_table(table, secret="ill", release="work", schema={"ill": ILL, "work": WORK})
    matrix = [["0.8", "0.2", "0"], ["0.1", "0.7", "0.1"], ["0.1", "0.1", "0.9"]]
    expected = tr.audit_matrix(matrix, joint)
    assert found["levels"]["lip"]["level_exact"] == str(expected.worst["lip"].ratio)
    assert found["transposed"] is True
    assert found["leakage"]["information"] == pytest.approx(expected.leakage.information)
    assert found["utility"] == pytest.approx(expected.utility)
    code, shown, _ = trechter(*asked)
    assert code == ends
    assert ("does NOT hold" in shown) is bool(ends)
    assert "read transposed" in shown
    assert "output none: ill = yes" in shown


ILL = {"type": "text", "values": ["no", "yes"]}
WORK = {"type": "text", "values": ["full", "none", "part"]}


def test_counts_are_as_good_as_the_table(trechter, table, pram, tmp_path):
    joint = tr.Joint.from_table(table, secret="ill", release="work", schema={"ill": ILL, "work": WORK})
    counts = tmp_path / "counts.csv"
    counts.write_text(counts_csv(joint))
    found = [
        json.loads(trechter("audit", pram, *ROLES, *more, "--json")[1]) for more in (["--counts", counts], ["--input", table])
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize(("epsilon", "ends", "holds"), [("0.01", 1, False), ("2", 0, None)])
def test_two_tables(trechter, table, released, epsilon, ends, holds):
    asked = ["audit", released, "--original", table, *ROLES, "--notion", "lip", "--epsilon", epsilon]
    code, shown, _ = trechter(*asked, "--json")
    found = json.loads(shown)
    assert (code, found["holds"], found["rows"]) == (ends, holds, 400)
    assert 0.01 < found["at_least"]["lip"]["level"] < found["empirical"]["lip"]
    assert found["attack"]["rows"] == 200
    code, shown, _ = trechter(*asked)
    assert code == ends
    assert ("does NOT hold" if ends else "do not refute LIP(2)") in shown
    assert "ill = yes" in shown


def test_a_function_is_shown_as_its_matrix(trechter, table, tmp_path):
    group = pl.read_csv(table).select(group=pl.col("work").replace_strict({"full": "in", "part": "in", "none": "out"}))
    group.write_csv(tmp_path / "group.csv")
    asked = ["audit", tmp_path / "group.csv", "--original", table, *ROLES, "--notion", "ldp", "--epsilon", "9"]
    code, shown, _ = trechter(*asked)
    assert (code, "LDP(9) holds" in shown, "its matrix is taken as known" in shown) == (0, True, True)
    assert json.loads(trechter(*asked, "--json")[1])["matrix"]["holds"] is True


@pytest.mark.parametrize("width", [60, 80])
def test_what_cannot_be_wrapped_is_narrow(trechter, table, pram, released, width):
    """Tables and figures; sentences are wrapped by the terminal."""
    shown = trechter("audit", pram, "--input", table, *ROLES)[1] + trechter("audit", released, "--original", table, *ROLES)[1]
    aligned = [line for line in shown.splitlines() if "  " in line.strip()]
    assert aligned
    assert max(map(len, aligned)) <= width


def test_an_infinite_level_is_no_proof_from_rows(trechter, tmp_path):
    (tmp_path / "a.csv").write_text("ill,work\n" + "yes,full\nno,full\nno,part\nno,none\n" * 50)
    (tmp_path / "b.csv").write_text("work\n" + "full\nfull\npart\nnone\n" * 49 + "full\nfull\npart\npart\n")
    code, shown, _ = trechter("audit", tmp_path / "b.csv", "--original", tmp_path / "a.csv", *ROLES)
    assert code == 0
    assert "a sample cannot prove ∞" in shown
    (tmp_path / "m.csv").write_text(",full,none,part\na,1,0,0\nb,0,1,1\n")
    code, shown, _ = trechter("audit", tmp_path / "m.csv", "--input", tmp_path / "a.csv", *ROLES, "--json")
    assert json.loads(shown)["levels"]["ldp"]["level"] == "inf"


WRONG = {
    "nothing to compare with": ([], ["--original", "--counts", "--input"]),
    "two to compare with": (["--counts", "c.csv", "--input", "t.csv"], ["not --counts and --input"]),
    "half a notion": (["--input", "TABLE", "--epsilon", "1"], ["--notion and --epsilon together"]),
    "a key for a matrix": (["--input", "TABLE", "--key", "name"], ["no rows to match", "--key"]),
    "transposed tables": (["--original", "TABLE", "--transposed"], ["--transposed"]),
    "no counts": (["--counts", "TABLE"], ["count"]),
    "a matrix for a table": (["--original", "TABLE"], ["the original has 400", "as the key"]),
    "unknown secret": (["--input", "TABLE", "--secret", "il"], ["did you mean 'ill'"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests(trechter, table, pram, case):
    more, words = WRONG[case]
    code, shown, said = trechter("audit", pram, *ROLES, *[table if m == "TABLE" else m for m in more])
    assert (code, shown) == (2, "")
    assert all(word in said for word in words), said
    assert "Traceback" not in said


def test_wrong_matrices(trechter, table, tmp_path):
    for text, words in {
        HEADER + "a,0.5,0.5,0.5\n": "sums to 0.5",
        ",full,none,nil\na,1,1,1\n": "'nil' is no value",
        ",full,none\na,1,1\n": "3 values",
        HEADER + "a,2,2,2\nb,-1,-1,-1\n": "negative",
        "released\nfull\n": "beside its original",
    }.items():
        (tmp_path / "m.csv").write_text(text)
        code, shown, said = trechter("audit", tmp_path / "m.csv", "--input", table, *ROLES)
        assert (code, shown, words in said) == (2, "", True), said
