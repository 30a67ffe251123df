"""What the command line does when nobody listens: the exit code still says how it ended, and nothing falls apart."""

import json
import os
import subprocess
import sys

import pytest

import trechter as tr

BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # as users have it


@pytest.fixture
def verify(tmp_path):
    """Run `trechter verify` on a protocol that holds, or on another file, with streams of our choice."""
    joint = tr.Joint([[40, 10, 5], [5, 10, 30]], secret=("ill", ["no", "yes"]), release={"work": ["a", "b", "c"]})
    tr.design(joint, tr.LIP("0.5")).protocol.save(tmp_path / "protocol.json")
    (tmp_path / "counts.csv").write_text("ill,work,count\nno,a,40\nno,b,10\nno,c,5\nyes,a,5\nyes,b,10\nyes,c,30\n")

    def run(protocol="protocol.json", end=("",), **streams):
        command = [sys.executable, "-m", "trechter", "verify", protocol, "--counts", "counts.csv"]
        shell = ["sh", "-c", f'exec "$@" {" ".join(end)}', "sh", *command]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
        return subprocess.run(shell, cwd=tmp_path, text=True, check=False, env=BUFFERED, **streams)

    return run


@pytest.fixture
def deaf():
    """A pipe that nobody reads."""
    ours, theirs = os.pipe()
    os.close(ours)
    yield theirs
    os.close(theirs)


def test_an_answer_that_nobody_reads(verify, deaf):
    found = verify(stdout=deaf)
    assert (found.returncode, found.stderr) == (0, "")


def test_an_answer_without_a_place_to_go(verify):
    found = verify(end=[">&-"])
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_an_answer_that_could_not_be_printed(verify):
    found = verify(end=[">/dev/full"])
    assert found.returncode == 4
    assert "ended with 0, but its answer could not be printed" in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize("end", ["2>&-", "2>/dev/full", ""])
def test_an_error_that_nobody_hears_is_no_other_answer(verify, deaf, end):
    """In particular it is not 1, which would say that a protocol does not hold."""
    assert verify("absent.json", end=[end], stderr=deaf).returncode == 2


def test_characters_that_the_terminal_does_not_have(tmp_path):
    """They are written as escapes; the answer comes, and JSON stays JSON."""
    (tmp_path / "t.csv").write_text("krank,schön\n" + "ja,größer 龍\nnein,kleiner\nja,kleiner\nnein,größer 龍\n" * 9, "utf-8")
    environment = BUFFERED | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}

    def run(*arguments):
        command = [sys.executable, "-m", "trechter", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)

    drafted = run("schema", "t.csv")
    assert drafted.returncode == 0
    assert rb"gr\xf6\xdfer \u9f8d" in drafted.stdout
    asked = ["--secret", "krank", "--release", "schön", "--epsilon", "1", "--infer-schema"]
    published = run("publish", "t.csv", *asked, "--out", "é", "--json")
    assert published.returncode == 0, published.stderr
    assert json.loads(published.stdout)["out"] == "é"
