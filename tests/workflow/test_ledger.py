"""The ledger: what is in it is judged together, exactly; nothing passes its limit, nothing is lost, nothing is forged."""

import json
import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from tests.conftest import random_counts, random_joint, random_matrix

import trechter as tr
from trechter.audit.together import Level
from trechter.errors import LedgerError, NotPrivateError
from trechter.model.counts_file import counts_csv
from trechter.model.dense import DenseProtocol
from trechter.model.files import content_hash
from trechter.workflow import ledger as ledger_module

COLUMNS = {"A": ["a", "b"], "B": [0, 1, 2]}


@pytest.fixture
def joint():
    return tr.Joint(random_counts(3, 2, 2, 3), secret=("S", ["no", "yes"]), release=COLUMNS)


def noisy(joint, names, seed, share=0.5):
    """A protocol of some columns that says something about them, and nothing is certain."""
    release = tuple(a for a in joint.release if a.name in names)
    n = math.prod(len(a) for a in release)
    matrix = (1 - share) / n + share * random_matrix(seed, n, n)
    return DenseProtocol.from_matrix(
        matrix, tr.Joint(np.ones([joint.shape[0], *map(len, release)], int), secret=joint.secret, release=release)
    )


def test_everything_in_it_is_judged_together(joint, tmp_path):
    protocols = [noisy(joint, "A", 1), noisy(joint, "AB", 2), noisy(joint, "B", 3)]
    ledger, file = tr.Ledger.new(joint, tr.LIP(5)), tmp_path / "ledger.json"
    assert (ledger.level, ledger.level_exact, ledger.entries) == (0, 1, ())
    for k, protocol in enumerate(protocols, start=1):
        entry = ledger.add(protocol, joint)
        composed = tr.certify(tr.compose(*protocols[:k], joint=joint), joint, tr.LIP("inf"))
        assert entry.together == Level(composed.level_exact)
        assert (ledger.level_exact, ledger.level) == (composed.level_exact, composed.level)
        assert entry.alone.worst == tr.certify(tr.compose(protocol, joint=joint), joint, tr.LIP("inf")).level_exact
        ledger.save(file)
    loaded = tr.Ledger.load(file)
    assert loaded.to_json() == ledger.to_json()
    assert [e.protocol for e in loaded.entries] == protocols
    assert loaded.judge(joint) == loaded.entries[-1].together
    assert [e.reads for e in loaded.entries] == [["A"], ["A", "B"], ["B"]]


def test_whatever_would_pass_the_limit_is_refused(joint, tmp_path):
    """Although it holds the limit alone, and although the levels of both add up to less."""
    joint = random_joint(560090, 2, 2, 2)
    first, second = (DenseProtocol.from_matrix(random_matrix(560090 + k, 3, 4), joint) for k in (1, 2))
    levels = [tr.certify(p, joint, tr.LDP("inf")).level for p in (first, second)]
    ledger, file = tr.Ledger.new(joint, tr.LDP(1.5 * sum(levels))), tmp_path / "ledger.json"
    ledger.add(first, joint)
    ledger.save(file)
    before = file.read_bytes()
    with pytest.raises(NotPrivateError, match="above the limit") as refused:
        ledger.add(second, joint)
    assert "Levels do not add up" in str(refused.value)
    assert len(ledger.entries) == 1
    ledger.save(file)
    assert file.read_bytes() == before


def test_a_level_at_the_limit_is_no_level_above_it(joint):
    """e^ε is irrational: the comparison decides by the exact level."""
    protocol = noisy(joint, "AB", 4)
    level = tr.certify(protocol, joint, tr.LIP("inf")).level
    tr.Ledger.new(joint, tr.LIP(level)).add(protocol, joint)
    with pytest.raises(NotPrivateError):
        tr.Ledger.new(joint, tr.LIP(math.nextafter(level, 0) * (1 - 1e-15))).add(protocol, joint)


@pytest.mark.parametrize("notion", [tr.SRLIP, tr.SRLDP, tr.LDP])
def test_any_notion_may_be_the_limit(joint, notion):
    ledger = tr.Ledger.new(joint, notion(9))
    for k, names in enumerate(("A", "B")):
        ledger.add(noisy(joint, names, k), joint)
    both = tr.compose(noisy(joint, "A", 0), noisy(joint, "B", 1))
    assert ledger.level_exact == tr.certify(both, joint, notion(9)).level_exact


def test_the_same_protocol_twice_is_another_release(joint):
    ledger, protocol = tr.Ledger.new(joint, tr.LIP(5)), noisy(joint, "A", 1)
    once = ledger.add(protocol, joint).together
    with pytest.raises(LedgerError, match="again=True"):
        ledger.add(protocol, joint)
    twice = ledger.add(protocol, joint, again=True).together
    assert twice.worst > once.worst


