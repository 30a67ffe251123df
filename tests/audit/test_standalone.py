"""The script for auditors and the package's own verifier: the same answer on every file, good, bad or forged."""

from __future__ import annotations

import ast
import csv
import datetime as dt
import json
import subprocess
import sys
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.audit.saved import BROKEN, CANNOT_SAY, HOLDS, Saved, promise, protocol_of

import trechter as tr
from trechter.audit import standalone
from trechter.exact import log_up
from trechter.model.counts_file import counts_csv

COUNTS = np.array([[30, 10, 5, 8], [5, 20, 25, 2]])


@pytest.fixture
def saved(tmp_path):
    """A design at ε = 1/2 that uses all of it."""
    joint = tr.Joint(COUNTS, secret=("ill", ["no", "yes"]), release={"age": ["a", "b", "c", "d"]})
    return Saved(tmp_path, tr.design(joint, tr.LIP("1/2")).protocol, joint)


def run(saved, *arguments, python=sys.executable):
    """The script as an auditor runs it: alone, isolated, with nothing installed."""
    script = saved.protocol.parent / "verify.py"
    script.write_bytes(Path(standalone.__file__).read_bytes())
    command = [python, "-I", "-S", str(script), str(saved.protocol), str(saved.counts), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False)


def test_it_runs_alone(saved):
    found = run(saved)
    assert found.returncode == HOLDS
    assert found.stderr == ""
    assert found.stdout.startswith(
        "HOLDS: no output is more than e^(1/2) times as likely, or as unlikely, under a value of ill"
    )
    assert saved.content["hash"] in found.stdout
    broken = run(saved, "--notion", "lip", "--epsilon", "0.4999")
    assert (broken.returncode, broken.stderr) == (BROKEN, "")
    assert broken.stdout.startswith("DOES NOT HOLD: ")
    assert "The level is about 0.5. " in broken.stdout
    for arguments in (["--notion", "lip"], ["--epsilon", "1"], ["--notion", "magic", "--epsilon", "1"], ["--what"]):
        assert run(saved, *arguments).returncode == CANNOT_SAY
    saved.protocol.write_bytes(b"\xff\x00")
    nothing = run(saved)
    assert (nothing.returncode, nothing.stderr) == (CANNOT_SAY, "")
    assert nothing.stdout.startswith("CANNOT SAY: ")
    assert nothing.stdout.count("\n") == 1


def test_it_needs_python_3_8_and_its_library_only():
    tree = ast.parse(Path(standalone.__file__).read_text(encoding="utf-8"), feature_version=(3, 8))
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.parametrize("notion", ["ldp", "lip", "srldp", "srlip"])
@pytest.mark.parametrize("epsilon", ["0", "0.3", "1/2", "1", ".9", "3e0", "inf"])
def test_other_notions_than_the_promised(saved, notion, epsilon):
    asked = {"ldp": tr.LDP, "lip": tr.LIP, "srldp": tr.SRLDP, "srlip": tr.SRLIP}[notion](epsilon)
    assert saved.script("--notion", notion, "--epsilon", epsilon) == saved.package(asked)


def test_answers_differ(saved):
    """Power: the matrix above has both answers."""
    assert saved.script("--notion", "ldp", "--epsilon", "1") == HOLDS
    assert saved.script("--notion", "ldp", "--epsilon", "0.5") == BROKEN


# Forged protocols. Each edit is made twice: by someone who leaves the hash, and by someone who makes a new one.


def swap(content):
    """Two values get each other's weights."""
    columns = content["weights"]
    columns[0], columns[1] = columns[1], columns[0]


def permute(content):
    content["release"][0]["values"].reverse()


def tighten(content):
    content["promise"]["epsilon"] = "0.4999999"


def more_than_all(content):
    """One column has twice what it should, in its largest weight."""
    column = content["weights"][1]
    largest = max(range(len(column)), key=lambda y: int(column[y]))
    column[largest] = str(int(column[largest]) + 2 ** content["bits"])


def wrap(content):
    """Every column has five weights of 2^62, whose sum is 2^62 in 64-bit words."""
    content |= {"bits": 62, "outputs": list("pqrst"), "weights": [[str(2**62)] * 5] * 4}


