"""Releases for every distribution that the rows do not rule out, and what plain ones are said to come to."""

import json
import re
from fractions import Fraction

import pytest
from tests.cli.asking import asked

import trechter as tr
from trechter.model.counts_file import read_counts


@pytest.fixture
def people(tmp_path):
    """A table of 500 rows and its schema, and its counts many times over."""
    counts = {("no", "full"): 140, ("no", "part"): 150, ("no", "none"): 80, ("yes", "full"): 30, ("yes", "part"): 35}
    counts["yes", "none"] = 65
    table, schema, many = tmp_path / "people.csv", tmp_path / "people.toml", tmp_path / "many.csv"
    table.write_text("ill,work\n" + "".join(f"{s},{x}\n" * n for (s, x), n in counts.items()))
    schema.write_text(
        '[ill]\ntype = "text"\nvalues = ["no", "yes"]\n\n[work]\ntype = "text"\nvalues = ["full", "part", "none"]\n'
    )
    many.write_text("ill,work,count\n" + "".join(f"{s},{x},{1000 * n}\n" for (s, x), n in counts.items()))
    return table, schema, many


def publish(trechter, people, out, *more, **changes):
    table, schema, _ = people
    return trechter(*asked(table, out, schema, **changes), *more)


def certificates(out):
    return [json.loads((out / part / "certificate.json").read_text()) for part in (".", "steward")]


def test_a_small_sample_is_warned_of_in_numbers(trechter, people, tmp_path):
    out = tmp_path / "release"
    code, shown, said = publish(trechter, people, out, "--json")
    assert code == 0
    (line,) = [line for line in said.splitlines() if "sample" in line]
    told = re.fullmatch(
        r"warning: If the rows are a sample, and the population differs from them as much as 500 rows allow "
        r"\(95% confidence\), the release tells up to ε = ([\d.]+) about ill, not 0.5. "
        r"With about ([\d,]+) rows like these it would be at most 0.55. --robust 0.05 designs for that.",
        line,
    )
    assert told is not None
    public, steward = certificates(out)
    found = steward["worst_case"]
    assert 0 <= float(told[1]) - found["level"] < 0.01
    assert int(told[2].replace(",", "")) == found["rows"]
    assert json.loads(shown)["worst_case"] == found
    assert "worst_case" not in public
    assert str(found["level"]) not in (out / "certificate.json").read_text() + (out / "codebook.md").read_text()
    report = (out / "steward" / "report.html").read_text()
    assert "The rows may be a sample." in report
    assert f"With about {told[2]} rows like these" in report


def test_a_large_sample_is_not_warned_of(trechter, people, tmp_path):
    table, schema, _ = people
    lines = table.read_text().splitlines()
    table.write_text("\n".join([lines[0], *lines[1:] * 400]) + "\n")
    code, _, said = publish(trechter, (table, schema, None), tmp_path / "release", epsilon="0.5")
    assert code == 0
    assert "sample" not in said
    found = certificates(tmp_path / "release")[1]["worst_case"]
    assert found["survives"]
    assert found["level"] > 0.5
    assert "the promise of 0.5 survives that" in (tmp_path / "release" / "steward" / "report.html").read_text()


def test_too_few_rows_are_said_to_be(trechter, people, tmp_path):
    people[0].write_text("ill,work\nno,full\nno,part\nyes,none\nyes,full\n")
    code, _, said = publish(trechter, people, tmp_path / "release")
    assert code == 0
    assert "was not computed: 4 rows are too few for 6 cells" in said
    code, _, said = publish(trechter, people, tmp_path / "robust", "--robust", "0.05")
    assert code == 2
    assert "4 rows are too few for 6 cells" in said
    assert not (tmp_path / "robust").exists()


def test_a_robust_release(trechter, people, tmp_path):
    out = tmp_path / "release"
    code, shown, said = publish(trechter, people, out, "--robust", "0.05", notion="ldp")
    assert code == 0, said
    assert "sample" not in said
    assert "does not rule out" not in said
    assert "one that the 500 rows counted do not rule out at 95% confidence" in shown
    protocol, counts = out / "protocol.json", out / "steward" / "counts.csv"
    assert trechter("verify", protocol, "--counts", counts)[0] == 0
    assert trechter("verify", protocol, "--input", people[0])[0] == 0
    made = tr.Protocol.load(protocol)
    joint = read_counts(counts, made)
    level = tr.worst_case_level(made, joint, tr.LDP("0.5"), over=tr.ChiSquare(alpha="0.05"))
    assert 0.49 < level <= 0.5
    public, steward = certificates(out)
    assert public["over"] == {"set": "chi-square", "alpha": "1/20"}
    assert public["set"]["cells"] == 6
    assert public["set"]["formula"].startswith("for every P with Σ(P̂−P)²/P ≤ ")
    assert float(Fraction(public["set"]["radius"])) == pytest.approx(11.0705 / 500, rel=1e-5)
    assert set(steward) - set(public) == {"level", "level_exact", "salt"}
    report = (out / "steward" / "report.html").read_text()
    for page in (report, (out / "codebook.md").read_text()):
        assert "do not rule out at 95% confidence" in page
    assert "level, worst case" in report
    assert "steward/verify.py" not in report


def test_the_plain_release_breaks_what_the_robust_one_keeps(trechter, people, tmp_path):
    out = tmp_path / "release"
    publish(trechter, people, out, notion="ldp")
    check = ("verify", out / "protocol.json", "--counts", out / "steward" / "counts.csv")
    assert trechter(*check)[0] == 0
    code, shown, _ = trechter(*check, "--robust", "0.05")
    assert code == 1
    assert "does NOT hold for every P with" in shown
    level = certificates(out)[1]["worst_case"]["level"]
    over = ("--robust", "0.05", "--notion", "ldp", "--epsilon")
    assert trechter(*check, *over, str(level + 1e-6))[0] == 0
    assert trechter(*check, *over, str(level - 1e-6))[0] == 1


