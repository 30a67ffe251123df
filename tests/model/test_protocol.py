"""Protocols: exact weights, files that are checked, and operations that keep them exact."""

import datetime as dt
import hashlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import random_joint, random_matrix

import trechter as tr
from trechter.model.dense import DenseProtocol, nearest
from trechter.model.operations import product
from trechter.model.outputs import Mixture, ValueSet, output_from_json, output_to_json
from trechter.privacy import NOTIONS


@given(
    st.integers(0, 10**6),
    st.sampled_from([(2, 3), (3, 2, 2)]),
    st.sampled_from(["x", "sx"]),
    st.sampled_from([1, 30, 48, 62, 100]),
)
def test_saved_and_loaded_is_the_same(tmp_path_factory, seed, shape, reads, bits):
    joint = random_joint(seed, *shape)
    n = joint.exact.shape[1] * (joint.exact.shape[0] if reads == "sx" else 1)
    protocol = DenseProtocol.from_matrix(random_matrix(seed, 4, n), joint, reads, bits)
    path = tmp_path_factory.mktemp("protocol") / "protocol.json"
    protocol.save(path)
    loaded = tr.Protocol.load(path)
    assert np.array_equal(loaded.weights, protocol.weights)
    assert all(type(w) is int for w in loaded.weights.ravel())
    assert (loaded.outputs, loaded.inputs, loaded.digest) == (protocol.outputs, protocol.inputs, protocol.digest)
    assert list(loaded.weights.sum(axis=0)) == [2**bits] * n


def test_promise_and_outputs_survive_the_file(tmp_path):
    days = [dt.date(2024, 1, 1), dt.date(2024, 2, 1), None]
    joint = tr.Joint(random_joint(5, 3, 3, 2).counts, release={"day": days, "big": [False, True]})
    result = tr.design(joint, tr.SRLIP("1/3"))
    result.protocol.save(tmp_path / "p.json")
    loaded = tr.Protocol.load(tmp_path / "p.json")
    assert loaded.promise == tr.SRLIP("1/3").spec
    assert loaded.outputs == result.protocol.outputs
    assert tr.certify(loaded, joint).holds


def test_bits_of_one_float_matrix():
    joint = tr.Joint([[1, 2], [3, 4]])
    for bits in (1, 48, 62, 63, 64, 200):
        protocol = DenseProtocol.from_matrix([[0.5, 0.25], [0.5, 0.75]], joint, bits=bits)
        assert protocol.weights.sum(axis=0).tolist() == [2**bits] * 2
        if bits > 1:
            assert protocol.matrix.tolist() == [[0.5, 0.25], [0.5, 0.75]]


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], "sums to 0.9"),
        ([[1.5, 0.5], [-0.5, 0.5]], "finite entries ≥ 0"),
        ([[float("nan"), 1], [0, 0]], "finite"),
        ([[1.0, 1.0, 1.0]], "3 columns for 2 inputs"),
        ([0.5, 0.5], "two axes"),
    ],
)
def test_matrices_that_are_no_protocol(matrix, said):
    with pytest.raises(tr.TrechterError, match=said):
        DenseProtocol.from_matrix(matrix, tr.Joint([[1, 2], [3, 4]]))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update(version=2), "version 2"),
        (lambda d: d.update(format="other"), "format"),
        (lambda d: d.update(kind="magic"), "kind"),
        (lambda d: d["weights"][0].__setitem__(0, "7"), "hash"),
        (lambda d: d["promise"].update(epsilon="9"), "hash"),
        (lambda d: d.pop("hash"), "hash"),
        (lambda d: d.update(extra=1), "hash"),
    ],
)
def test_files_changed_by_hand_are_refused(tmp_path, change, said):
    path = tmp_path / "p.json"
    tr.design(random_joint(1, 2, 3), tr.LIP("0.2")).protocol.save(path)
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(tr.TrechterError, match=said):
        tr.Protocol.load(path)


