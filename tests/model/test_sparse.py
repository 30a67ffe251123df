"""Protocols of sparse weights: the same as their matrix to the sampler, the judges, the verifiers and the file."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.audit.saved import BROKEN, CANNOT_SAY, HOLDS, Saved, promise
from tests.conftest import random_joint
from tests.model.test_kernel import Scripted
from tests.oracles.levels import worst_ratio

import trechter as tr
from trechter.audit.certify import judge_entries, judge_weights
from trechter.errors import ProtocolError
from trechter.model.dense import DenseProtocol
from trechter.model.randomness import SeededRandom
from trechter.model.sparse import SparseProtocol
from trechter.model.sparse_weights import SparseKernel, SparseWeights
from trechter.model.spec import Spec
from trechter.privacy import NOTIONS

SEEDS = st.integers(0, 10**9)


def random_weights(seed, inputs, bits):
    """A few entries for most letters and none for some; now and then no background at all."""
    draw = np.random.default_rng(seed)
    whole, outputs, bare = 1 << bits, int(draw.integers(1, 7)), draw.random() < 0.2
    shared = 0 if bare else 1 << int(draw.integers(0, bits + 1))
    entries = []
    for i in range(inputs):
        if shared < whole and (bare or draw.random() < 0.8):
            parts = pieces(draw, whole - shared, int(draw.integers(1, outputs + 1)))
            parts = parts[parts > 0]
            named = np.sort(draw.choice(outputs, len(parts), replace=False))
            entries += [(y, i, w) for y, w in zip(named, parts, strict=True)]
    y, i, w = np.array(entries, np.int64).reshape(-1, 3).T
    return SparseWeights(pieces(draw, shared, outputs), y, i, w, inputs, bits)


def pieces(draw, whole, number):
    """So many integers that add up to the whole."""
    cuts = np.sort(draw.integers(0, whole + 1, number - 1))
    return np.diff(np.array([0, *cuts.tolist(), whole], np.int64))


def literal(weights):
    """The matrix by the definition in the module's first lines."""
    whole, shared = 1 << weights.bits, sum(map(int, weights.background))
    rows = [[0] * weights.inputs for _ in weights.background]
    for i in range(weights.inputs):
        own = {int(y): int(w) for y, j, w in zip(weights.output, weights.letter, weights.weight, strict=True) if j == i}
        for y, common in enumerate(map(int, weights.background)):
            rows[y][i] = common + own.get(y, 0) if own else common * whole // shared
    return np.array(rows, object)


@given(SEEDS, st.integers(1, 6), st.sampled_from([3, 5, 20, 62]))
def test_the_matrix_is_what_the_weights_say(seed, inputs, bits):
    weights = random_weights(seed, inputs, bits)
    expected = literal(weights)
    assert set(expected.sum(axis=0)) == {1 << bits}
    assert np.array_equal(weights.dense(), expected)
    table = np.random.default_rng(seed).random((3, inputs))
    assert weights.products(table) == pytest.approx(table @ (expected / (1 << bits)).astype(float).T, rel=1e-12, abs=1e-15)


@settings(max_examples=60)
@given(SEEDS, st.integers(1, 5), st.integers(3, 12))
def test_all_strings_of_bits_give_exactly_the_weights(seed, inputs, bits):
    weights = random_weights(seed, inputs, bits)
    every = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
    junk = np.random.default_rng(seed).integers(0, 1 << (64 - bits), len(every), np.uint64)
    for i, column in enumerate(literal(weights).T):
        random = Scripted(sparse=(every | junk).tobytes())
        drawn = SparseKernel(weights)(np.full(len(every), i), random)
        assert np.array_equal(np.bincount(drawn, minlength=len(column)), column)
        assert not random.left["sparse"].size


