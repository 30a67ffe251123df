"""The ledger on the command line, and releases that are entered in it: whole, or not at all, and never without an entry."""

import json
import os
import pty
import signal
import subprocess
import sys

import pytest
from tests.cli.asking import asked

import trechter as tr


@pytest.fixture
def book(trechter, table, schema, tmp_path):
    """A ledger for two columns of the table."""
    path = tmp_path / "ledger.json"
    roles = ["--secret", "ill", "--release", "work,region", "--schema", schema]
    code, _, said = trechter("ledger", "new", path, "--input", table, *roles, "--notion", "lip", "--epsilon", "1")
    assert code == 0, said
    return path


def entries(book):
    return tr.Ledger.load(book).entries


def test_releases_are_entered_until_the_limit(trechter, table, schema, book, tmp_path):
    for k, (release, epsilon) in enumerate((("work", "0.2"), ("region", "0.1")), start=1):
        out = tmp_path / f"release{k}"
        code, shown, said = trechter(*asked(table, out, schema, release=release, epsilon=epsilon, ledger=book))
        assert code == 0, said
        assert f"Entry {k} of the ledger: everything in it comes to level" in shown
        assert "secure randomness" in shown
        assert len(entries(book)) == k
        assert entries(book)[-1].protocol == tr.Protocol.load(out / "protocol.json")
        steward = json.loads((out / "steward" / "certificate.json").read_text())["ledger"]
        assert steward["entry"] == k
        assert steward["level"] == tr.Ledger.load(book).level
        assert "ledger" not in json.loads((out / "certificate.json").read_text())
        assert f"entry {k} of the ledger" in (out / "steward" / "report.html").read_text()
    before = book.read_bytes()
    names = sorted(p.name for p in tmp_path.iterdir())
    code, shown, said = trechter(*asked(table, tmp_path / "release3", schema, epsilon="1", ledger=book))
    assert (code, shown) == (1, "")
    assert "above the limit LIP(1)" in said
    assert book.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == names
    joint = tr.Joint.from_table(table, secret="ill", release=["work", "region"], schema=schema)
    both = tr.compose(*(e.protocol for e in entries(book)), joint=joint)
    assert tr.Ledger.load(book).level_exact == tr.certify(both, joint, tr.LIP(1)).level_exact


def test_releases_that_were_made_before(trechter, table, schema, tmp_path):
    out, book = tmp_path / "release", tmp_path / "ledger.json"
    trechter(*asked(table, out, schema, epsilon="0.25"))
    counts, protocol = out / "steward" / "counts.csv", out / "protocol.json"
    assert trechter("ledger", "new", book, "--counts", counts, "--epsilon", "1/2")[0] == 0
    code, shown, said = trechter("ledger", "add", book, protocol, "--counts", counts, "--json")
    assert code == 0, said
    found = json.loads(shown)
    assert (found["entry"], found["secret"], found["release"], found["n"]) == (1, ["ill"], ["work"], 400)
    assert found["level"] == json.loads((out / "steward" / "certificate.json").read_text())["level"]
    assert "covers only" in found["warning"]
    code, _, said = trechter("ledger", "add", book, protocol, "--counts", counts)
    assert code == 2
    assert "--again" in said
    before = book.read_bytes()
    code, shown, said = trechter("ledger", "add", book, protocol, "--input", table, "--again", "--json")
    assert code == 1
    assert "above the limit LIP(0.5)" in json.loads(shown)["error"]
    assert book.read_bytes() == before
    code, shown, _ = trechter("ledger", "show", book, "--json")
    assert (code, len(json.loads(shown)["entries"])) == (0, 1)
    assert "protocol" not in json.loads(shown)["entries"][0]
    code, shown, _ = trechter("ledger", "show", book, "--input", table)
    assert code == 0
    assert "within the limit" in shown


@pytest.mark.parametrize("idle", ["--secret=ill", "--release=work", "--schema=s.toml", "--infer-schema", "--weight=w"])
def test_options_of_a_table_are_refused_with_counts(trechter, tmp_path, idle):
    path = tmp_path / "ledger.json"
    code, shown, said = trechter("ledger", "new", path, "--counts", "counts.csv", "--epsilon", "1", idle)
    assert (code, shown, path.exists()) == (2, "", False)
    assert f"leave out {idle.split('=')[0]}" in said


