"""The command line as a user types it: what it writes, what it prints, how it ends."""

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest
from tests.cli.asking import asked

import trechter as tr
from trechter.cli import COMMANDS, app
from trechter.model.counts_file import read_counts
from trechter.workflow import staging

RELEASE = {"released.csv", "protocol.json", "certificate.json", "codebook.md", "steward"}
STEWARD = {"report.html", "counts.csv", "certificate.json", "verify.py"}


def test_publish_end_to_end(trechter, table, schema, tmp_path):
    out = tmp_path / "release"
    code, shown, said = trechter(*asked(table, out, schema), "--json")
    assert code == 0, said
    found = json.loads(shown)
    assert found["holds"] is True
    assert found["rows"] == 400
    assert {p.name for p in out.iterdir()} == RELEASE
    assert {p.name for p in (out / "steward").iterdir()} == STEWARD
    assert sorted(p.name for p in tmp_path.iterdir()) == ["release", "schema.toml", "table.csv"]
    protocol = tr.Protocol.load(out / "protocol.json")
    released = pl.read_csv(out / "released.csv", infer_schema=False)
    assert tuple(released.columns) == protocol.released
    assert len(released) == 400
    assert set(released[protocol.released[0]]) <= set(map(str, (c for c in protocol.columns()[0].values)))


def test_every_way_to_verify_agrees(trechter, table, schema, tmp_path):
    out = tmp_path / "release"
    trechter(*asked(table, out, schema, release="work,age", notion="srlip"))
    protocol, counts = out / "protocol.json", out / "steward" / "counts.csv"
    assert trechter("verify", protocol, "--counts", counts)[0] == 0
    assert trechter("verify", protocol, "--input", table)[0] == 0
    script = [sys.executable, out / "steward" / "verify.py", protocol, counts]
    assert subprocess.run(script, check=False).returncode == 0
    assert trechter("verify", protocol, "--counts", counts, "--notion", "ldp", "--epsilon", "0.01")[0] == 1
    script += ["--notion", "ldp", "--epsilon", "0.01"]
    assert subprocess.run(script, check=False).returncode == 1
    assert trechter("verify", protocol)[0] == 2
    assert trechter("verify", protocol, "--counts", table)[0] == 2
    found = json.loads(trechter("verify", protocol, "--counts", counts, "--json")[1])
    stated = json.loads((out / "steward" / "certificate.json").read_text())
    assert (found["level"], found["level_exact"]) == (stated["level"], stated["level_exact"])


def test_a_level_just_above_the_promise_is_shown_above_it(trechter, table, schema, tmp_path):
    """Limits are rounded up, and what was promised has the digits that it was promised with."""
    out = tmp_path / "release"
    trechter(*asked(table, out, schema, epsilon="0.3"))
    counts, asks = out / "steward" / "counts.csv", ("--notion", "lip", "--epsilon", "0.29999999999")
    code, shown, _ = trechter("verify", out / "protocol.json", "--counts", counts, *asks)
    level = json.loads((out / "steward" / "certificate.json").read_text())["level"]
    assert code == 1
    assert shown.startswith("LIP(0.29999999999) does NOT hold: the level is ")
    assert float(shown.split("level is ")[1].split(" ")[0]) >= level


def test_the_public_part_holds_neither_level_nor_salt_nor_names(trechter, table, schema, tmp_path):
    out = tmp_path / "release"
    trechter(*asked(table, out, schema))
    public = json.loads((out / "certificate.json").read_text())
    steward = json.loads((out / "steward" / "certificate.json").read_text())
    assert set(steward) - set(public) == {"level", "level_exact", "salt", "worst_case"}
    for path in out.iterdir():
        text = path.read_text() if path.is_file() else ""
        assert not any(secret in text for secret in (steward["salt"], steward["level_exact"], repr(steward["level"]), "name-"))


