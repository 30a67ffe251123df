"""The script for auditors on unary encodings, which have no matrix: both verifiers give the same answers."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.audit.saved import BROKEN, CANNOT_SAY, HOLDS, Saved, promise
from tests.audit.test_standalone import DROP, put, run
from tests.conftest import random_joint

import trechter as tr
from trechter.audit import standalone
from trechter.exact import log_up
from trechter.model.unary import UnaryProtocol

NOTIONS = st.sampled_from(["ldp", "lip", "srldp", "srlip"])
SHAPES = st.sampled_from([(2, 3), (3, 4), (1, 3), (2, 1), (2, 2, 2)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kinds")


def around(level):
    """Levels just above and below."""
    return [level * (1 + Fraction(1, 10**9)), level * (1 - Fraction(1, 10**9))]


@settings(max_examples=120)
@given(st.integers(0, 10**6), SHAPES, NOTIONS, st.sampled_from(["s", "x"]), st.integers(0, 32), st.integers(0, 32))
def test_unary_encodings_are_judged_alike(folder, seed, shape, name, protect, p, q):
    joint = random_joint(seed, *shape, zeros=0.3)
    protocol = UnaryProtocol(p, q, 5, joint.secret, joint.release, promise=promise(name, 1, protect))
    saved, exact = Saved(folder, protocol, joint), tr.certify(protocol, joint).level_exact
    data = standalone.read_protocol(str(saved.protocol))
    counts = standalone.read_counts(str(saved.counts), data["secret"] + data["release"])
    c = len(data["secret"])
    cells = [standalone.Cell(v[:c] if protect == "s" else v[c:], v[c:], [], n) for v, n in counts.items()]
    assert standalone.worst_ratio(name, cells, data["odds"]) == exact
    level = Fraction(3) if exact is None else Fraction(log_up(exact))
    for epsilon in around(level):
        protocol = UnaryProtocol(p, q, 5, joint.secret, joint.release, promise=promise(name, epsilon, protect))
        answers = Saved(folder, protocol, joint).both()
        assert answers[0] == answers[1]
        assert answers[0] == (HOLDS if exact is not None and epsilon >= level else BROKEN)


@pytest.mark.parametrize("name", ["lip", "ldp"])
def test_a_calibrated_one_holds_and_hardly_less_does_not(tmp_path, name):
    joint = random_joint(3, 3, 200)
    notion = {"lip": tr.LIP, "ldp": tr.LDP}[name]
    saved = Saved(tmp_path, tr.oue(joint, notion("1/2")).protocol, joint)
    found = run(saved)
    assert (found.returncode, found.stderr) == (HOLDS, "")
    assert "The level is about 0.5. " in found.stdout
    assert saved.script("--notion", name, "--epsilon", "0.499999999") == BROKEN


UNARY = {
    "p above one": put("33", "p"),
    "p negative": put("-1", "p"),
    "p a number": put(16, "p"),
    "q missing": put(DROP, "q"),
    "q nothing": put("", "q"),
    "places 0": put(0, "places"),
    "places true": put(True, "places"),
    "places text": put("5", "places"),
    "places vast": put(10**9, "places"),
    "reads sx": put("sx", "reads"),
    "kind": put("dense", "kind"),
}


@pytest.mark.parametrize("edit", UNARY.values(), ids=UNARY)
@pytest.mark.parametrize("rehash", [True, False])
def test_forged_unary_encodings(tmp_path, edit, rehash):
    joint = random_joint(1, 2, 3)
    saved = Saved(tmp_path, UnaryProtocol(16, 8, 5, joint.secret, joint.release, promise=promise("lip", 2)), joint)
    assert saved.both() == (HOLDS, HOLDS)
    content = saved.content
    edit(content)
    saved.write(content, rehash)
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY)