def test_a_protocol_is_refused_with_a_table(trechter, table, schema, tmp_path):
    roles = ["--secret", "ill", "--release", "work", "--schema", schema, "--epsilon", "1"]
    code, _, said = trechter("ledger", "new", tmp_path / "ledger.json", "--input", table, *roles, "--protocol", "p.json")
    assert code == 2
    assert "leave out --protocol" in said


def test_show_says_no_where_the_limit_does_not_hold_any_more(trechter, table, schema, book, tmp_path):
    assert trechter(*asked(table, tmp_path / "release", schema, epsilon="0.9", ledger=book))[0] == 0
    other = tmp_path / "other.csv"
    rows = ["yes,none,N", "no,full,N"] * 50 + ["yes,full,N", "no,none,S"]
    other.write_text("ill,work,region\n" + "\n".join(rows) + "\n")
    code, shown, _ = trechter("ledger", "show", book, "--input", other)
    assert code == 1
    assert "ABOVE the limit" in shown


def test_new_rows(trechter, table, schema, book, tmp_path):
    """The table grew: that is said, and everything is judged anew when it was asked."""
    with table.open("a") as file:
        file.write("new,yes,full,N,30\nnew,no,part,E,40\n")
    out = tmp_path / "release"
    code, _, said = trechter(*asked(table, out, schema, epsilon="0.2", ledger=book))
    assert code == 2
    assert "n was 400, and is 402" in said
    assert "--recount" in said
    assert not out.exists()
    assert trechter(*asked(table, out, schema, epsilon="0.2", ledger=book), "--recount")[0] == 0
    assert tr.Ledger.load(book).n == 402


def test_wrong_requests_change_nothing(trechter, table, schema, book, tmp_path):
    before, out = book.read_bytes(), tmp_path / "release"
    level, roles = ["--epsilon", "1"], ["--secret", "ill", "--release", "work"]
    counts = tmp_path / "counts.csv"
    counts.write_text("ill,work,count\nyes,full,3\n")
    cases = {
        "knows the draws": [*asked(table, out, schema, ledger=book), "--insecure-seed", "5"],
        "trechter ledger new": asked(table, out, schema, ledger=tmp_path / "absent.json"),
        "reads 'age'": asked(table, out, schema, release="age", ledger=book),
        "--counts or --input": ["ledger", "new", tmp_path / "n.json", *level],
        "a ledger already": ["ledger", "new", book, "--input", table, *roles, "--schema", schema, *level],
        "ever be released": ["ledger", "new", tmp_path / "n.json", "--input", table, *level],
        "--infer-schema": ["ledger", "new", tmp_path / "n.json", "--input", table, *roles, *level],
        "--protocol": ["ledger", "new", tmp_path / "n.json", "--counts", counts, *level],
        "cannot read": ["ledger", "add", book, tmp_path / "absent.json", "--input", table],
        "not a trechter-ledger": ["ledger", "show", config(tmp_path)],
    }
    for words, command in cases.items():
        code, shown, said = trechter(*command)
        assert (code, shown) == (2, ""), (words, said)
        assert words in said
        assert "Traceback" not in said
    assert book.read_bytes() == before
    assert not out.exists()
    assert not (tmp_path / "n.json").exists()


def config(folder):
    path = folder / "other.json"
    path.write_text('{"format": "trechter-protocol", "version": 1}')
    return path


def test_a_changed_ledger_stops_a_release(trechter, table, schema, book, tmp_path):
    book.write_text(book.read_text().replace('"epsilon": "1"', '"epsilon": "9"'))
    code, _, said = trechter(*asked(table, tmp_path / "release", schema, ledger=book))
    assert code == 2
    assert "does not match its hash" in said
    assert not (tmp_path / "release").exists()