def test_counts_hash_opens_with_the_salt(trechter, table, schema, tmp_path):
    out = tmp_path / "release"
    trechter(*asked(table, out, schema))
    stated = json.loads((out / "steward" / "certificate.json").read_text())
    joint = tr.Joint.from_table(table, secret="ill", release="work", schema=schema)
    assert joint.digest(bytes.fromhex(stated["salt"])) == stated["counts"]
    assert joint.digest() != stated["counts"]


@pytest.mark.parametrize("option", ["task", "weight", None])
def test_the_counts_file_opens_the_hash(trechter, table, schema, tmp_path, option):
    """Whoever holds steward/ can show which counts were certified: nothing else is hashed than what is in there."""
    names = '[name]\ntype = "text"\nvalues = ["name-0", "others"]\nunseen = "other"\nother = "others"\n'
    schema.write_text(schema.read_text() + names)
    out, column = tmp_path / "release", {"task": "name", "weight": "age"}.get(option)
    code, _, said = trechter(*asked(table, out, schema), *([f"--{option}", column] if option else []))
    assert code == 0, said
    stated = json.loads((out / "steward" / "certificate.json").read_text())
    counts, protocol = out / "steward" / "counts.csv", tr.Protocol.load(out / "protocol.json")
    assert read_counts(counts, protocol).digest(bytes.fromhex(stated["salt"])) == stated["counts"]
    counts.write_text(counts.read_text().replace("full", "part"))
    assert read_counts(counts, protocol).digest(bytes.fromhex(stated["salt"])) != stated["counts"]


def test_rows_are_shuffled_unless_asked_otherwise(trechter, tmp_path, schema):
    table = tmp_path / "sorted.csv"
    rows = ["yes,none"] * 300 + ["no,full"] * 300
    table.write_text("ill,work\n" + "\n".join(rows) + "\n")
    for order, limit in (("shuffle", 20), ("keep", None)):
        out = tmp_path / order
        assert trechter(*asked(table, out, schema, order=order, epsilon="3"))[0] == 0
        half = pl.read_csv(out / "released.csv", infer_schema=False).with_row_index()
        column = half.columns[1]
        first = half.filter(pl.col("index") < 300)[column].value_counts(name="n").sort(column)["n"]
        second = half.filter(pl.col("index") >= 300)[column].value_counts(name="n").sort(column)["n"]
        apart = abs(int(first[0]) - int(second[0]))
        assert apart < 100 if limit else apart > 100
    assert json.loads((tmp_path / "keep" / "certificate.json").read_text())["order"] == "keep"


def test_design_then_sanitise(trechter, table, schema, tmp_path):
    protocol, out = tmp_path / "p.json", tmp_path / "out.parquet"
    common = ["--secret", "ill", "--release", "work", "--epsilon", "1/2", "--schema", schema]
    code, shown, _ = trechter("design", table, *common, "--out", protocol, "--json")
    assert code == 0
    assert json.loads(shown)["holds"] is True
    code, shown, said = trechter("sanitise", table, "--protocol", protocol, "--out", out, "--json")
    assert (code, json.loads(shown)["rows"]) == (0, 400)
    assert json.loads(shown)["dropped"] == ["name", "ill", "region", "age"]
    assert "name, ill, region, age" in said
    assert len(pl.read_parquet(out)) == 400


def test_seeds_are_reproducible_and_marked(trechter, table, schema, tmp_path):
    files = []
    for out in (tmp_path / "one", tmp_path / "two"):
        code, _, said = trechter(*asked(table, out, schema, **{"insecure-seed": "5"}))
        assert code == 0
        assert "insecure" in said.lower()
        assert json.loads((out / "certificate.json").read_text())["secure"] is False
        assert "insecure" in (out / "steward" / "report.html").read_text().lower()
        assert "insecure" in (out / "codebook.md").read_text().lower()
        files.append((out / "released.csv").read_bytes())
    assert files[0] == files[1]
    trechter(*asked(table, tmp_path / "three", schema))
    assert (tmp_path / "three" / "released.csv").read_bytes() != files[0]
    protocol = tmp_path / "one" / "protocol.json"
    trechter("sanitise", table, "--protocol", protocol, "--out", tmp_path / "s.csv", "--insecure-seed", 5)
    assert "protects nobody" in (tmp_path / "s.csv.INSECURE").read_text()


