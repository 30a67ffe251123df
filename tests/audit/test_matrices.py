"""Matrices that others brought: read as written, the right way round, judged exactly."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_counts
from tests.oracles.levels import World, worst_ratio

import trechter as tr
from trechter.audit.brought import bring
from trechter.audit.certify import judge_weights
from trechter.audit.worst import movements, worst_case
from trechter.errors import ProtocolError
from trechter.model.spec import NAMES, Spec

SEEDS = st.integers(0, 10**9)
SHAPES = [(2, 3), (4, 2), (3, 2, 2), (1, 3)]
LABELS = ["full", "part", "none"]
JOINT = tr.Joint([[40, 10, 5], [5, 10, 30]], secret=("ill", ["no", "yes"]), release={"work": LABELS})
ROWS = [["0.7", "0.2", "0.1"], ["0.2", "0.5", "0.3"], ["0.1", "0.3", "0.6"]]  # symmetric: both ways round
TALL = [["0.7", "0.2", "0.1"], ["0.3", "0.8", "0.9"]]  # 2 outputs, columns sum to 1


def decimals(seed, b, n):
    """A matrix of decimal texts with two or three places whose columns sum to 1 exactly, zeros among them."""
    draw = np.random.default_rng(seed)
    scale = int(draw.choice([100, 1000]))
    columns = [np.diff([0, *sorted(draw.integers(0, scale + 1, b - 1)), scale]) for _ in range(n)]
    places = len(str(scale)) - 1
    return [[f"{int(v) / scale:.{places}f}" for v in row] for row in np.array(columns).T]


def exact(texts):
    return [[Fraction(v) for v in row] for row in texts]


@pytest.mark.parametrize("reads", ["x", "sx"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_levels_are_the_definition(shape, reads, seed):
    counts = random_counts(seed, *shape, zeros=0.3)
    joint = tr.Joint(counts)
    n = int(np.prod(shape[1:])) * (shape[0] if reads == "sx" else 1)
    texts = decimals(seed, 1 + seed % 4, n)
    found = tr.audit_matrix(texts, joint, transposed=False)
    assert found.matrix.reads == (reads if shape[0] > 1 else "x")
    for name in NAMES:
        expected = worst_ratio(name, exact(texts), counts, found.matrix.reads)
        assert found.worst[name].ratio == expected
        assert judge_weights(found.matrix.weights, found.matrix.reads, joint, Spec(name, None)) == expected


@settings(max_examples=40)
@given(SEEDS, st.sampled_from(NAMES))
def test_the_place_that_is_named_has_the_level(seed, name):
    counts = random_counts(seed, 3, 2, 2, zeros=0.3)
    texts = decimals(seed, 3, 4)
    brought = bring(texts, tr.Joint(counts), transposed=False)
    worst = worst_case(brought.weights, "x", tr.Joint(counts), Spec(name, None))
    if worst.output is None:
        assert worst.ratio == 1
        return
    world, known = World(exact(texts), counts, "x", "s"), dict(worst.known)
    high = world.probability(worst.output, worst.who[0], known)
    low = world.probability(worst.output, worst.who[1] if name.endswith("ldp") else None, known)
    if not name.endswith("ldp") and high < low:
        high, low = low, high
    assert worst.ratio == (high / low if low else None)


@settings(max_examples=25)
@given(SEEDS)
def test_movements_are_bayes(seed):
    counts = random_counts(seed, 3, 4)
    counts[1] *= seed % 3 > 0
    texts = decimals(seed, 3, 4)
    Q, N = np.array(exact(texts), object), counts.astype(object)
    for s, found in enumerate(movements(bring(texts, tr.Joint(counts), False).weights, "x", tr.Joint(counts))):
        if not counts[s].any():
            assert found is None
            continue
        joint = [(Q[y] @ N[s], Q[y] @ N.sum(axis=0)) for y in range(3)]
        after = {y: Fraction(part, whole) for y, (part, whole) in enumerate(joint) if whole}
        assert found.prior == Fraction(int(counts[s].sum()), int(counts.sum()))
        assert (found.least, found.most) == (min(after.values()), max(after.values()))
        assert (after[found.least_at], after[found.most_at]) == (found.least, found.most)


def saved(path, rows, header=None, names=None, corner="", mark=","):
    """A matrix as text."""
    lines = [] if header is None else [([] if names is None or corner is None else [corner]) + list(header)]
    lines += [([] if names is None else [names[i]]) + list(row) for i, row in enumerate(rows)]
    path.write_text("\n".join(mark.join(line) for line in lines) + "\n")
    return path


@pytest.mark.parametrize("form", ["plain", "labels", "quoted", "table", "tab", "header", "names", "npy", "array", "frame"])
def test_every_form_is_the_same_matrix(tmp_path, form):
    """Exact but for .npy and floats; quotes as R writes them, and R's table with a short header."""
    outs, quote = ["a", "b"], [f'"{label}"' for label in LABELS]
    source = {
        "plain": lambda: saved(tmp_path / "m.csv", TALL),
        "labels": lambda: saved(tmp_path / "m.csv", TALL, LABELS, outs),
        "quoted": lambda: saved(tmp_path / "m.csv", TALL, quote, ['"a"', '"b"'], '""'),
        "table": lambda: saved(tmp_path / "m.txt", TALL, LABELS, outs, None, " "),
        "tab": lambda: saved(tmp_path / "m.tsv", TALL, LABELS, outs, "output", "\t"),
        "header": lambda: saved(tmp_path / "m.csv", TALL, LABELS),
        "names": lambda: saved(tmp_path / "m.csv", TALL, None, outs),
        "npy": lambda: np.save(tmp_path / "m.npy", np.array(TALL, float)) or tmp_path / "m.npy",
        "array": lambda: np.array(TALL, float),
        "frame": lambda: pd.DataFrame(np.array(TALL, float), index=outs, columns=LABELS),
    }[form]()
    found = tr.audit_matrix(source, JOINT)
    level = worst_ratio("lip", exact(TALL), JOINT.counts)
    floats = form in ("npy", "array", "frame")
    assert float(found.worst["lip"].ratio) == pytest.approx(float(level), rel=1e-12)
    assert (found.worst["lip"].ratio == level) is not floats
    named = form in ("labels", "quoted", "table", "tab", "names", "frame")
    assert found.matrix.outputs == (tuple(outs) if named else ("output 1", "output 2"))
    assert any("no labels" in note for note in found.notes) is (form in ("plain", "names", "npy", "array"))