def put(value, *path):
    """An edit that sets one place."""

    def edit(content):
        for key in path[:-1]:
            content = content[key]
        if value is DROP:
            del content[path[-1]]
        else:
            content[path[-1]] = value

    return edit


def unit(content):
    column = content["weights"][2]
    column[0] = str(int(column[0]) + 1)


def respell(change):
    """An edit that writes the largest weight of a column in another way."""

    def edit(content):
        column = content["weights"][0]
        largest = max(range(len(column)), key=lambda y: int(column[y]))
        column[largest] = change(column[largest])

    return edit


def arabic(text):
    return "".join(chr(0x0660 + int(digit)) for digit in text)


DROP = object()
OVER = {"swapped": swap, "labels permuted": permute, "promise tightened": tighten}
MALFORMED = {
    "off by one": unit,
    "twice the whole": more_than_all,
    "sums wrap around": wrap,
    "negative": put("-1", "weights", 0, 0),
    "exponent": put("1e3", "weights", 0, 0),
    "same with an exponent": respell(lambda w: w + "e0"),
    "same in Arabic digits": respell(arabic),
    "superscript": put("\u00b2", "weights", 0, 0),
    "same with an underscore": respell(lambda w: w[0] + "_" + w[1:]),
    "same with a blank": respell(lambda w: " " + w),
    "same with a line end": respell(lambda w: w + "\n"),
    "same with a sign": respell(lambda w: "+" + w),
    "same as a number": respell(int),
    "same as a fraction": respell(lambda w: w + "/1"),
    "nothing": put("", "weights", 0, 0),
    "NaN weight": put("NaN", "weights", 0, 0),
    "long": put("9" * 5000, "weights", 0, 0),
    "short column": put(["1"], "weights", 0),
    "no column": put([], "weights", 0),
    "number for a column": put(7, "weights", 0),
    "missing column": put(DROP, "weights", 0),
    "no weights": put([], "weights"),
    "weights missing": put(DROP, "weights"),
    "fewer outputs": put(["y"], "outputs"),
    "bits 47": put(47, "bits"),
    "bits 0": put(0, "bits"),
    "bits negative": put(-1, "bits"),
    "bits as text": put("48", "bits"),
    "bits NaN": put(float("nan"), "bits"),
    "bits float": put(48.0, "bits"),
    "bits vast": put(10**15, "bits"),
    "bits missing": put(DROP, "bits"),
    "version 2": put(2, "version"),
    "version missing": put(DROP, "version"),
    "format": put("trechter-certificate", "format"),
    "kind": put("unary", "kind"),
    "reads": put("y", "reads"),
    "reads sx": put("sx", "reads"),
    "no secret": put([], "secret"),
    "no release": put([], "release"),
    "release missing": put(DROP, "release"),
    "secret is text": put("ill", "secret"),
    "a value less": put(["a", "b", "c"], "release", 0, "values"),
    "a value twice": put(["a", "b", "c", "c"], "release", 0, "values"),
    "a value of another type": put(["a", "b", "c", {"x": 1}], "release", 0, "values"),
    "another name": put("wage", "release", 0, "name"),
    "no promise": put(None, "promise"),
    "promise missing": put(DROP, "promise"),
    "promise is text": put("lip", "promise"),
    "epsilon missing": put(DROP, "promise", "epsilon"),
    "epsilon a number": put(0.5, "promise", "epsilon"),
    "epsilon negative": put("-1", "promise", "epsilon"),
    "epsilon NaN": put("nan", "promise", "epsilon"),
    "epsilon vast": put("1e999999999", "promise", "epsilon"),
    "epsilon 1/0": put("1/0", "promise", "epsilon"),
    "unknown notion": put("dp", "promise", "notion"),
    "unknown protect": put("y", "promise", "protect"),
}


EDITED = (
    OVER
    | MALFORMED
    | {"half a character": put("\ud800", "release", 0, "name"), "more": put(1, "more"), "hash": put("0", "hash")}
)