def test_schema_drafts_a_file_that_works(trechter, table, tmp_path):
    draft = tmp_path / "draft.toml"
    assert trechter("schema", table, "--columns", "ill,work,region", "--out", draft)[0] == 0
    assert trechter(*asked(table, tmp_path / "release", draft))[0] == 0
    certificate = json.loads((tmp_path / "release" / "certificate.json").read_text())
    assert certificate["schema"] == "declared"


def test_inferred_schema_is_recorded(trechter, table, tmp_path):
    code, _, said = trechter(*asked(table, tmp_path / "release", None), "--infer-schema")
    assert code == 0
    assert "learned from the data" in said
    assert json.loads((tmp_path / "release" / "certificate.json").read_text())["schema"] == "inferred"


def test_config_file(trechter, table, schema, tmp_path):
    config, out = tmp_path / "config.toml", tmp_path / "release"
    config.write_text(
        f'input = "{table}"\nsecret = ["ill"]\nrelease = "work"\nepsilon = 0.25\nschema = "{schema}"\n'
        f'out = "{out}"\ninsecure-seed = 3\n'
    )
    code, shown, said = trechter("publish", "--config", config, "--json")
    assert code == 0, said
    assert json.loads(shown)["notion"] == "LIP(0.25)"
    code, shown, _ = trechter("publish", "--config", config, "--json", "--epsilon", "1", "--out", tmp_path / "other")
    assert json.loads(shown)["notion"] == "LIP(1)"
    config.write_text("epsilom = 1\n")
    code, _, said = trechter("publish", "--config", config)
    assert code == 2
    assert "epsilom" in said
    assert "epsilon" in said


@pytest.mark.parametrize("setting", ["json = true", 'config = "other.toml"'])
def test_a_config_file_says_what_to_do_and_not_how_to_talk(trechter, table, schema, tmp_path, setting):
    """Whether one object is printed must be known before the file is read: errors in the file are printed so, too."""
    config = tmp_path / "config.toml"
    config.write_text(setting)
    code, shown, said = trechter(*asked(table, tmp_path / "release", schema), "--config", config)
    assert (code, shown) == (2, "")
    assert f"unknown option '{setting.split()[0]}'" in said
    code, shown, _ = trechter(*asked(table, tmp_path / "release", schema), "--config", config, "--json")
    assert (code, json.loads(shown)["exit"]) == (2, 2)
    assert not (tmp_path / "release").exists()


def test_perfect_privacy_says_what_its_protocol_discloses(trechter, table, schema, tmp_path):
    for epsilon, warned in (("0", True), ("1e-9", True), ("0.5", False), ("inf", False)):
        out = tmp_path / f"release-{epsilon}"
        code, _, said = trechter(*asked(table, out, schema, epsilon=epsilon))
        assert code == 0
        assert ("discloses the counts exactly" in said) is warned
        assert ("discloses the counts" in (out / "steward" / "report.html").read_text()) is warned


@pytest.mark.parametrize("epsilon", ["1e-300", "800", "1e300"])
def test_levels_beyond_what_floats_hold(trechter, table, schema, tmp_path, epsilon):
    code, shown, said = trechter(*asked(table, tmp_path / "release", schema, epsilon=epsilon))
    assert code == 0, said
    assert "sees the odds of ill = yes" in shown


def test_the_table_that_is_read_is_not_written_over(trechter, table, schema, tmp_path):
    before = table.read_bytes()
    other = tmp_path / "link.csv"
    other.symlink_to(table)
    roles = ["--secret", "ill", "--release", "work", "--epsilon", "1", "--schema", schema]
    trechter("design", table, *roles, "--out", tmp_path / "p.json")
    for name in (table, other):
        for command in (
            ["schema", table, "--out", name],
            ["design", table, *roles, "--out", name],
            ["sanitise", table, "--protocol", tmp_path / "p.json", "--out", name],
        ):
            code, _, said = trechter(*command)
            assert code == 2, command
            assert "it is the table that is being read" in said
    assert table.read_bytes() == before
    assert other.is_symlink()