def test_labels_give_the_order(tmp_path):
    turned = saved(tmp_path / "m.csv", [row[::-1] for row in TALL], LABELS[::-1], ["a", "b"])
    assert np.array_equal(bring(turned, JOINT).weights, bring(TALL, JOINT).weights)
    pairs = [f"{s} · {x}" for s in ("yes", "no") for x in LABELS]
    found = bring(saved(tmp_path / "p.csv", [row + row for row in TALL], pairs, ["a", "b"]), JOINT)
    assert found.reads == "sx"


def test_pram_is_read_transposed(tmp_path):
    """sdcMicro has a row for each original value; symmetric matrices are the same either way."""
    turned = saved(tmp_path / "m.csv", np.array(TALL).T.tolist(), ["a", "b"], LABELS)
    found = bring(turned, JOINT)
    assert found.transposed
    assert "read transposed" in found.notes[0]
    assert np.array_equal(found.weights, bring(TALL, JOINT).weights)
    assert len(bring(ROWS, JOINT).notes) == 1  # of its labels, not of its rows


def test_where_both_sum_to_one_it_is_said_and_can_be_turned():
    both = [["0.7", "0.3", "0"], ["0", "0.7", "0.3"], ["0.3", "0", "0.7"]]
    straight, turned = bring(both, JOINT), bring(both, JOINT, transposed=True)
    assert any("--transposed" in note for note in straight.notes)
    assert np.array_equal(straight.weights.T, turned.weights)
    assert not np.array_equal(straight.weights, turned.weights)


def test_sums_that_are_one_beat_sums_that_rounding_explains():
    nearly = [["0.80", "0.10", "0.10"], ["0.20", "0.70", "0.10"], ["0.01", "0.19", "0.80"]]
    for matrix, turned in ((nearly, True), (np.array(nearly).T.tolist(), False)):
        found = bring(matrix, JOINT)
        assert found.transposed is turned
        assert not any("divided" in note for note in found.notes)


