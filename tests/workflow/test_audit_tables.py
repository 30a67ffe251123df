"""Releases that others made, beside their originals: any table, any key, right and wrong implementations."""

import numpy as np
import polars as pl
import pytest
from tests.tables.table_makers import MAKERS

import trechter as tr
from trechter.errors import RequestError, TableError

N, VALUES = 20_000, ["full", "part", "none", "other"]
SHARES = np.array([[0.5, 0.25, 0.1, 0.15], [0.2, 0.2, 0.45, 0.15]])


def people(seed=0, n=N):
    """A secret and what is to be released, as codes."""
    draw = np.random.default_rng(seed)
    ill = (draw.random(n) < 0.3).astype(int)
    return draw, ill, (draw.random(n)[:, None] > SHARES.cumsum(axis=1)[ill]).sum(axis=1)


def table(ill, work, **more):
    return {"id": list(range(len(ill))), "ill": [["no", "yes"][s] for s in ill], "work": [VALUES[x] for x in work]} | more


def respond(draw, work, kept):
    """GRR that tells the truth with probability `kept` and one of all values otherwise."""
    return np.where(draw.random(len(work)) < kept, work, draw.integers(0, len(VALUES), len(work)))


ROLES = {"secret": "ill", "release": ["work"]}


def calibrated(ill, work):
    """GRR for LIP(0.3), and with which probability it tells the truth."""
    counts = np.zeros((2, 4), int)
    np.add.at(counts, (ill, work), 1)
    result = tr.grr(tr.Joint(counts), tr.LIP("0.3"))
    return 1 - 4 * result.protocol.matrix[0, 1]


@pytest.mark.parametrize("wrong", [False, True])
def test_a_wrong_response_is_found_and_the_right_one_is_not(wrong):
    """The wrong one lies half as often as it should."""
    draw, ill, work = people()
    kept = calibrated(ill, work)
    y = respond(draw, work, 1 - (1 - kept) / 2 if wrong else kept)
    released = pl.DataFrame({"work": [VALUES[v] for v in y]})
    found = tr.audit_tables(released, pl.DataFrame(table(ill, work)), **ROLES, notion=tr.LIP("0.3"))
    assert found.holds is (False if wrong else None)
    assert (found.at_least["lip"] > 0.3) is wrong
    assert found.exact is None


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_of_table(tmp_path, kind):
    draw, ill, work = people(1, 600)
    y = respond(draw, work, 0.7)
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    original = MAKERS[kind](tmp_path / "a", table(ill, work))
    released = MAKERS[kind](tmp_path / "b", {"Y": [VALUES[v] for v in y], "id": list(range(600))})
    found = tr.audit_tables(released, original, **ROLES, columns=["Y"])
    plain = tr.audit_tables(pl.DataFrame({"Y": y}), pl.DataFrame(table(ill, work)), **ROLES)
    assert found.outputs == tuple(sorted(VALUES))
    assert found.joint.rows == 600
    assert found.empirical == plain.empirical
    assert found.at_least["ldp"] == pytest.approx(plain.at_least["ldp"])


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars", "arrow"])
def test_a_key_undoes_a_shuffle(tmp_path, kind):
    """Row by row the shuffled release cannot be matched; by its key it is as if it had not been shuffled."""
    draw, ill, work = people(2, 3000)
    y, order = respond(draw, work, 0.7), draw.permutation(3000)
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    original = MAKERS[kind](tmp_path / "a", table(ill, work))
    released = MAKERS[kind](tmp_path / "b", {"work": [VALUES[v] for v in y[order]], "id": order.tolist()})
    with pytest.raises(TableError, match="no association"):
        tr.audit_tables(released, original, **ROLES)
    found = tr.audit_tables(released, original, **ROLES, key="id")
    plain = tr.audit_tables(pl.DataFrame({"work": [VALUES[v] for v in y]}), pl.DataFrame(table(ill, work)), **ROLES)
    assert found.empirical == plain.empirical
    assert abs(found.at_least["lip"] - plain.at_least["lip"]) < 0.1  # the halves are others