@pytest.mark.parametrize(
    ("alpha", "why"), [("0", "between 0 and 1"), ("1", "between 0 and 1"), ("-0.1", "between 0 and 1"), ("no", "'no' is not")]
)
def test_levels_that_make_no_set(trechter, people, tmp_path, alpha, why):
    code, _, said = publish(trechter, people, tmp_path / "release", "--robust", alpha)
    assert code == 2
    assert why in said
    assert not (tmp_path / "release").exists()


def test_weights_tell_no_verifier_how_sure_they_are(trechter, people, tmp_path):
    code, _, said = publish(trechter, people, tmp_path / "release", "--robust", "0.05", "--weight", "work")
    assert code == 2
    assert "is for whole rows" in said


def test_drift(trechter, people, tmp_path):
    out, near, far = tmp_path / "release", tmp_path / "near.csv", tmp_path / "far.csv"
    publish(trechter, people, out, "--robust", "0.05", notion="ldp")
    old = out / "steward" / "counts.csv"
    near.write_text(old.read_text().replace("no,full,140", "no,full,145"))
    far.write_text(old.read_text().replace("no,full,140", "no,full,240"))
    check = ("verify", out / "protocol.json", "--since", old, "--counts")
    code, shown, _ = trechter(*check, near)
    assert code == 0
    assert "The 505 new rows are among them" in shown
    code, shown, _ = trechter(*check, far)
    assert code == 1
    assert "The 600 new rows are NOT among them" in shown
    code, shown, _ = trechter(*check, far, "--json")
    found = json.loads(shown)
    assert (code, found["holds"], found["verdict"]) == (1, False, "holds")
    assert found["drift"]["distance"] > found["drift"]["radius"]
    assert trechter(*check, near, "--notion", "ldp", "--epsilon", "0.1", "--robust", "0.05")[0] == 1
    table = tmp_path / "new.csv"
    table.write_text(people[0].read_text() + "no,part\n" * 3)
    assert trechter("verify", out / "protocol.json", "--since", old, "--input", table)[0] == 0


def test_what_covers_new_counts_holds_for_them(trechter, people, tmp_path):
    """A certificate that covers new rows as they are: the plain promise holds for them."""
    out, near = tmp_path / "release", tmp_path / "near.csv"
    publish(trechter, people, out, "--robust", "0.05", notion="ldp")
    old = out / "steward" / "counts.csv"
    for count in (120, 155, 240):
        near.write_text(old.read_text().replace("no,full,140", f"no,full,{count}"))
        check = ("verify", out / "protocol.json", "--counts", near)
        if trechter(*check, "--since", old)[0] == 0:
            assert trechter(*check, "--notion", "ldp", "--epsilon", "0.5")[0] == 0
    assert trechter("verify", out / "protocol.json", "--counts", near, "--since", old)[0] == 1


def test_a_plain_promise_covers_no_other_counts(trechter, people, tmp_path):
    out = tmp_path / "release"
    publish(trechter, people, out, notion="ldp")
    check = ("verify", out / "protocol.json", "--counts", people[2])
    code, _, said = trechter(*check, "--since", out / "steward" / "counts.csv")
    assert code == 2
    assert "leave out --since" in said
    assert trechter(*check)[0] == 0
    assert trechter(*check, "--since", out / "steward" / "counts.csv", "--robust", "0.05")[0] == 1


def test_ledgers_are_plain_and_hold_robust_releases(trechter, people, tmp_path):
    table, schema, _ = people
    ledger, out = tmp_path / "ledger.json", tmp_path / "release"
    joint = tr.Joint.from_table(table, secret="ill", release="work", schema=schema)
    with pytest.raises(tr.TrechterError, match="cannot be kept under Robust"):
        tr.Ledger.new(joint, tr.Robust(tr.LIP(1), over=tr.ChiSquare()))
    new = ("ledger", "new", ledger, "--epsilon", "1", "--input", table, "--secret", "ill", "--release", "work")
    assert trechter(*new, "--schema", schema)[0] == 0
    code, _, said = publish(trechter, people, out, "--robust", "0.05", "--ledger", ledger, notion="ldp")
    assert code == 0, said
    found = certificates(out)[1]["ledger"]
    made = tr.Protocol.load(out / "protocol.json")
    assert found["level"] == tr.certify(made, joint, tr.LIP(1)).level < 0.5


def test_design_frontier_and_compare(trechter, people, tmp_path):
    table, schema, _ = people
    what = ("--secret", "ill", "--release", "work", "--schema", schema, "--robust", "0.05", "--json")
    code, shown, _ = trechter(
        "design", table, *what, "--notion", "ldp", "--epsilon", "0.5", "--out", tmp_path / "protocol.json"
    )
    assert code == 0
    assert json.loads(shown)["notion"] == "Robust(LDP(0.5), over=chi-square(alpha=0.05))"
    code, shown, _ = trechter("frontier", table, *what, "--notion", "ldp", "--epsilon", "0.3,0.6")
    levels = json.loads(shown)["levels"]
    assert (code, [level["holds"] for level in levels]) == (0, [True, True])
    assert levels[0]["utility"] < levels[1]["utility"]
    code, shown, _ = trechter("compare", table, *what, "--notion", "ldp", "--epsilon", "0.5", "--mechanisms", "grr")
    rows = {row["name"]: row for row in json.loads(shown)["levels"][0]["rows"]}
    assert code == 0
    assert rows["grr"]["holds"]
    assert 0 < rows["grr"]["utility"] <= rows["optimum"]["bound"]