def test_other_counts_are_refused_unless_everything_is_judged_anew(joint):
    ledger = tr.Ledger.new(joint, tr.LIP(1))
    ledger.add(noisy(joint, "A", 1, 0.2), joint)
    more = joint.counts + random_counts(8, 2, 2, 3)
    grown = tr.Joint(more, secret=joint.secret, release=joint.release)
    with pytest.raises(LedgerError, match=rf"n was {joint.n}, and is {grown.n}.*--recount"):
        ledger.add(noisy(joint, "B", 2, 0.2), grown)
    entry = ledger.add(noisy(joint, "B", 2, 0.2), grown, recount=True)
    assert entry.together == ledger.judge(grown)
    with pytest.raises(LedgerError, match="not those"):
        ledger.check(joint)
    ledger.check(grown)
    extreme = tr.Joint(
        joint.counts * [[[1, 1, 1], [0, 0, 0]], [[0, 0, 0], [1, 1, 1]]], secret=joint.secret, release=joint.release
    )
    strict = tr.Ledger.new(joint, tr.LIP(ledger.level))
    strict.add(noisy(joint, "A", 5), joint)
    assert strict.judge(extreme).worst > strict.level_exact
    with pytest.raises(NotPrivateError):
        strict.add(noisy(joint, "B", 6), extreme, recount=True)
    strict.check(joint)


def test_the_counts_may_carry_a_task(joint):
    tasks = np.stack([joint.counts, joint.counts], axis=-1)
    doubled = tr.Joint(tasks, secret=joint.secret, release=joint.release, task=("T", [0, 1]))
    tr.Ledger.new(doubled, tr.LIP(1)).check(tr.Joint(2 * joint.counts, secret=joint.secret, release=joint.release))


def test_other_columns_are_refused(joint):
    ledger = tr.Ledger.new(joint, tr.LIP(1))
    with pytest.raises(LedgerError, match="about S, A, B"):
        ledger.add(noisy(joint, "A", 1), tr.Joint(joint.counts.sum(axis=2), secret=joint.secret, release=joint.release[:1]))
    strange = tr.Joint(np.ones((2, 2), int), secret=joint.secret, release={"C": [0, 1]})
    with pytest.raises(tr.TrechterError, match="reads 'C', but the columns here are A, B"):
        ledger.add(DenseProtocol.from_matrix(np.eye(2), strange), joint)


def test_bounds_are_marked(joint, monkeypatch, tmp_path):
    """Where outputs are too many, the levels about the data itself take their place: these do add up."""
    monkeypatch.setattr("trechter.audit.together.MOST_WORK", 0)
    ledger = tr.Ledger.new(joint, tr.LIP(9))
    for k in (1, 2):
        ledger.add(noisy(joint, "A", k), joint)
    ledger.save(tmp_path / "ledger.json")
    first, second = tr.Ledger.load(tmp_path / "ledger.json").entries
    assert first.together.exact
    assert not second.together.exact
    assert "a bound" in ledger_module.words(second.together)
    spreads = [max(Fraction(int(max(row)), int(min(row))) for row in e.protocol.weights) for e in (first, second)]
    assert second.together.worst == spreads[0] * spreads[1]


def test_a_release_with_a_secret_of_several_columns_and_one_that_reads_them():
    """Survey weights too: the counts are fractions."""
    counts = random_counts(6, 4, 2, 3) / np.array(7.0)
    joint = tr.Joint(counts, secret={"S": [0, 1], "T": ["a", "b"]}, release=COLUMNS)
    reading = DenseProtocol.from_matrix(0.2 * random_matrix(1, 6, 24) + 0.8 / 6, joint, reads="sx")
    ledger = tr.Ledger.new(joint, tr.LIP(3))
    ledger.add(reading, joint)
    assert ledger.level_exact == tr.certify(reading, joint, tr.LIP(3)).level_exact
    ledger.add(noisy(joint, "AB", 2), joint)
    both = tr.compose(reading, noisy(joint, "AB", 2))
    assert both.reads == "sx"
    assert ledger.level_exact == tr.certify(both, joint, tr.LIP(3)).level_exact


@pytest.mark.parametrize("over", [Fraction(3**9000, 2**14000), Fraction(3**9000), Fraction(2**14100 + 1, 2**14100)])
def test_levels_too_long_to_be_written_are_rounded_up(over):
    short = ledger_module._shortened(Level(over))
    assert not short.exact
    assert short.worst is None or over < short.worst < over * (1 + Fraction(1, 10**100))
    assert ledger_module._level(json.loads(json.dumps(ledger_module.shown(short)))) == short
    assert ledger_module._shortened(Level(Fraction(7, 5))) == Level(Fraction(7, 5))
    assert ledger_module._shortened(Level(None)) == Level(None)


# ---------------------------------------------------------------------------------------------- the file


@pytest.fixture
def file(joint, tmp_path):
    ledger = tr.Ledger.new(joint, tr.LIP(2))
    for k in (1, 2):
        ledger.add(noisy(joint, "A", k, 0.2), joint)
    ledger.save(tmp_path / "ledger.json")
    return tmp_path / "ledger.json"