def _rename(data):
    data["release"][0]["name"] = "S"


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("secret"),
        lambda d: d.pop("outputs"),
        lambda d: d.update(outputs=7),
        lambda d: d.update(outputs=[{"mixture": [[]], "label": "x"}]),
        lambda d: d.update(bits="many"),
        lambda d: d.update(bits=10**6),
        lambda d: d.update(bits=None),
        lambda d: d.update(weights=None),
        lambda d: d.update(weights=[["1", "x"]] * 3),
        lambda d: d.update(weights=[[]] * 3),
        lambda d: d.update(weights=d["weights"][:2]),
        lambda d: d["weights"][0].__setitem__(0, "-7"),
        lambda d: d.update(reads="y"),
        lambda d: d.update(release=[]),
        lambda d: d.update(released=[]),
        lambda d: d.update(released=None),
        lambda d: d.update(release="X"),
        lambda d: d["release"][0].update(values=[]),
        lambda d: d["release"][0].update(values=[{"bin": "x"}] * 3),
        lambda d: d["release"][0].update(values=[{"date": "x"}, 1, 2]),
        lambda d: d["release"][0].update(type="magic"),
        lambda d: d.update(promise={"notion": "lip", "epsilon": "much"}),
        lambda d: d.update(promise=7),
        _rename,
    ],
)
def test_malformed_files_whose_hash_is_right(tmp_path, change):
    """Whoever edits a file can also compute its hash anew."""
    path = tmp_path / "p.json"
    tr.design(random_joint(1, 2, 3), tr.LIP("0.2")).protocol.save(path)
    data = json.loads(path.read_text())
    change(data)
    data.pop("hash")
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    path.write_text(json.dumps(data | {"hash": hashlib.sha256(text.encode()).hexdigest()}))
    with pytest.raises(tr.TrechterError) as found:
        tr.Protocol.load(path)
    assert str(found.value)


@pytest.mark.parametrize(
    ("secret", "release", "released"),
    [
        (["S"], [], ["Y"]),
        (["S"], ["X"], []),
        (["S"], ["S"], ["Y"]),
        (["S", "S"], ["X"], ["Y"]),
        (["S"], ["X", "X"], ["Y"]),
    ],
)
def test_columns_have_names_that_differ(secret, release, released):
    hidden, shown = (tuple(tr.Attribute.of(name, [0, 1]) for name in role) for role in (secret, release))
    n = 2 ** len(release)
    with pytest.raises(tr.TrechterError, match="names that differ"):
        DenseProtocol(nearest(np.ones((1, n)), 4), 4, ("a",), hidden, shown, released=tuple(released))


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "{}", "null"])
def test_files_that_are_no_protocol(tmp_path, text):
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(tr.TrechterError, match=str(path)):
        tr.Protocol.load(path)
    with pytest.raises(tr.TrechterError, match="cannot read"):
        tr.Protocol.load(tmp_path / "absent.json")