def test_print_precision_is_mended_exactly_and_said():
    thirds = [["0.333", "0.2", "0.5"]] * 2 + [["0.333", "0.6", "0"]]
    found = bring(thirds, JOINT)
    assert (np.unique(found.weights[:, 0]).size, found.weights[:, 0].sum()) == (1, found.whole)
    assert any("sums to 0.999" in note for note in found.notes)
    floats = bring(np.array([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3], [0.7, 0.7, 0.4]]), JOINT)
    assert {sum(column) for column in floats.weights.T.tolist()} == {floats.whole}
    single = bring(np.full((7, 3), 1 / 7, np.float32), JOINT)
    assert len(np.unique(single.weights)) == 1
    assert bring([[Fraction(1, 3)] * 3] * 3, JOINT).weights.tolist() == [[1] * 3] * 3


WRONG = {
    "columns": ([["0.7", "0.2", "0.1"], ["0.2", "0.8", "0.9"]], ["column 1 sums to 0.9,", "row 2 sums to 1.9"]),
    "print precision does not explain it": ([["0.333"] * 3] * 2 + [["0.3"] * 3], ["0.966"]),
    "one decimal is no print precision": ([["0.3"] * 3] * 3, ["0.9", "write out enough decimals"]),
    "counts": ([["7", "2", "1"], ["3", "8", "9"]], ["column 1 sums to 10", "divide counts"]),
    "ones": ([["1", "1", "0"], ["1", "0", "1"]], ["column 1 sums to 2"]),
    "negative": ([["1.1", "0.2", "0.1"], ["-0.1", "0.8", "0.9"]], ["row 2, column 1", "-0.1 is negative"]),
    "NaN": ([[float("nan"), 0.2, 0.1], [0.3, 0.8, 0.9]], ["row 1, column 1", "nan"]),
    "infinite": ([["inf", "0.2", "0.1"], ["0.3", "0.8", "0.9"]], ["row 1, column 1", "inf"]),
    "no number": ([["a", "0.2", "0.1"], ["0.3", "0.8", "0.9"]], ["'a'"]),
    "too narrow": ([["0.7", "0.2"], ["0.3", "0.8"]], ["2 columns", "3 values", "'full'", "6 pairs"]),
    "ragged": ([["0.7", "0.2"], ["0.3"]], ["ragged"]),
    "one axis": ([0.5, 0.5], ["(2,)", "two axes"]),
    "empty": (np.zeros((0, 3)), ["(0, 3)"]),
    "a name": ("matrix.xlsx", [".csv", ".npy"]),
    "a protocol": ("protocol.json", ["trechter verify"]),
    "no file": ("absent.csv", ["absent.csv"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_matrices_that_are_none(case):
    matrix, words = WRONG[case]
    with pytest.raises(ProtocolError) as error:
        tr.audit_matrix(matrix, JOINT)
    assert all(word in str(error.value) for word in words), error.value


def test_labels_that_are_no_values(tmp_path):
    for labels in (["full", "part", "nil"], ["full", "full", "none"]):
        with pytest.raises(ProtocolError, match="labels of the columns do not fit"):
            tr.audit_matrix(saved(tmp_path / "m.csv", TALL, labels, ["a", "b"]), JOINT)
    with pytest.raises(ProtocolError, match="no transposed matrix: row 1 sums to"):
        tr.audit_matrix([["0.5", "0.2", "0.1"], ["0.5", "0.8", "0.9"]], JOINT, transposed=True)


@pytest.mark.parametrize("content", ["", "a,b\n", "0.5,0.5\n0.5\n", '"0.5,0.5\n', "\xff"])
def test_files_that_are_no_matrix(tmp_path, content):
    (tmp_path / "m.csv").write_bytes(content.encode("latin1"))
    with pytest.raises(ProtocolError):
        tr.audit_matrix(tmp_path / "m.csv", JOINT)


def test_a_verdict_is_exact():
    """A matrix whose e^level is 3/2 holds at any ε above ln 3/2 and at none below, however near."""
    joint = tr.Joint([[1, 0], [0, 1]])
    level = Fraction("0.405465108108164381978013115464349137")  # ln 3/2, rounded up
    matrix = [["0.75", "0.25"], ["0.25", "0.75"]]
    assert tr.audit_matrix(matrix, joint, tr.LIP(level)).worst["lip"].ratio == 2
    matrix = [["0.6", "0.4"], ["0.4", "0.6"]]
    assert tr.audit_matrix(matrix, joint, tr.LDP(level)).holds is True
    assert tr.audit_matrix(matrix, joint, tr.LDP(level - Fraction(1, 10**35))).holds is False
    assert tr.audit_matrix(matrix, joint).holds is None
    assert tr.audit_matrix([["1", "0"], ["0", "1"]], joint, tr.LIP(1)).levels["ldp"] == np.inf