FORGED = {
    "another limit": lambda data: data["limit"].update(epsilon="9"),
    "one entry less": lambda data: data["entries"].pop(),
    "another date": lambda data: data["entries"][0].update(date="2001-01-01T00:00:00+00:00"),
    "another level": lambda data: data["entries"][1]["together"].update(level=0.1),
    "another salt": lambda data: data.update(salt="00"),
    "a weight": lambda data: data["entries"][0]["protocol"]["weights"][0].reverse(),
    "something new": lambda data: data.update(note="mine"),
    "no hash": lambda data: data.pop("hash"),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_ledger_that_was_changed_is_refused(file, case):
    data = json.loads(file.read_text())
    FORGED[case](data)
    file.write_text(json.dumps(data))
    with pytest.raises(LedgerError, match="does not match its hash"):
        tr.Ledger.load(file)
    with pytest.raises(LedgerError), tr.Ledger.open(file):
        pass


MALFORMED = {
    "no limit": lambda data: data.pop("limit"),
    "salt": lambda data: data.update(salt="salt"),
    "entries": lambda data: data.update(entries=7),
    "no protocol": lambda data: data["entries"][0].pop("protocol"),
    "a changed protocol": lambda data: data["entries"][0]["protocol"].update(bits=3),
    "level": lambda data: data["entries"][0]["alone"].update(level_exact="high"),
    "columns": lambda data: data.update(secret=[1]),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_ledger_whose_hash_is_right_may_still_be_malformed(file, case):
    data = json.loads(file.read_text())
    del data["hash"]
    MALFORMED[case](data)
    file.write_text(json.dumps(data | {"hash": content_hash(data)}))
    with pytest.raises(tr.TrechterError):
        tr.Ledger.load(file)


def test_files_that_are_no_ledgers(file, tmp_path):
    for path, text in ((tmp_path / "absent.json", None), (tmp_path / "other.json", '{"format": "other"}')):
        if text:
            path.write_text(text)
        with pytest.raises(LedgerError):
            tr.Ledger.load(path)
        with pytest.raises(LedgerError), tr.Ledger.open(path):
            pass
    file.write_text(file.read_text().replace('"version": 1', '"version": 2', 1))
    with pytest.raises(LedgerError, match="version 2; this program reads version 1"):
        tr.Ledger.load(file)


def test_two_who_add_at_once_do_not_overwrite_each_other(file, joint):
    mine, theirs = tr.Ledger.load(file), tr.Ledger.load(file)
    theirs.add(noisy(joint, "B", 7, 0.1), joint)
    theirs.save()
    theirs.add(noisy(joint, "B", 8, 0.1), joint)
    theirs.save(file)
    mine.add(noisy(joint, "B", 9, 0.1), joint)
    with pytest.raises(LedgerError, match="changed by somebody else"):
        mine.save(file)
    with pytest.raises(LedgerError, match="a ledger already"):
        tr.Ledger.new(joint, tr.LIP(1)).save(file)
    with pytest.raises(LedgerError, match="name the one"):
        tr.Ledger.new(joint, tr.LIP(1)).save()
    assert len(tr.Ledger.load(file).entries) == 4


def test_several_processes_lose_no_entry(file, joint):
    """Each reads, judges and writes five times, while the others do the same."""
    noisy(joint, "A", 1, 0.01).save(file.with_name("protocol.json"))
    file.with_name("counts.csv").write_text(counts_csv(joint))
    code = (
        "import sys\n"
        "from trechter.workflow.bookkeeping import add_to_ledger\n"
        "print(flush=True)\n"
        "sys.stdin.readline()\n"
        "for _ in range(5):\n"
        "    add_to_ledger('ledger.json', sys.argv[1], counts='counts.csv', again=True)\n"
    )
    for name in "abc":
        file.with_name(name).write_bytes(file.with_name("protocol.json").read_bytes())
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": file.parent}
    runs = [subprocess.Popen([sys.executable, "-c", code, name], **pipes) for name in "abc"]
    for run in runs:
        run.stdout.readline()
    for run in runs:
        run.stdin.write("\n")
        run.stdin.flush()
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert sorted(e.source for e in tr.Ledger.load(file).entries) == ["", "", *"aaaaabbbbbccccc"]
    assert sorted(p.name for p in file.parent.iterdir()) == ["a", "b", "c", "counts.csv", "ledger.json", "protocol.json"]


def test_the_file_is_the_stewards_own(file, joint):
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o660)
    with tr.Ledger.open(file) as ledger:
        ledger.add(noisy(joint, "B", 7, 0.1), joint)
        ledger.save()
    assert file.stat().st_mode & 0o777 == 0o660


def test_links_are_followed(file, joint, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(file)
    with tr.Ledger.open(link) as ledger:
        ledger.add(noisy(joint, "B", 7, 0.1), joint)
        ledger.save(link)
    assert link.is_symlink()
    assert len(tr.Ledger.load(file).entries) == 3
