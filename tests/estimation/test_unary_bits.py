"""Shares from released bits: unbiased, with errors that are as large as they say; a biased estimate would be found out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.conftest import random_joint

import trechter as tr
from trechter.model.unary import UnaryProtocol

LABELS = ["a", "b", "c", "d"]
COUNTS = np.array([600, 250, 150, 0])


def encoding(p, q):
    joint = tr.Joint(np.ones((2, 4), int), release={"X": LABELS})
    return UnaryProtocol(p, q, 10, joint.secret, joint.release)


def table():
    return pl.DataFrame({"X": np.repeat(LABELS, COUNTS)})


def slices(released, rows):
    """Releases of their own: rows are drawn independently."""
    return [released[i : i + rows] for i in range(0, len(released), rows)]


@pytest.mark.filterwarnings("ignore::trechter.errors.InsecureWarning")
@pytest.mark.parametrize(("p", "q"), [(512, 200), (1000, 30), (150, 700), (1024, 100)])
def test_unbiased_and_as_sure_as_it_says(p, q):
    """The mean of 150 releases is within 5 standard errors; with a q that is 2 % too large it is far outside."""
    protocol, wrong, truth, runs = encoding(p, q), encoding(p, q + 20), COUNTS / COUNTS.sum(), 150
    releases = slices(protocol.sanitise(pl.concat([table()] * runs), insecure_seed=1), COUNTS.sum())
    found = [tr.estimate(release, protocol) for release in releases]
    shares = np.array([f.shares for f in found])
    spread = np.sqrt(np.mean([f.noise**2 for f in found], axis=0))
    error = np.maximum(spread, 1e-9) / np.sqrt(runs)
    assert np.all(np.abs(shares.mean(axis=0) - truth) < 5 * error)
    biased = np.mean([tr.estimate(release, wrong).shares for release in releases], axis=0)
    assert np.any(np.abs(biased - truth) > 5 * error)
    kept = spread > 0
    assert (shares.std(axis=0) / spread)[kept] == pytest.approx(np.ones(kept.sum()), abs=0.25)


@pytest.mark.filterwarnings("ignore::trechter.errors.InsecureWarning")
def test_rows_that_are_a_sample_themselves():
    protocol, truth, draw = encoding(512, 100), np.array([0.5, 0.3, 0.2, 0.0]), np.random.default_rng(0)
    rows = pl.DataFrame({"X": draw.choice(LABELS, 300 * 500, p=truth)})
    found = [tr.estimate(release, protocol) for release in slices(protocol.sanitise(rows, insecure_seed=1), 500)]
    shares = np.array([f.shares for f in found])
    spread = np.sqrt(np.mean([f.errors**2 for f in found], axis=0))
    assert np.all(np.abs(shares.mean(axis=0) - truth) < 5 * spread / np.sqrt(300))
    assert shares.std(axis=0) / spread == pytest.approx(np.ones(4), abs=0.2)
    assert np.all(spread[:3] > 1.02 * np.sqrt(np.mean([f.noise**2 for f in found], axis=0))[:3])


def test_without_noise_the_shares_are_the_truth_in_every_kind_of_table(tmp_path):
    protocol = encoding(1024, 0)
    released = protocol.sanitise(table())
    released.write_csv(tmp_path / "r.csv")
    released.write_parquet(tmp_path / "r.parquet")
    kinds = (released, released.to_pandas(), released.cast(pl.Boolean), pd.DataFrame(released.to_pandas(), dtype=float))
    for form in (*kinds, tmp_path / "r.csv", tmp_path / "r.parquet"):
        found = tr.estimate(form, protocol)
        assert found.values == tuple(LABELS)
        assert found.shares == pytest.approx(COUNTS / COUNTS.sum())
        assert (found.noise == 0).all()
        assert found.rows == COUNTS.sum()


@pytest.mark.filterwarnings("ignore::trechter.errors.InsecureWarning")
def test_many_values():
    joint = random_joint(1, 2, 2_000)
    protocol = tr.oue(joint, tr.LIP(2)).protocol
    rows = pl.DataFrame({"X": np.arange(300) % 7})
    found = tr.estimate(protocol.sanitise(rows, insecure_seed=1), protocol)
    assert found.likely is None
    assert "most likely shares" in str(found)
    with pytest.raises(tr.TrechterError, match="too many outputs"):
        found.posterior(10)
    score = (found.shares - np.bincount(rows["X"], minlength=2_000) / 300) / found.noise
    assert np.abs(score).max() < 7
    assert np.mean(score**2) == pytest.approx(1.07, abs=0.15)  # not 1: the errors are estimated from the same few rows


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.drop("X=b"), "X=b"),
        (lambda t: t.with_columns(pl.lit(2).alias("X=c")), "X=c.*cell 2"),
        (lambda t: t.with_columns(pl.lit(None).alias("X=a")), "X=a.*None"),
        (lambda t: t.with_columns(pl.lit("yes").alias("X=a")), "X=a.*yes"),
        (lambda t: t.head(0), "no rows"),
    ],
)
def test_tables_that_were_not_released_by_it(change, said):
    protocol = encoding(512, 100)
    with pytest.raises(tr.TrechterError, match=said):
        tr.estimate(change(protocol.sanitise(table())), protocol)


def test_protocols_that_say_nothing_or_are_no_unary_encodings():
    with pytest.raises(tr.TrechterError, match="p = q"):
        tr.estimate(table(), encoding(100, 100))


@pytest.mark.filterwarnings("ignore::trechter.errors.InsecureWarning")
def test_cells_of_several_values_are_told_by_the_sum_of_their_bits():
    """A margin of two attributes against the same counted by hand."""
    joint = random_joint(3, 2, 3, 2)
    protocol, draw = tr.oue(joint, tr.LIP(1)).protocol, np.random.default_rng(0)
    rows = pl.DataFrame({"X1": draw.integers(0, 3, 500), "X2": draw.integers(0, 2, 500)})
    released = protocol.sanitise(rows, insecure_seed=1)
    p, q, _, _ = protocol.shares
    for names, groups in (
        (["X1"], [[0, 1], [2, 3], [4, 5]]),
        (["X2"], [[0, 2, 4], [1, 3, 5]]),
        (["X2", "X1"], [[0], [2], [4], [1], [3], [5]]),
    ):
        found, bits = tr.estimate(released, protocol, margin=names), released.to_numpy()
        assert found.shares == pytest.approx([((bits[:, g].sum(axis=1) - len(g) * q) / (p - q)).mean() for g in groups])
        assert found.errors == pytest.approx(
            [((bits[:, g].sum(axis=1) - len(g) * q) / (p - q)).std(ddof=1) / np.sqrt(500) for g in groups]
        )
