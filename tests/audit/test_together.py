"""What several releases tell together: equal to brute force over every output of every release, in Fractions."""

from dataclasses import replace
from fractions import Fraction
from itertools import product as every
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_counts, random_joint, random_matrix
from tests.oracles import levels

import trechter as tr
from trechter.audit import certify_together, level_together, together
from trechter.errors import ProtocolError
from trechter.model.dense import DenseProtocol, nearest
from trechter.model.operations import compose, product
from trechter.model.sparse import SparseProtocol
from trechter.model.sparse_weights import SparseWeights
from trechter.model.spec import NAMES, Spec
from trechter.model.unary import UnaryProtocol

SHAPE = (2, 2, 3)
READ = (("A", "B"), ("A",), ("B",), ("B", "A"))


def table(seed, shape=SHAPE):
    return tr.Joint(
        random_counts(seed, *shape, zeros=0.3),
        secret=("S", range(shape[0])),
        release={name: range(size) for name, size in zip("ABC", shape[1:], strict=False)},
    )


def reading(seed, joint, names, reads="x", outputs=3, zeros=False, bits=8):
    """A random protocol of some columns of a table, in their own order; `zeros` takes entries away."""
    named = {a.name: a for a in joint.release}
    secret, release = joint.secret, tuple(named[name] for name in names)
    n = int(np.prod([len(a) for a in (secret + release if reads == "sx" else release)]))
    matrix = random_matrix(seed, outputs, n)
    if zeros:
        matrix[0, np.random.default_rng(seed).random(n) < 0.4] = 0
        matrix /= matrix.sum(axis=0)
    return DenseProtocol(nearest(matrix, bits), bits, tuple(range(outputs)), secret, release, reads)


def brute(protocols, joint):
    """The weights of every combination of outputs for every (s, x), by looking each of them up."""
    c, *sizes = joint.shape
    rows = []
    for outputs in every(*(range(len(p.outputs)) for p in protocols)):
        row = []
        for cell in every(range(c), *map(range, sizes)):
            at = dict(zip(("S", "A", "B", "C"), cell, strict=False))
            weight = 1
            for p, y in zip(protocols, outputs, strict=True):
                key = tuple(at[a.name] for a in p.input_attributes)
                weight *= int(p.integers[y, p.inputs.index(key if len(key) > 1 else key[0])])
            row.append(weight)
        rows.append(row)
    return rows