def test_rows_that_were_left_out_are_told():
    draw, ill, work = people(3, 2000)
    released = pl.DataFrame({"work": respond(draw, work, 0.7)[:1500], "id": range(1500)})
    found = tr.audit_tables(released, pl.DataFrame(table(ill, work)), **ROLES, key="id")
    assert found.joint.rows == 1500
    assert any("500 rows of the original were not released" in note for note in found.notes)
    with pytest.raises(TableError, match="2,000, the released table 1,500"):
        tr.audit_tables(released, pl.DataFrame(table(ill, work)), **ROLES)


def test_a_generalisation_is_audited_exactly():
    _, ill, work = people(4)
    original, released = pl.DataFrame(table(ill, work)), pl.DataFrame({"group": ["a", "a", "b", "b"]})[work.tolist()]
    joint = tr.Joint.from_table(original, **ROLES, schema={n: {"type": "text", "values": v} for n, v in DOMAINS.items()})
    matrix = [[1, 1, 0, 0], [0, 0, 1, 1]]
    level = tr.audit_matrix(matrix, joint).worst["ldp"].ratio
    found = tr.audit_tables(released, original, **ROLES, notion=tr.LDP("0.1"))
    assert (found.exact.worst["ldp"].ratio, found.holds) == (level, False)
    assert tr.audit_tables(released, original, **ROLES, notion=tr.LDP(3)).holds is True
    constant = tr.audit_tables(pl.DataFrame({"y": ["same"] * N}), original, **ROLES, notion=tr.LDP(0))
    assert (constant.holds, constant.exact.levels["srlip"]) == (True, 0)


DOMAINS = {"ill": ["no", "yes"], "work": VALUES}


def test_a_release_that_reads_the_secret_is_recognised():
    _, ill, work = people(5)
    released = pl.DataFrame({"y": ill ^ (work // 2)})
    found = tr.audit_tables(released, pl.DataFrame(table(ill, work)), **ROLES)
    assert found.exact.matrix.reads == "sx"
    assert any("the secret and x" in note for note in found.notes)


def test_all_columns_but_the_key_are_the_output():
    _, ill, work = people(6, 500)
    y = {"a": ["u", "v"] * 250, "b": (work // 2).tolist(), "id": list(range(500))}
    found = tr.audit_tables(pl.DataFrame(y), pl.DataFrame(table(ill, work)), **ROLES, key="id")
    assert len(found.outputs) == 4
    assert found.outputs[0] == "u · 0"


WRONG = {
    "no such key": ({"key": "name"}, TableError, "there is no column 'name'"),
    "a key that repeats": ({"key": "work"}, TableError, "occurs twice"),
    "no such columns": ({"columns": ["wrk"]}, TableError, "did you mean 'work'"),
    "no such secret": ({"secret": "il"}, TableError, "did you mean 'ill'"),
    "secret and released": ({"release": ["ill"]}, RequestError, "both secret and released"),
    "confidence": ({"confidence": 95}, RequestError, "0.95"),
    "protects x": ({"notion": tr.LDP(1, protect="x")}, RequestError, "secret"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_requests(case):
    change, kind, words = WRONG[case]
    draw, ill, work = people(7, 300)
    original = pl.DataFrame(table(ill, work))
    released = pl.DataFrame({"work": respond(draw, work, 0.7), "id": range(300)})
    with pytest.raises(kind, match=words):
        tr.audit_tables(released, original, **(ROLES | change))


def test_keys_that_do_not_occur():
    _, ill, work = people(8, 300)
    released = pl.DataFrame({"work": work, "id": range(1, 301)})
    with pytest.raises(TableError, match="'300' of the released table does not occur"):
        tr.audit_tables(released, pl.DataFrame(table(ill, work)), **ROLES, key="id")
    with pytest.raises(TableError, match="no rows"):
        tr.audit_tables(released.head(0), pl.DataFrame(table(ill, work)), **ROLES)


def test_nulls_are_an_output_of_their_own():
    _, ill, work = people(9, 400)
    released = pl.DataFrame({"^w.*$": [None if v == 0 else VALUES[v] for v in work]})
    found = tr.audit_tables(released, pl.DataFrame(table(ill, work)), **ROLES)
    assert "(null)" in found.outputs
    assert len(found.outputs) == 4