@pytest.mark.parametrize("name", EDITED)
def test_a_file_edited_by_hand_is_no_protocol(saved, name):
    content = saved.content
    EDITED[name](content)
    saved.write(content, rehash=False)
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY)


@pytest.mark.parametrize("name", OVER)
def test_a_forgery_with_a_new_hash_is_over_its_level(saved, name):
    content = saved.content
    OVER[name](content)
    saved.write(content)
    assert saved.both() == (BROKEN, BROKEN)


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_protocol_with_a_new_hash_is_none(saved, name):
    content = saved.content
    MALFORMED[name](content)
    saved.write(content)
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY)


def test_one_unit_moved_is_found_where_the_promise_is_the_level(saved, tmp_path):
    """Two to the 48th of one probability, in a column whose sum is kept."""
    protocol, joint = (
        tr.Protocol.load(saved.protocol),
        tr.Joint(COUNTS, secret=("ill", ["no", "yes"]), release={"age": list("abcd")}),
    )
    level = Fraction(log_up(tr.certify(protocol, joint).level_exact))
    answers = set()
    for x in range(4):
        for y, z in permutations(range(len(protocol.weights)), 2):
            weights = protocol.weights.copy()
            if not weights[y, x]:
                continue
            weights[y, x] -= 1
            weights[z, x] += 1
            moved = Saved(tmp_path, protocol_of(weights, joint, promise("lip", level)), joint).both()
            assert moved[0] == moved[1]
            answers.add(moved[0])
    assert answers == {HOLDS, BROKEN}
    assert Saved(tmp_path, protocol_of(protocol.weights, joint, promise("lip", level)), joint).both() == (HOLDS, HOLDS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "3",
        '"protocol"',
        "{",
        "[" * 100_000,
        '{"format": "trechter-protocol", "version": 1}',
        "\ufeff{}",
        '{"a": "\\ud800"}',
        "NaN",
    ],
    ids=lambda t: t[:12] or "empty",
)
def test_what_is_no_protocol_at_all(saved, text):
    saved.protocol.write_text(text, encoding="utf-8")
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY)


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.9, 0.999])
def test_a_truncated_protocol(saved, share):
    whole = saved.protocol.read_bytes()
    saved.protocol.write_bytes(whole[: int(len(whole) * share)])
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY)


def test_files_that_are_not_there(saved):
    saved.counts.unlink()
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY)
    saved.counts.mkdir()
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY)
    saved.protocol.unlink()
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY)


GOOD = "ill,age,count\nno,a,30\nno,b,10\nno,c,5\nno,d,8\nyes,a,5\nyes,b,20\nyes,c,25\nyes,d,2\n"
BAD_COUNTS = {
    "empty": "",
    "header only": "ill,age,count\n",
    "all zero": "ill,age,count\nno,a,0\n",
    "column missing": GOOD.replace("age", "wage"),
    "count missing": GOOD.replace("count", "n"),
    "column twice": GOOD.replace("ill,age,count", "age,age,count"),
    "unknown value": GOOD.replace("no,a", "no,e"),
    "other case": GOOD.replace("no,a", "No,a"),
    "a space": GOOD.replace("no,a", "no, a"),
    "a field less": GOOD.replace("no,a,30", "no,30"),
    "a field more": GOOD.replace("no,a,30", "no,a,30,1"),
    "truncated": GOOD[:-3],
    "negative": GOOD.replace("30", "-30"),
    "NaN": GOOD.replace("30", "nan"),
    "infinite": GOOD.replace("30", "inf"),
    "Arabic digits": GOOD.replace("30", "\u0663\u0660"),
    "no count": GOOD.replace("30", ""),
    "1/0": GOOD.replace("30", "1/0"),
    "vast": GOOD.replace("30", "1e999999999"),
    "words": GOOD.replace("30", "thirty"),
    "open quote": GOOD.replace("no,a", 'no,"a'),
    "text after a quote": GOOD.replace("no,a", 'no,"a"b'),
}


@pytest.mark.parametrize("name", BAD_COUNTS)
def test_counts_that_are_none(saved, name):
    saved.counts.write_text(BAD_COUNTS[name], encoding="utf-8")
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY)