def reference(protocols, joint, spec):
    """An (s, x)-reading protocol for LIP and LDP; side channels know all of x only if the secret is read."""
    reads_s = any(p.reads == "sx" for p in protocols)
    weights = brute(protocols, joint)
    if not reads_s:
        weights = [row[: len(row) // joint.shape[0]] for row in weights]
    return levels.worst_ratio(spec.name, weights, joint.counts, "sx" if reads_s else "x", spec.protect)


@given(
    st.integers(0, 10**6),
    st.lists(st.tuples(st.sampled_from(READ), st.sampled_from(["x", "x", "sx"]), st.booleans()), min_size=2, max_size=3),
    st.sampled_from(NAMES),
    st.sampled_from(["s", "s", "x"]),
)
@settings(max_examples=150)
def test_the_level_of_several_releases_is_that_of_every_output_together(seed, parts, name, protect):
    joint, spec = table(seed), Spec(name, None, protect)
    protocols = [reading(seed + k, joint, *part[:2], outputs=2 + k % 2, zeros=part[2]) for k, part in enumerate(parts)]
    found, expected = level_together(protocols, joint, spec), reference(protocols, joint, spec)
    assert found == (expected, True)
    both = tr.compose(*protocols, joint=joint)
    assert tr.certify(both, joint, spec).level_exact == expected
    assert both.parents == tuple(p.digest for p in protocols)
    assert level_together(protocols[::-1], joint, spec) == found, "the order of releases is of no consequence"
    alone = [level_together([p], joint, spec).worst for p in protocols]
    assert expected is None or all(level is not None and level <= expected for level in alone), "no level is lost"
    assert None not in alone or expected is None


@given(st.integers(0, 10**6), st.sampled_from(NAMES), st.booleans())
@settings(max_examples=60)
def test_the_bound_holds_whatever_is_left_out(seed, name, reads_s):
    """With no room to multiply, every release counts with its level about x; it is finite, above the truth, and not above
    the sum of these levels."""
    joint, spec = table(seed), Spec(name, None)
    protocols = [mixed(reading(seed + k, joint, ("A", "B"), "sx" if reads_s and k else "x")) for k in range(3)]
    exact = level_together(protocols, joint, spec)
    bounds = []
    for room in (0, 40 * (together.ROW + joint.exact.size)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(together, "MOST_WORK", room)
            bounds.append(level_together(protocols, joint, spec))
    nothing, some = bounds
    spreads = [max(Fraction(int(row.max()), int(row.min())) for row in p.integers) for p in protocols]
    assert exact.exact
    assert not nothing.exact
    assert exact.worst <= some.worst <= nothing.worst <= prod(spreads)


def mixed(protocol):
    """The same protocol half of the time, and any output in the other half: nothing is ruled out."""
    weights = protocol.integers * len(protocol.outputs) + (1 << protocol.bits)
    weights[0] += (1 << protocol.bits + 3) - weights.sum(axis=0)
    return replace(protocol, integers=weights, bits=protocol.bits + 3)


def test_the_bound_of_a_release_that_rules_values_out_is_infinite(monkeypatch):
    joint = table(3)
    certain = DenseProtocol(nearest(np.eye(6), 4), 4, tuple(range(6)), joint.secret, joint.release)
    monkeypatch.setattr(together, "MOST_WORK", 0)
    found = certify_together([certain, certain], joint, tr.LIP(5))
    assert (found.level_exact, found.holds, found.facts["bound"]) == (None, False, True)


@given(st.integers(0, 10**6), st.sampled_from(NAMES))
@settings(max_examples=60)
def test_sparse_releases_are_judged_like_their_matrix(seed, name):
    """Exactly while there is room for it, and within the bound of their matrix where there is none."""
    joint = table(seed)
    draw = np.random.default_rng(seed)
    letters = np.flatnonzero(draw.random(6) < 0.7)
    weights = SparseWeights(np.full(4, 4), draw.integers(0, 4, len(letters)), letters, np.full(len(letters), 16), 6, 5)
    sparse = SparseProtocol(weights, (0, 1, 2, 3), joint.secret, joint.release)
    matrix = DenseProtocol(sparse.integers, 5, (0, 1, 2, 3), joint.secret, joint.release)
    other, spec = reading(seed, joint, ("B",)), Spec(name, None)
    assert level_together([sparse, other], joint, spec) == level_together([matrix, other], joint, spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(together, "MOST_KEPT", 20)
        patch.setattr(together, "MOST_WORK", 0)
        bound = level_together([sparse, other], joint, spec)
        patch.setattr(together, "MOST_KEPT", 10**6)
        assert bound == level_together([matrix, other], joint, spec)
    assert tr.compose(sparse, other).matrix == pytest.approx(tr.compose(matrix, other).matrix)


@given(st.integers(0, 10**6), st.sampled_from(NAMES))
@settings(max_examples=30)
def test_unary_encodings_are_written_out_if_that_is_small_and_bounded_if_not(seed, name):
    """Two bits say which of two values it is: what one adds is at most p(1 − q) / q(1 − p)."""
    joint, spec = table(seed, (2, 2, 3)), Spec(name, None)
    draw = np.random.default_rng(seed)
    q, p = sorted(map(int, draw.integers(1, 16, 2)))
    bits = UnaryProtocol(p, q, 4, joint.secret, joint.release[1:])
    other = reading(seed, joint, ("A", "B"))
    both = tr.compose(bits, other, joint=joint)
    assert both.parents == (bits.digest, other.digest)
    exact = tr.certify(both, joint, spec).level_exact
    assert level_together([bits, other], joint, spec) == (exact, True)
    alone = level_together([bits], joint, spec)
    assert alone == level_together([bits.explicit()], joint, spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trechter.model.unary.MOST_VALUES", 2)
        assert level_together([bits], joint, spec) == alone or name.startswith("sr")
        bound, base = level_together([bits, other], joint, spec), level_together([other], joint, spec).worst
        with pytest.raises(ProtocolError, match="not listed"):
            tr.compose(bits, other)
    assert not bound.exact
    if exact is not None:
        assert exact <= bound.worst == base * Fraction(p * (16 - q), q * (16 - p))


def test_outputs_that_say_the_same_are_judged_once():
    """Ten draws from one protocol have 4^10 outputs, but few directions; the level is that of the largest one, ten times."""
    joint = random_joint(5, 2, 3)
    protocol = DenseProtocol.from_matrix(random_matrix(5, 4, 3), joint)
    found = level_together([protocol] * 10, joint, Spec("ldp", None))
    assert found.exact
    alike = [np.prod([protocol.weights[y] for y in ys], axis=0) for ys in ([0] * 10, [1] * 10, [2] * 10, [3] * 10)]
    assert found.worst >= levels.worst_ratio("ldp", alike, joint.counts)
    small = level_together([protocol] * 3, joint, Spec("ldp", None))
    assert small.worst == tr.certify(tr.compose(*[protocol] * 3), joint, tr.LDP("inf")).level_exact


def test_disjoint_columns_are_a_product():
    joint = table(8)
    one, two = reading(1, joint, ("A",)), reading(2, joint, ("B",))
    assert tr.compose(one, two).integers.tolist() == product([one, two]).integers.tolist()
    assert [a.name for a in tr.compose(two, one).release] == ["B", "A"]
    assert [a.name for a in tr.compose(two, one, joint=joint).release] == ["A", "B"]


def test_one_protocol_read_from_a_larger_table():
    joint = table(9, (2, 2, 3, 2))
    one = reading(1, joint, ("C", "A"))
    alone = compose(one, joint=joint)
    assert [a.name for a in alone.release] == ["A", "B", "C"]
    a, _, c = np.unravel_index(np.arange(12), (2, 3, 2))
    assert alone.integers.tolist() == one.integers[:, c * 2 + a].tolist()
    smaller = tr.Joint(joint.counts.sum(axis=2).transpose(0, 2, 1), release=one.release, secret=joint.secret)
    for name in ("lip", "ldp"):
        assert tr.certify(alone, joint, Spec(name, None)).level_exact == tr.certify(one, smaller, Spec(name, None)).level_exact


def test_a_release_of_the_secret_itself_is_seen():
    """A table whose release was made to protect another column: here it gives the secret away, a little."""
    joint = table(10)
    other = tr.Joint(np.full((2, 2), 3), secret=("B", [0, 1]), release={"S": [0, 1]})
    about_s = DenseProtocol.from_matrix([[0.75, 0.25], [0.25, 0.75]], other)
    level = level_together([about_s, reading(3, joint, ("A",))], joint, Spec("ldp", None))
    assert level.worst >= 3
    assert level == (reference_reading_s([about_s, reading(3, joint, ("A",))], joint), True)


def reference_reading_s(protocols, joint):
    return levels.worst_ratio("ldp", brute(protocols, joint), joint.counts, "sx")


def test_what_cannot_be_put_together_is_named(monkeypatch):
    joint, one = table(11), reading(1, table(11), ("A",))
    other = DenseProtocol.from_matrix(np.eye(2), tr.Joint(np.ones((2, 2), int), release={"A": ["0", "1"]}))
    with pytest.raises(ProtocolError, match="'A' are not the same everywhere, '0', '1' here"):
        tr.compose(one, other)
    with pytest.raises(ProtocolError, match="reads 'A', but the columns here are Z"):
        tr.compose(one, joint=tr.Joint(np.ones((2, 2), int), release={"Z": [0, 1]}))
    monkeypatch.setattr("trechter.model.operations.MOST_ENTRIES", 20)
    with pytest.raises(ProtocolError, match="9 outputs × 6 inputs, too many for a matrix"):
        tr.compose(reading(1, joint, ("A", "B")), reading(2, joint, ("A", "B")))


def test_the_certificate_of_a_composition_names_its_parents(tmp_path):
    joint = table(12)
    one, two = reading(1, joint, ("A", "B")), reading(2, joint, ("A", "B"))
    both = tr.compose(tr.compose(one, two), one)
    assert both.released == ("Y_1", "Y_2", "Y")
    both.save(tmp_path / "p.json")
    loaded = tr.Protocol.load(tmp_path / "p.json")
    assert loaded == both
    found = tr.certify(loaded, joint, tr.LIP("inf"))
    assert found.facts["composed"] == [one.digest, two.digest, one.digest]
    assert certify_together([one, two, one], joint, tr.LIP("inf")).facts["composed"] == found.facts["composed"]
    assert "composed" not in tr.certify(one, joint, tr.LIP("inf")).facts


def test_released_columns_have_names_of_their_own():
    joint = table(13)
    one = reading(1, joint, ("A", "B"))
    named = DenseProtocol(one.integers, one.bits, one.outputs, one.secret, one.release, "x", ("Y_1",))
    assert tr.compose(one, one, named).released == ("Y_2", "Y_3", "Y_1")
    assert tr.compose(one, one, one).released == ("Y_1", "Y_2", "Y_3")
