"""Unary encodings against their definition, entry by entry over all 2^a sets; and for 10,000 values."""

import json
import math
import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.conftest import random_joint
from tests.oracles import levels

import trechter as tr
from trechter.audit import certify_together
from trechter.model.outputs import ValueSet
from trechter.model.protocol import Protocol
from trechter.model.randomness import SecureRandom, SeededRandom
from trechter.model.unary import UnaryProtocol
from trechter.privacy import NOTIONS
from trechter.tables import open_table

SEEDS = st.integers(0, 10**6)
SHAPES = st.sampled_from([(2, 2), (2, 5), (3, 4), (4, 3), (2, 1), (1, 4), (2, 2, 2), (2, 3, 2)])
PLACES = 5
SHARES = st.integers(0, 2**PLACES)


def encoding(joint, p, q, places=PLACES, **options):
    return UnaryProtocol(p, q, places, joint.secret, joint.release, **options)


def by_definition(p, q, places, a):
    """Q[y, x] as Fractions; y as a number whose digit x says whether x is in the set."""
    p, q = Fraction(p, 2**places), Fraction(q, 2**places)
    rows = []
    for y in range(2**a):
        has = [bool(y >> x & 1) for x in range(a)]
        rows.append(
            [
                math.prod(p if h and i == x else 1 - p if i == x else q if h else 1 - q for i, h in enumerate(has))
                for x in range(a)
            ]
        )
    return rows


@settings(max_examples=100)
@given(SHARES, SHARES, st.integers(1, 5))
def test_listed_outputs_are_the_definition(p, q, a):
    joint = random_joint(a, 2, a)
    protocol = encoding(joint, p, q)
    whole = 2**protocol.bits
    assert [[Fraction(w, whole) for w in row] for row in protocol.weights] == by_definition(p, q, PLACES, a)
    assert list(protocol.weights.sum(axis=0)) == [whole] * a
    assert protocol.matrix.sum(axis=0) == pytest.approx(np.ones(a))
    assert protocol.explicit().matrix == pytest.approx(protocol.matrix)
    assert protocol.outputs[1] == ValueSet((0,))
    assert protocol.outputs[-1] == ValueSet(tuple(range(a)))