def test_saving_leaves_nothing_half_written(tmp_path):
    protocol = tr.design(random_joint(1, 2, 3), tr.LIP("0.2")).protocol
    with pytest.raises(tr.TrechterError, match="cannot write"):
        protocol.save(tmp_path / "absent" / "p.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(tr.TrechterError, match="cannot write"):
        protocol.save(tmp_path / "folder")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


@given(st.integers(0, 10**6), st.sampled_from(sorted(NOTIONS)))
def test_composition_is_both_releases_at_once(seed, name):
    """Its level and its utility are at least each one's."""
    joint = random_joint(seed, 2, 2, 2)
    first, second = (DenseProtocol.from_matrix(random_matrix(seed + k, 3, 4), joint) for k in (1, 2))
    both = tr.compose(first, second)
    expected = np.einsum("yx,zx->yzx", first.matrix, second.matrix).reshape(9, 4)
    assert both.matrix == pytest.approx(expected, abs=1e-12)
    assert both.released == ("Y_1", "Y_2")
    levels = [NOTIONS[name]("inf").level(p, joint) for p in (both, first, second)]
    assert levels[0] >= max(levels[1:]) - 1e-9
    assert tr.mutual_information(joint, both) >= max(tr.mutual_information(joint, p) for p in (first, second)) - 1e-12


def test_levels_do_not_add_up():
    """Two releases can leak more about S than the sum of their levels: given S they still share X."""
    joint = random_joint(560090, 2, 2, 2)
    first, second = (DenseProtocol.from_matrix(random_matrix(560090 + k, 3, 4), joint) for k in (1, 2))
    levels = [tr.certify(p, joint, tr.LDP("inf")).level for p in (tr.compose(first, second), first, second)]
    assert levels[0] > 2.5 * sum(levels[1:])
    with_x = [tr.certify(p, joint, tr.LDP("inf", protect="x")).level for p in (tr.compose(first, second), first, second)]
    assert with_x[0] <= sum(with_x[1:]) + 1e-9


def test_marginal_undoes_composition_and_product():
    joint = random_joint(4, 2, 3, 2)
    first, second = (DenseProtocol.from_matrix(random_matrix(k, 4, 6), joint) for k in (1, 2))
    assert np.array_equal(tr.marginal(tr.compose(first, second), "Y_2").matrix, second.matrix)
    one = DenseProtocol.from_matrix(random_matrix(1, 3, 3), tr.Joint(joint.counts.sum(axis=2), release={"A": range(3)}))
    two = DenseProtocol.from_matrix(random_matrix(2, 2, 2), tr.Joint(joint.counts.sum(axis=1), release={"B": range(2)}))
    both = product([one, two])
    assert both.matrix == pytest.approx(np.kron(one.matrix, two.matrix), abs=1e-15)
    assert both.released == ("A", "B")
    assert both.outputs[:3] == ((0, 0), (0, 1), (1, 0))
    assert tr.marginal(both, "A").matrix == pytest.approx(np.repeat(one.matrix, 2, axis=1), abs=1e-15)
    with pytest.raises(tr.TrechterError, match="A, B"):
        tr.marginal(both, "C")
    with pytest.raises(tr.TrechterError, match="different attributes"):
        product([one, one])
    assert tr.compose(one, two).integers.tolist() == both.integers.tolist()


@pytest.mark.parametrize(
    "output",
    [
        "text", 3, True, None, dt.date(2020, 2, 29), tr.Bin(0, 5), tr.Bin(0.5, 1.5, True), tr.Bin(float("-inf"), 0),
        ("a", 3), ValueSet(("a", "b")), ValueSet((("a", 1), ("b", None))),
        Mixture((("a", 1), ("b", 2)), (0.25, 0.75), "label"),
    ],
)  # fmt: skip
def test_outputs_survive_json(output):
    back = output_from_json(json.loads(json.dumps(output_to_json(output))))
    assert back == output
    assert type(back) is type(output)


def test_two_outputs_must_not_look_alike():
    with pytest.raises(tr.TrechterError, match="look the same"):
        DenseProtocol(nearest(np.eye(2), 4), 4, ("a", "a"), (), (tr.Attribute.of("X", [0, 1]),))


def test_html_is_escaped_and_badged():
    joint = tr.Joint([[9, 2, 3], [1, 5, 9]], release={"X": ["<script>", "b & c", '"d"']})
    result = tr.design(joint, tr.LIP("0.3"))
    page = result._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "certified" in page


def test_designed_protocols_compose_save_and_load(tmp_path):
    """Outputs that are mixtures stand side by side in the composition, and survive the file."""
    joint = random_joint(8, 2, 4)
    once = tr.design(joint, tr.LIP("0.3")).protocol
    twice = tr.compose(once, once)
    assert tr.certify(twice, joint, tr.LIP("inf")).level > tr.certify(once, joint, tr.LIP("inf")).level
    twice.save(tmp_path / "p.json")
    assert tr.Protocol.load(tmp_path / "p.json") == twice != once
    other = tr.Joint(joint.counts, secret=("Z", [0, 1]))
    with pytest.raises(tr.TrechterError, match="different secrets: S; Z"):
        tr.compose(once, tr.design(other, tr.LIP("0.3")).protocol)


def test_certified_weights_cannot_be_changed():
    protocol = tr.design(random_joint(8, 2, 4), tr.LIP("0.3")).protocol
    with pytest.raises(ValueError, match="read-only"):
        protocol.integers[0, 0] = 7


@pytest.mark.parametrize(
    "call",
    [
        lambda joint, result: tr.certify(joint, result.protocol),
        lambda joint, result: tr.certify(result, joint),
        lambda joint, result: tr.leakage(result.protocol, joint),
        lambda joint, result: tr.mutual_information(result.protocol, joint),
        lambda joint, result: tr.LIP(1).level(joint, result.protocol),
        lambda joint, result: tr.compose(result.protocol, result),
        lambda joint, result: tr.marginal(result, "X"),
        lambda joint, result: tr.audit_matrix(np.eye(2), joint.counts),
        lambda joint, result: tr.audit_matrix(np.eye(2), joint, "lip"),
        lambda joint, result: tr.Ledger.new(joint.counts, tr.LIP(1)),
        lambda joint, result: tr.Ledger.new(joint, tr.LIP(1)).add(joint, result.protocol),
    ],
)
def test_arguments_in_each_others_place_are_named(call):
    joint = tr.Joint([[3, 1], [1, 2]])
    with pytest.raises(tr.TrechterError, match=r"is no (Joint|Protocol|Notion); make one with tr\."):
        call(joint, tr.design(joint, tr.LIP(1)))


def test_shown_in_a_line():
    joint = tr.Joint([[40, 10, 5], [5, 10, 30]], secret=("ill", ["no", "yes"]), release={"work": ["full", "part", "none"]})
    for protocol in (tr.design(joint, tr.LIP("0.5")).protocol, tr.oue(joint, tr.LIP("0.5")).protocol):
        assert repr(protocol).startswith(f"Protocol({protocol.kind}, reads x: work towards ill, LIP(0.5), hash ")