KILLED = """
import os, signal, sys
from trechter.cli import main
sys.modules["trechter.workflow.{}"].{} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
main(sys.argv[1:])
"""


@pytest.mark.parametrize(("module", "name", "entered"), [("publish", "_certified", 0), ("staging", "_replace", 1)])
def test_a_release_without_its_entry_cannot_be(table, schema, book, tmp_path, module, name, entered):
    """Killed while it is written, or between its entry and its appearance: there may be an entry, but there is no release."""
    arguments = [str(a) for a in asked(table, tmp_path / "release", schema, epsilon="0.2", ledger=book)]
    run = subprocess.run([sys.executable, "-c", KILLED.format(module, name), *arguments], check=False, capture_output=True)
    assert run.returncode == -signal.SIGKILL, run.stderr
    assert len(entries(book)) == entered
    assert not (tmp_path / "release").exists()
    if not entered:  # the ledger is free again
        subprocess.run([sys.executable, "-m", "trechter", *arguments], check=True, capture_output=True)
        assert len(entries(book)) == 1


def test_a_release_that_fails_is_not_entered(trechter, table, schema, book, tmp_path, monkeypatch):
    before = book.read_bytes()
    module = sys.modules["trechter.workflow.publish"]  # the package's attribute of that name is the function
    for error, code in ((KeyboardInterrupt, 3), (OSError, 2), (RuntimeError, 4)):

        def broken(*_, error=error):
            raise error("no space left")

        monkeypatch.setattr(module, "_certified", broken)
        assert trechter(*asked(table, tmp_path / "release", schema, epsilon="0.2", ledger=book))[0] == code
        assert book.read_bytes() == before
        assert not (tmp_path / "release").exists()


def test_from_its_entry_on_a_release_is_not_interrupted(trechter, table, schema, book, tmp_path, monkeypatch):
    """Who is told of an interrupt finds neither an entry nor a release."""
    save = tr.Ledger.save

    def interrupted(ledger, *path):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.raise_signal(number)
        save(ledger, *path)

    monkeypatch.setattr(tr.Ledger, "save", interrupted)
    assert trechter(*asked(table, tmp_path / "release", schema, epsilon="0.2", ledger=book))[0] == 0
    assert (len(entries(book)), (tmp_path / "release").exists()) == (1, True)


def test_weights_and_a_protocol_that_reads_the_secret(trechter, schema, tmp_path):
    table, book, out = tmp_path / "weighted.csv", tmp_path / "ledger.json", tmp_path / "release"
    rows = [f"{ill},{work},{n}.5" for ill in ("yes", "no") for n, work in enumerate(("full", "part", "none"), start=len(ill))]
    table.write_text("ill,work,w\n" + "\n".join(rows) + "\n")
    roles = ["--secret", "ill", "--release", "work", "--schema", schema, "--weight", "w", "--epsilon", "0.5"]
    assert trechter("ledger", "new", book, "--input", table, *roles)[0] == 0
    code, _, said = trechter("publish", table, *roles, "--reads", "sx", "--out", out, "--ledger", book)
    assert code == 0, said
    assert entries(book)[0].reads == ["ill", "work"]
    steward = json.loads((out / "steward" / "certificate.json").read_text())
    assert steward["ledger"]["level"] == steward["level"]
    counts = out / "steward" / "counts.csv"
    assert trechter("ledger", "show", book, "--counts", counts)[0] == 0
    code, _, said = trechter("ledger", "add", book, out / "protocol.json", "--input", table, "--again")
    assert code == 2
    assert "--recount" in said, "the table was counted without its weights"


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_a_narrow_terminal(trechter, table, schema, book, tmp_path):
    trechter(*asked(table, tmp_path / "release", schema, epsilon="0.2", ledger=book))
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": "40"}
    subprocess.run([sys.executable, "-m", "trechter", "ledger", "show", book], check=True, stdout=theirs, env=environment)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    lines = [line.rstrip() for line in shown.splitlines()]
    assert len(lines) > 5
    assert max(map(len, lines)) <= 40
    assert lines[0].startswith("Limit LIP(1) about ill")
    assert "Together: level 0.2" in shown