@settings(max_examples=250)
@given(
    SEEDS, SHAPES, st.sampled_from(sorted(NOTIONS)), st.sampled_from(["s", "x"]), SHARES, SHARES, st.sampled_from([0.0, 0.4])
)
def test_levels_are_those_of_all_sets(seed, shape, name, protect, p, q, zeros):
    """The judge and the float level against the literal definition over 2^a outputs; p < q, 0 and 1 among them."""
    joint = random_joint(seed, *shape, zeros=zeros)
    protocol, notion = encoding(joint, p, q), NOTIONS[name]("inf", protect=protect)
    expected = levels.worst_ratio(name, by_definition(p, q, PLACES, len(protocol.inputs)), joint.counts, protect=protect)
    certificate = tr.certify(protocol, joint, notion)
    assert certificate.level_exact == expected
    assert notion.level(protocol, joint) == pytest.approx(certificate.level, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("shape", [(2, 10), (3, 12)])
@pytest.mark.parametrize("name", ["lip", "ldp"])
def test_levels_of_more_values(shape, name):
    for seed in range(3):
        joint = random_joint(seed, *shape, zeros=0.3)
        protocol, notion = encoding(joint, 700, 150, 10), NOTIONS[name]("inf")
        certificate = tr.certify(protocol, joint, notion)
        assert certificate.level_exact == tr.certify(protocol.explicit(), joint, notion).level_exact
        assert certificate.level == pytest.approx(notion.level(protocol, joint))


def test_secrets_and_values_that_never_occur():
    joint = tr.Joint([[3, 0, 5, 0], [0, 0, 0, 0], [1, 0, 9, 4]])
    protocol = encoding(joint, 20, 7)
    for name, notion in NOTIONS.items():
        expected = levels.worst_ratio(name, by_definition(20, 7, PLACES, 4), joint.counts)
        assert tr.certify(protocol, joint, notion("inf")).level_exact == expected


def labelled():
    counts = np.array([[9, 4, 2], [3, 5, 7]])
    return tr.Joint(counts, secret=("S", ["no", "yes"]), release={"X": ["a", "b", "c"]})


def test_saved_and_loaded(tmp_path):
    protocol = encoding(labelled(), 16, 3, promise=tr.LIP(1).spec)
    protocol.save(tmp_path / "protocol.json")
    again = Protocol.load(tmp_path / "protocol.json")
    assert (again, again.digest) == (protocol, protocol.digest)
    assert again != encoding(labelled(), 16, 4, promise=tr.LIP(1).spec)
    data = json.loads((tmp_path / "protocol.json").read_text())
    assert (data["kind"], data["p"], data["q"], data["places"]) == ("unary", "16", "3", 5)


@pytest.mark.parametrize(
    ("p", "q", "places", "said"),
    [(33, 1, 5, "p = 33"), (1, -1, 5, "q = -1"), (1, 1, 0, "places = 0"), (1, 1, 1001, "places = 1001")],
)
def test_what_is_no_probability(p, q, places, said):
    with pytest.raises(tr.TrechterError, match=said):
        encoding(labelled(), p, q, places)


@pytest.mark.parametrize("body", [{}, {"p": 1, "q": "2"}, {"p": "-1", "q": "1"}, {"places": "5", "p": "1", "q": "1"}])
def test_what_is_no_file_of_one(body, tmp_path):
    with pytest.raises(tr.TrechterError, match="needs places"):
        UnaryProtocol.from_body({"places": 5} | body)
    with pytest.raises(tr.TrechterError, match="reads x"):
        encoding(labelled(), 1, 1, reads="sx")


def test_names_of_columns():
    assert encoding(labelled(), 16, 3).released == ("X=a", "X=b", "X=c")
    joint = tr.Joint(np.ones((2, 2, 2), int), release={"age": ["young", "old"], "sex": ["f", "m"]})
    assert encoding(joint, 16, 3).released == (
        "age=young & sex=f", "age=young & sex=m", "age=old & sex=f", "age=old & sex=m",
    )  # fmt: skip
    clash = tr.Joint(np.ones((2, 2), int), release={"X": [None, "(null)"]})
    assert len(set(encoding(clash, 16, 3).released)) == 2


TABLE = {"X": ["a", "b", "c", "b", "b"], "S": ["no", "yes", "no", "no", "yes"]}


def test_every_kind_of_table_comes_back_as_it_was(tmp_path):
    protocol = encoding(labelled(), 32, 0)  # p = 1 and q = 0: what is released is what went in
    truth = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]]
    with pytest.warns(UserWarning, match="left out"):
        released = protocol.sanitise(pl.DataFrame(TABLE))
    frame = protocol.sanitise(pd.DataFrame({"X": TABLE["X"]}, index=list("vwxyz")))
    assert released.schema == dict.fromkeys(("X=a", "X=b", "X=c"), pl.UInt8)
    assert released.rows() == [tuple(row) for row in truth]
    assert frame.to_numpy().tolist() == truth
    assert list(frame.index) == list("vwxyz")
    assert protocol.sanitise(pl.DataFrame({"X": []}, schema={"X": pl.String})).shape == (0, 3)
    pl.DataFrame(TABLE).write_csv(tmp_path / "in.csv")
    for name in ("out.csv", "out.parquet"):
        random = SecureRandom()
        kernel = protocol.kernel()
        table = open_table(tmp_path / "in.csv")
        table.sanitise_to(tmp_path / name, protocol.release, lambda c, k=kernel, r=random: k(c, r), protocol.columns())
        read = pl.read_csv if name.endswith("csv") else pl.read_parquet
        assert [list(row) for row in read(tmp_path / name).rows()] == truth