def test_counts_that_are_not_text(saved):
    saved.counts.write_bytes(b"\xff\xfe\x00i")
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY)


SAME_COUNTS = {
    "as written": GOOD,
    "any order of rows": "\n".join([GOOD.splitlines()[0], *GOOD.splitlines()[:0:-1]]),
    "any order of columns": "age,ill,count\na,no,30\nb,no,10\nc,no,5\nd,no,8\na,yes,5\nb,yes,20\nc,yes,25\nd,yes,2\n",
    "carriage returns": GOOD.replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + GOOD,
    "quotes": GOOD.replace("no,a", '"no","a"'),
    "in two parts": GOOD.replace("no,a,30", "no,a,29.5\nno,a,1/2\nno,a,0"),
    "thirds": "ill,age,count\nno,a,10\nno,b,10/3\nno,c,5/3\nno,d,8/3\nyes,a,5/3\nyes,b,20/3\nyes,c,25/3\nyes,d,2/3\n",
    "another column": GOOD.replace("ill,", "year,ill,").replace("\nno", "\n1999,no").replace("\nyes", "\n2001,yes"),
}


@pytest.mark.parametrize("name", SAME_COUNTS)
def test_counts_that_are_the_same(saved, name):
    """The level to the last digit, so no row was lost or counted twice."""
    level = log_up(tr.verify(saved.protocol, counts=saved.counts).level_exact)
    content = saved.content
    for epsilon, answer in ((Fraction(level), HOLDS), (Fraction(level) * (1 - Fraction(1, 10**15)), BROKEN)):
        content["promise"]["epsilon"] = str(epsilon)
        saved.write(content)
        saved.counts.write_text(SAME_COUNTS[name], encoding="utf-8", newline="")
        assert saved.both() == (answer, answer)


def test_other_counts_give_another_answer(saved):
    saved.counts.write_text(GOOD.replace("yes,b,20", "yes,b,200"), encoding="utf-8")
    assert saved.both() == (BROKEN, BROKEN)


ATTRIBUTES = {
    "text": tr.Attribute("Besoin d'aide, ça « va » ?", ("", "a,b", 'say "no"', "two\nlines", "tab\t", "é ∞", " x ")),
    "null": tr.Attribute("n", ("a", "(null)", "((null))", None)),
    "null alone": tr.Attribute("n", ("null", "None", None)),
    "truth": tr.Attribute("b", (False, True, None), "boolean"),
    "integers": tr.Attribute("i", (-5, 0, 10**30, 7, None), "integer"),
    "dates": tr.Attribute("d", (dt.date(2020, 2, 29), dt.date(1, 1, 1), None), "date"),
    "bins": tr.Attribute.binned("z", [0, 1, 5, 10], null=True),
    "open bins": tr.Attribute.binned("z", [float("-inf"), 0.1, 1e16, 2.5e-7 + 1e16 * 2, float("inf")], "number"),
    "date bins": tr.Attribute.binned("z", [dt.date(2020, 1, 1), dt.date(2021, 1, 1), dt.date(2022, 1, 1)], "date"),
    "catch-all": tr.Attribute("t", ("a", "b", "Other"), other="Other"),
    "called count": tr.Attribute("count", ("1", "2", "3")),
    "called hash": tr.Attribute("hash", ("{}", "{0}", "%s")),
}


@pytest.mark.parametrize("name", [n for n in ATTRIBUTES if n != "called count"])
@pytest.mark.parametrize("reads", ["x", "sx"])
def test_labels_of_every_type(tmp_path, name, reads):
    attribute = ATTRIBUTES[name]
    a = len(attribute)
    counts = np.arange(1, 2 * a + 1).reshape(2, a) ** 2
    joint = tr.Joint(counts, secret=("S", ["n", "y"]), release=[attribute])
    draw = np.random.default_rng(0)
    weights = draw.multinomial(2**20, [0.2, 0.3, 0.5], a * (2 if reads == "sx" else 1)).T
    level = Fraction(log_up(tr.certify(protocol_of(weights, joint, reads=reads), joint, tr.LIP(9)).level_exact))
    for epsilon, answer in ((level, HOLDS), (level * (1 - Fraction(1, 10**15)), BROKEN)):
        saved = Saved(tmp_path, protocol_of(weights, joint, promise("lip", epsilon), reads), joint)
        assert saved.both() == (answer, answer)