@pytest.mark.parametrize("secure", [True, False])
def test_a_failed_sanitise_leaves_no_mark(trechter, table, schema, tmp_path, secure):
    """And a good one that replaces a marked file takes the mark away."""
    protocol, out, mark = tmp_path / "p.json", tmp_path / "s.csv", tmp_path / "s.csv.INSECURE"
    roles = ["--secret", "ill", "--release", "work", "--epsilon", "1", "--schema", schema]
    trechter("design", table, *roles, "--out", protocol)
    seed = [] if secure else ["--insecure-seed", "5"]
    other = tmp_path / "other.csv"
    other.write_text("work\nfull\nsabbatical\n")
    assert trechter("sanitise", other, "--protocol", protocol, "--out", out, *seed)[0] == 2
    assert not out.exists()
    assert not mark.exists()
    trechter("sanitise", table, "--protocol", protocol, "--out", out, "--insecure-seed", "5")
    insecure = out.read_bytes()
    trechter("sanitise", other, "--protocol", protocol, "--out", out, *seed)
    assert out.read_bytes() == insecure
    assert mark.exists()
    assert trechter("sanitise", table, "--protocol", protocol, "--out", out, *seed)[0] == 0
    assert mark.exists() is not secure


WRONG = {
    "unknown column": ({"secret": "il"}, ["il", "'ill', 'work', 'region', 'age'"]),
    "secret also released": ({"release": "ill,work"}, ["ill", "both secret and released"]),
    "twice": ({"release": "work,work"}, ["work", "twice"]),
    "negative": ({"epsilon": "-1"}, ["-1", "0 (perfect privacy)"]),
    "nan": ({"epsilon": "nan"}, ["nan", "0.5"]),
    "no number": ({"epsilon": "high"}, ["high"]),
    "unknown notion": ({"notion": "dp"}, ["dp", "lip"]),
    "unknown order": ({"order": "sorted"}, ["sorted", "keep"]),
    "unknown solver": ({"solver": "magic", "epsilon": "0.01"}, ["magic", "vertices"]),
    "no schema": ({"schema_": None}, ["trechter schema", "--infer-schema"]),
    "absent schema": ({"schema_": "absent.toml"}, ["absent.toml"]),
    "no output folder": ({"out_": "/proc/release"}, ["/proc/release"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests(trechter, table, schema, tmp_path, case):
    changes, words = WRONG[case]
    code, shown, said = trechter(*asked(table, tmp_path / "release", schema, **changes))
    assert (code, shown) == (2, "")
    assert all(word in said for word in words), said
    assert "Traceback" not in said
    assert sorted(p.name for p in tmp_path.iterdir()) == ["schema.toml", "table.csv"]


def test_one_column_more_or_less_in_what_is_said(trechter, tmp_path):
    """An index that pandas wrote has no name, and a task may be among what is released."""
    table = tmp_path / "table.csv"
    table.write_text(",ill,work\n" + "".join(f"{i},{'yes' if i % 3 else 'no'},{'abc'[i % 2]}\n" for i in range(30)))
    code, _, said = trechter(*asked(table, tmp_path / "release", None), "--infer-schema", "--task", "work")
    assert code == 0
    assert "does not cover them: (a column without a name), ill" in said
    assert "the domains of ill, work were learned" in said


TABLES = {
    "empty file": ("", ["empty"]),
    "header only": ("ill,work\n", ["no rows"]),
    "duplicate names": ("ill,work,work\nyes,a,b\nno,b,a\n", ["work"]),
    "ragged": ("ill,work\nyes,full\nno\nno,part,3\n", []),
    "one value": ("ill,work\nyes,full\nyes,part\n", ["ill", "one value"]),
    "unseen value": ("ill,work\nyes,full\nno,odd\n", ["work", "odd"]),
    "null": ("ill,work\nyes,full\nno,\n", ["work", "null"]),
}


@pytest.mark.parametrize("case", TABLES)
def test_wrong_tables(trechter, schema, tmp_path, case):
    text, words = TABLES[case]
    table = tmp_path / "table.csv"
    table.write_text(text)
    declared = None if case == "one value" else schema
    arguments = asked(table, tmp_path / "release", declared) + ([] if declared else ["--infer-schema"])
    code, shown, said = trechter(*arguments)
    assert (code, shown) == (2, ""), said
    assert all(word in said for word in words), said
    assert "Traceback" not in said
    assert sorted(p.name for p in tmp_path.iterdir()) == ["schema.toml", "table.csv"]


def test_many_values_suggest_bins(trechter, tmp_path):
    table = tmp_path / "table.csv"
    rows = "\n".join(f"{'yes' if i % 3 else 'no'},{i}" for i in range(20_000))
    table.write_text(f"ill,income\n{rows}\n")
    code, _, said = trechter(*asked(table, tmp_path / "release", None, release="income"), "--infer-schema")
    assert code == 2
    assert "20" in said
    assert "edges" in said


def test_files_that_cannot_be_read(trechter, schema, tmp_path):
    broken = {
        "cut.parquet": b"PAR1 and then nothing",
        "text.csv": b"ill,work\nyes,\xff\xfe\n",
        "cut.csv.gz": b"\x1f\x8b\x08\x00ab",
    }
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
    for name in [*broken, "absent.csv", "table.xlsx", "."]:
        code, shown, said = trechter(*asked(tmp_path / name, tmp_path / "release", schema))
        assert (code, shown) == (2, ""), (name, said)
        assert "Traceback" not in said
    assert not (tmp_path / "release").exists()


def test_a_protocol_for_other_values(trechter, table, schema, tmp_path):
    out = tmp_path / "release"
    trechter(*asked(table, out, schema))
    other = tmp_path / "other.csv"
    other.write_text("ill,work\nyes,full\nno,sabbatical\n")
    code, _, said = trechter("sanitise", other, "--protocol", out / "protocol.json", "--out", tmp_path / "s.csv")
    assert code == 2
    assert "sabbatical" in said
    assert trechter("verify", out / "protocol.json", "--input", other)[0] == 2
    assert not (tmp_path / "s.csv").exists()


def test_a_release_is_not_overwritten_by_accident(trechter, table, schema, tmp_path):
    out = tmp_path / "release"
    trechter(*asked(table, out, schema))
    before = (out / "released.csv").read_bytes()
    code, _, said = trechter(*asked(table, out, schema))
    assert code == 2
    assert "two releases" in said
    assert (out / "released.csv").read_bytes() == before
    assert trechter(*asked(table, out, schema, epsilon="0.1"), "--overwrite")[0] == 0
    assert json.loads((out / "certificate.json").read_text())["epsilon"] == "1/10"
    (out / "notes.txt").write_text("mine")
    assert trechter(*asked(table, out, schema), "--overwrite")[0] == 2
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_and_killed_runs_leave_no_release(tmp_path, schema, number):
    table, out = tmp_path / "table.csv", tmp_path / "release"
    block = "yes,none\nno,full\nno,part\nyes,full\n" * 10_000
    with table.open("w") as file:
        file.write("ill,work\n")
        for _ in range(150):
            file.write(block)
    run = subprocess.Popen(
        [sys.executable, "-m", "trechter", *map(str, asked(table, out, schema))], stderr=subprocess.PIPE, text=True
    )
    while run.poll() is None and not list(tmp_path.glob(".trechter-partial-*")):
        time.sleep(0.005)
    run.send_signal(number)
    said = run.communicate()[1]
    assert run.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 3), said
    assert not out.exists()
    if number != signal.SIGKILL:
        assert "interrupted" in said
        assert sorted(p.name for p in tmp_path.iterdir()) == ["schema.toml", "table.csv"]


def test_from_the_last_moment_on_nothing_is_interrupted(trechter, table, schema, tmp_path, monkeypatch):
    """So a run that says it was interrupted has left no release, however late the signal came."""
    out, replace = tmp_path / "release", staging._replace

    def interrupted(folder, target):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.raise_signal(number)
            if not target.exists():
                replace(folder, target)

    monkeypatch.setattr(staging, "_replace", interrupted)
    code, shown, _ = trechter(*asked(table, out, schema), "--json")
    assert (code, json.loads(shown)["holds"]) == (0, True)
    assert {p.name for p in out.iterdir()} == RELEASE


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_the_stewards_papers_are_the_stewards(trechter, table, schema, tmp_path):
    trechter(*asked(table, tmp_path / "release", schema))
    assert (tmp_path / "release" / "steward").stat().st_mode & 0o077 == 0
    assert (tmp_path / "release" / "released.csv").stat().st_mode & 0o444 == 0o444


def test_demo_speaks_plainly(trechter, tmp_path):
    out = tmp_path / "demo"
    code, shown, _ = trechter("demo", "--out", out)
    assert code == 0
    assert "sees the odds of long_term_illness = yes move from 1 :" in shown
    assert {p.name for p in out.iterdir()} == RELEASE
    assert trechter("demo", "--out", out)[0] == 0


def test_the_demo_never_replaces_a_real_release(trechter, table, schema, tmp_path):
    out = tmp_path / "release"
    trechter(*asked(table, out, schema))
    before = (out / "protocol.json").read_bytes()
    assert trechter("demo", "--out", out)[0] == 2
    assert (out / "protocol.json").read_bytes() == before


def test_help_of_every_command(trechter):
    assert {c.name for c in COMMANDS} == set(app.commands)
    for command in app.commands:
        code, shown, _ = trechter(command, "--help")
        assert code == 0
        assert shown.startswith("Usage: trechter")
    assert trechter("--version")[1].strip().endswith(tr.__version__)
    assert trechter("conjure")[0] == 2


def test_the_list_of_commands_is_whole_in_a_narrow_terminal(trechter, monkeypatch):
    monkeypatch.setenv("COLUMNS", "62")
    code, shown, _ = trechter("--help")
    assert code == 0
    assert all(app.commands[name].short_help in shown for name in app.commands)


def test_errors_are_json_when_json_was_asked(trechter, table, schema, tmp_path):
    code, shown, _ = trechter(*asked(table, tmp_path / "release", schema, epsilon="-3"), "--json")
    assert code == 2
    assert json.loads(shown)["exit"] == 2
    assert "-3" in json.loads(shown)["error"]


class Panic(BaseException):
    """What a library written in Rust raises when it gives up: no Exception."""


@pytest.mark.parametrize("error", [Panic("index out of bounds"), ValueError("no good"), MemoryError()])
def test_what_nobody_expected_is_a_failure_and_not_an_answer(trechter, table, monkeypatch, error):
    """In particular it is not 1, which would say that a protocol does not hold."""

    def broken(*_):
        raise error

    monkeypatch.setattr(sys.modules["trechter.cli.schema"], "open_table", broken)
    code, shown, said = trechter("schema", table, "--json")
    assert (code, json.loads(shown)["exit"]) == (4, 4)
    assert "please report it" in said
    assert type(error).__name__ in said


def test_importing_is_quick():
    """The heavy optional libraries stay outside; the time itself is measured where nothing else runs."""
    heavy = "('scipy', 'pandas', 'pyarrow', 'matplotlib')"
    code = f"import sys, trechter as tr; tr.design, tr.publish; print([m for m in {heavy} if m in sys.modules])"
    environment = os.environ | {"PYTHONPATH": ""}
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout
        == "[]\n"
    )