def test_draws_are_those_of_the_matrix_and_a_wrong_one_would_show():
    """χ² over all 2^a sets for each value, at a level of 1e-6; p off by 2 % fails it."""
    protocol, n = encoding(labelled(), 20, 9), 200_000
    sets = 1 << np.arange(3)
    wrong = encoding(labelled(), 20 * 51, 9 * 50, PLACES + 6)
    assert wrong.shares[0] < 1.03 * protocol.shares[0]
    for x in range(3):
        bits = protocol.kernel()(np.full(n, x), SeededRandom(x))
        seen = np.bincount(bits @ sets, minlength=8)
        score, other = (float(((seen - n * m.matrix[:, x]) ** 2 / (n * m.matrix[:, x])).sum()) for m in (protocol, wrong))
        assert chi2.sf(score, 7) > 1e-6
        assert chi2.sf(other, 7) < 1e-6


def test_draws_do_not_depend_on_how_rows_are_cut():
    joint = random_joint(1, 2, 40)
    kernel, codes = encoding(joint, 16, 3).kernel(), np.random.default_rng(1).integers(0, 40, 20_000)
    once = kernel(codes, SeededRandom(7))
    random = SeededRandom(7)
    assert np.array_equal(once, np.concatenate([kernel(part, random) for part in np.split(codes, [1, 700, 9_000])]))
    with pytest.raises(tr.TrechterError, match="40 inputs"):
        kernel(np.array([40]), random)


def test_many_values_are_never_listed():
    joint = random_joint(1, 2, 10_000)
    protocol = encoding(joint, 16, 5)
    for ask in (lambda: protocol.matrix, lambda: protocol.outputs, lambda: protocol.weights, protocol.explicit):
        with pytest.raises(tr.TrechterError, match="not listed"):
            ask()
    certificate = tr.certify(protocol, joint, tr.LIP(1))
    assert certificate.level == pytest.approx(tr.LIP(1).level(protocol, joint), rel=1e-9)
    assert "10,000 values" in protocol._repr_html_()


def test_composed_it_keeps_its_columns():
    joint = labelled()
    protocol, other = encoding(joint, 16, 3), tr.grr(joint, tr.LIP("0.5")).protocol
    both = tr.compose(protocol, other)
    pairs = product(protocol.matrix, other.matrix)
    assert both.matrix == pytest.approx(np.array([first * second for first, second in pairs]))
    assert both.parents == (protocol.digest, other.digest)
    assert [c.name for c in both.columns()] == ["X=a", "X=b", "X=c", "X"]
    assert both.outputs[3] == (1, 0, 0, "a")
    assert tr.marginal(protocol, "X=b").matrix == pytest.approx(np.array([[29, 16, 29], [3, 16, 3]]) / 32)
    with pytest.raises(tr.TrechterError, match="not listed"):
        tr.compose(encoding(random_joint(1, 2, 13), 16, 3), encoding(random_joint(1, 2, 13), 16, 3))


def test_levels_together_exactly_or_bounded():
    """Few values exactly, as the matrix of the composition has it; many by u/v, which is attained with respect to x."""
    joint = labelled()
    parts = [encoding(joint, 16, 3), tr.grr(joint, tr.LIP("0.5")).protocol]
    found = certify_together(parts, joint, tr.LDP(9))
    assert found.level_exact == tr.certify(tr.compose(*parts), joint, tr.LDP(9)).level_exact
    many = random_joint(1, 2, 40)
    for p, q, worst in ((16, 8, Fraction(3)), (8, 16, Fraction(3)), (16, 0, None), (7, 7, Fraction(1))):
        vast = [encoding(many, p, q), tr.constant(many, tr.LDP(9)).protocol]
        found = certify_together(vast, many, tr.LDP(9))
        assert found.facts["bound"]
        assert found.level_exact == worst
        assert worst is None or worst >= tr.certify(vast[0], many, tr.LDP(9)).level_exact


def test_a_fresh_program_knows_every_kind(tmp_path):
    encoding(labelled(), 16, 3).save(tmp_path / "unary.json")
    tr.grr(random_joint(1, 2, 300), tr.LIP(1)).protocol.save(tmp_path / "sparse.json")
    for name in ("unary", "sparse"):
        ask = f"import trechter; print(trechter.Protocol.load({str(tmp_path / name)!r} + '.json').kind)"
        assert subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.strip() == name