def test_a_column_called_count(tmp_path):
    joint = tr.Joint(COUNTS[:, :3], secret=("S", ["n", "y"]), release=[ATTRIBUTES["called count"]])
    saved = Saved(tmp_path, tr.design(joint, tr.LIP("1/2")).protocol, joint)
    assert saved.script() == HOLDS
    assert saved.script("--notion", "lip", "--epsilon", "0.49") == BROKEN


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@settings(max_examples=40)
@given(TEXT, TEXT, st.sampled_from([None, "(null)", "\r", "\r\n", "\x00", '"']))
def test_labels_of_any_text(tmp_path_factory, first, second, third):
    values = tuple(dict.fromkeys([first, second, third, None]))
    joint = tr.Joint(np.arange(1, 2 * len(values) + 1).reshape(2, -1), release=[tr.Attribute("X", values)])
    weights = [[1] * len(values), [3] * len(values)]
    assert Saved(tmp_path_factory.mktemp("text"), protocol_of(weights, joint, promise("lip", 0)), joint).both() == (
        HOLDS,
        HOLDS,
    )


def test_labels_of_any_length(tmp_path):
    """Longer than what the csv module takes unless it is told to."""
    names = ["a" * 200_000, "b" * 140_000]
    joint = tr.Joint([[3, 1], [1, 3]], release={"X": names})
    saved = Saved(tmp_path, protocol_of([[1, 1], [3, 3]], joint, promise("lip", 0)), joint)
    former = csv.field_size_limit(131_072)
    try:
        assert saved.package() == HOLDS
    finally:
        csv.field_size_limit(former)
    assert run(saved).returncode == HOLDS


def test_several_secrets_and_attributes(tmp_path):
    counts = np.random.default_rng(5).integers(0, 20, (6, 2, 3))
    joint = tr.Joint(
        counts, secret={"ill": ["no", "yes"], "debt": [0, 1, 2]}, release={"a": [True, False], "b": ["u", "v", "w"]}
    )
    for reads, name, protect in (("x", "srlip", "s"), ("sx", "srldp", "s"), ("sx", "lip", "x"), ("x", "srldp", "x")):
        n = 6 * (6 if reads == "sx" else 1)
        weights = np.random.default_rng(6).multinomial(2**20, [0.2, 0.3, 0.5], n).T
        level = tr.certify(protocol_of(weights, joint, promise(name, 1, protect), reads), joint).level_exact
        for epsilon, answer in (
            (Fraction(log_up(level)), HOLDS),
            (Fraction(log_up(level)) * (1 - Fraction(1, 10**15)), BROKEN),
        ):
            saved = Saved(tmp_path, protocol_of(weights, joint, promise(name, epsilon, protect), reads), joint)
            assert saved.both() == (answer, answer)


def test_counts_are_written_for_both(tmp_path):
    """What `publish` puts beside the script is what the script reads."""
    joint = tr.Joint([[Fraction(1, 3), 0.5], [2, 3]], release={"X": ["a", "b"]})
    lines = counts_csv(joint).splitlines()
    assert lines == ["S,X,count", "0,a,1/3", "0,b,1/2", "1,a,2", "1,b,3"]
    assert Saved(tmp_path, tr.design(joint, tr.LIP("0.01")).protocol, joint).both() == (HOLDS, HOLDS)


def test_it_says_what_is_wrong_in_one_line(saved, capsys):
    """Never a traceback, and never silence."""
    for edit in MALFORMED.values():
        content = json.loads(json.dumps(saved.content))
        original = saved.protocol.read_bytes()
        edit(content)
        saved.write(content)
        saved.script()
        said = capsys.readouterr()
        assert said.out.startswith("CANNOT SAY: ")
        assert said.out.count("\n") == 1
        assert len(said.out) < 6000
        assert said.err == ""
        saved.protocol.write_bytes(original)