@settings(max_examples=60)
@given(SEEDS, st.integers(1, 5))
def test_the_thresholds_of_62_bits_are_where_they_should_be(seed, inputs):
    """Own entries are laid end to end, then the background: the output changes between U = C − 1 and U = C."""
    weights = random_weights(seed, inputs, 62)
    for i, column in enumerate(literal(weights).T):
        own = weights.letter == i
        pieces = [*zip(weights.output[own], weights.weight[own], strict=True)]
        pieces += [(y, (w if own.any() else column[y])) for y, w in enumerate(weights.background)]
        ends = np.cumsum([0, *(int(w) for _, w in pieces)], dtype=object)
        asked = [
            (int(u), int(y)) for (y, w), low, high in zip(pieces, ends, ends[1:], strict=False) if w for u in (low, high - 1)
        ]
        words = np.array([u << 2 for u, _ in asked], np.uint64)
        drawn = SparseKernel(weights)(np.full(len(asked), i), Scripted(sparse=words.tobytes()))
        assert drawn.tolist() == [y for _, y in asked]


def test_a_million_rows_have_the_distribution_and_not_one_nearby():
    """The chi-square test accepts the weights, and rejects a column that is off by 1 % of total variation."""
    n, background, own = 1_000_000, [2**58, 2**59, 2**58, 0], [2**61 + 5, 2**60 - 5]
    weights = SparseWeights(background, [0, 2], [0, 0], own, 1)
    column = (literal(weights)[:, 0] / (1 << 62)).astype(float)
    drawn = SparseKernel(weights)(np.zeros(n, np.intp), SeededRandom(1))
    counts, kept = np.bincount(drawn, minlength=len(column)), column > 0
    assert not counts[~kept].any()
    assert stats.chisquare(counts[kept], n * column[kept]).pvalue > 1e-4
    other, (first, second) = column.copy(), np.argsort(-column)[:2]
    other[first] -= 0.01
    other[second] += 0.01
    assert stats.chisquare(counts[kept], n * other[kept]).pvalue < 1e-12


@settings(max_examples=60)
@given(
    SEEDS,
    st.sampled_from([(2, 3), (3, 4), (2, 2, 2), (3, 2, 2)]),
    st.sampled_from([3, 20, 62]),
    st.sampled_from(sorted(NOTIONS)),
    st.sampled_from(["x", "sx"]),
    st.sampled_from(["s", "x"]),
)
def test_the_judge_is_that_of_the_matrix_and_of_the_definition(seed, shape, bits, name, reads, protect):
    joint = random_joint(seed, *shape, zeros=0.3)
    weights = random_weights(seed, joint.p.size if reads == "sx" else len(joint.p_x), bits)
    spec = Spec(name, None, protect)
    found = judge_entries(weights, reads, joint, spec)
    assert found == judge_weights(weights.dense(), reads, joint, spec)
    assert found == worst_ratio(name, literal(weights), joint.counts, reads, protect)


def protocol_of(weights, joint, spec=None, reads="x"):
    outputs = tuple(f"y{y}" for y in range(weights.outputs))
    return SparseProtocol(weights, outputs, joint.secret, joint.release, reads, promise=spec)


@settings(max_examples=40)
@given(SEEDS, st.sampled_from([(2, 3), (3, 4), (2, 2, 2)]), st.sampled_from(sorted(NOTIONS)), st.sampled_from(["x", "sx"]))
def test_saved_it_is_the_same_to_both_verifiers(tmp_path_factory, seed, shape, name, reads):
    joint = random_joint(seed, *shape, zeros=0.3)
    weights = random_weights(seed, joint.p.size if reads == "sx" else len(joint.p_x), 62)
    saved = Saved(tmp_path_factory.mktemp("saved"), protocol_of(weights, joint, promise(name, 1), reads), joint)
    loaded = tr.Protocol.load(saved.protocol)
    assert np.array_equal(loaded.weights, literal(weights))
    assert loaded.digest == protocol_of(weights, joint, promise(name, 1), reads).digest
    dense = DenseProtocol(literal(weights), 62, loaded.outputs, joint.secret, joint.release, reads, promise=promise(name, 1))
    answer = HOLDS if tr.certify(dense, joint).holds else BROKEN
    assert saved.both() == (answer, answer)


@pytest.fixture(scope="module")
def large():
    """So many values that a design gives sparse weights; a hundred of them never occur."""
    counts = np.random.default_rng(4).integers(1, 40, (2, 1600))
    counts[:, 700:800] = 0
    return tr.Joint(counts)


@pytest.mark.parametrize(
    "notion", [tr.LIP("0.5"), *(pytest.param(n, marks=pytest.mark.slow) for n in (tr.LDP(1), tr.LIP("inf")))]
)
def test_a_large_design_is_optimal_and_every_verifier_says_so(large, notion, tmp_path):
    result = tr.design(large, notion)
    assert (result.protocol.kind, result.status) == ("sparse", "optimal")
    assert result.gap < 1e-6
    assert notion.level(result.protocol, large) <= float(notion.epsilon or 99) + 1e-9
    saved = Saved(tmp_path, result.protocol, large)
    assert saved.both() == (HOLDS, HOLDS)
    if notion.epsilon is not None:
        tighter = str(notion.epsilon * 99 / 100)
        assert saved.script("--notion", notion.name, "--epsilon", tighter) == BROKEN


@pytest.fixture
def saved(tmp_path):
    """Three outputs; one letter of four draws from the background alone."""
    weights = SparseWeights([4, 8, 4], [0, 1, 1, 2], [0, 0, 1, 3], [40, 8, 48, 48], 4, 6)
    joint = tr.Joint([[30, 10, 5, 8], [5, 20, 25, 2]], secret=("ill", ["no", "yes"]), release={"age": ["a", "b", "c", "d"]})
    return Saved(tmp_path, protocol_of(weights, joint, promise("lip", 1)), joint)


def put(value, *path):
    def edit(content):
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = value

    return edit


MALFORMED = {
    "off by one": put("47", "weights", 1, 0, 1),
    "background off by one": put("5", "background", 0),
    "background alone no power of two": put(["3", "8", "4"], "background"),
    "no background": put(["0", "0", "0"], "background"),
    "background negative": put("-4", "background", 0),
    "background a number": put(4, "background", 0),
    "background missing": put(None, "background"),
    "background longer": put(["4", "4", "4", "4"], "background"),
    "output unknown": put(3, "weights", 1, 0, 0),
    "output negative": put(-2, "weights", 1, 0, 0),
    "output as text": put("1", "weights", 1, 0, 0),
    "output true": put(True, "weights", 1, 0, 0),
    "repeated": put([[1, "24"], [1, "24"]], "weights", 1),
    "out of order": put([[1, "8"], [0, "40"]], "weights", 0),
    "weight of nothing": put([[1, "48"], [2, "0"]], "weights", 1),
    "weight negative": put([[1, "49"], [2, "-1"]], "weights", 1),
    "weight a number": put(48, "weights", 1, 0, 1),
    "entry too short": put([[1]], "weights", 1),
    "entry too long": put([[1, "48", "0"]], "weights", 1),
    "number for a column": put(7, "weights", 1),
    "a column less": put([[], [], []], "weights"),
    "bits 5": put(5, "bits"),
    "bits 0": put(0, "bits"),
    "bits negative": put(-6, "bits"),
    "bits vast": put(10**15, "bits"),
    "bits as text": put("6", "bits"),
    "dense": put("dense", "kind"),
}


def test_the_file_below_holds(saved):
    assert saved.both() == (HOLDS, HOLDS)
    content = saved.content
    content["promise"]["epsilon"] = "0.1"
    saved.write(content)
    assert saved.both() == (BROKEN, BROKEN)


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_no_protocol(saved, name):
    content = saved.content
    MALFORMED[name](content)
    saved.write(content)
    assert saved.both() == (CANNOT_SAY, CANNOT_SAY), json.dumps(content)


def test_weights_that_are_certified_do_not_change(saved):
    weights = tr.Protocol.load(saved.protocol).sparse
    for array in (weights.background, weights.output, weights.letter, weights.weight):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_codes_out_of_range(saved):
    kernel = tr.Protocol.load(saved.protocol).kernel()
    for codes in ([4], [-1], [0, 7]):
        with pytest.raises(ProtocolError, match="4 inputs"):
            kernel(np.array(codes), SeededRandom(1))
