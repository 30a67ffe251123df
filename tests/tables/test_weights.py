"""Survey weights add up exactly, whatever form they come in."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_makers import write_csv

from trechter.alphabet import Attribute
from trechter.errors import TableError
from trechter.tables import open_table

TEXT = Attribute("a", ("x", "y"))
FLOATS = st.floats(0, allow_nan=False, allow_infinity=False)
DECIMALS = st.decimals(0, 10**9, allow_nan=False, places=6)


def count(cells, weights):
    return open_table(pl.DataFrame({"a": cells, "w": weights}, strict=False)).count([TEXT], weight="w")


def kish(weights: list[Fraction]) -> float:
    squares = sum(w * w for w in weights)
    return float(sum(weights) ** 2 / squares) if squares else 0.0


@given(st.lists(st.tuples(st.sampled_from("xy"), FLOATS), min_size=1, max_size=20))
def test_floats_are_the_binary_fractions_that_they_are(rows):
    counts = count(*map(list, zip(*rows, strict=True)))
    assert counts.array.tolist() == [sum((Fraction(w) for a, w in rows if a == v), Fraction(0)) for v in "xy"]
    assert counts.rows == len(rows)
    assert counts.effective == pytest.approx(kish([Fraction(w) for _, w in rows]), rel=1e-12)


@given(st.lists(DECIMALS, min_size=1, max_size=20), st.sampled_from(["text", "exponents", "decimals"]))
def test_decimals_are_tenths(weights, form):
    forms = {"text": [f"{w:f}" for w in weights], "exponents": [f"{w:E}" for w in weights], "decimals": weights}
    counts = count(["x"] * len(weights), forms[form])
    assert counts.array.tolist() == [sum(map(Fraction, weights)), 0]
    assert counts.effective == pytest.approx(kish([Fraction(w) for w in weights]), rel=1e-12)


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=20))
def test_integers_do_not_overflow(weights):
    counts = count(["x"] * len(weights), weights)
    assert counts.array.tolist() == [sum(weights), 0]


def test_a_tenth_in_a_file_is_a_tenth(tmp_path):
    path = write_csv(tmp_path / "t.csv", {"a": ["x"] * 10 + ["y"], "w": ["0.1"] * 10 + [" +1e-1 "]})
    assert open_table(path).count([TEXT], weight="w").array.tolist() == [1, Fraction(1, 10)]


def test_equal_weights_are_worth_all_rows():
    for w in (1, 0.1, 1e200, 5e-324):
        assert count(["x", "y", "y"], [w] * 3).effective == pytest.approx(3, rel=1e-15)


def test_weights_of_zero_count_for_nothing():
    counts = count(["x", "y", "y"], [0, 2, 0])
    assert (counts.array.tolist(), counts.rows, counts.effective) == ([0, 2], 3, 1.0)
    assert count(["x"], [0]).effective == 0


def test_a_column_may_be_counted_and_weigh():
    counts = open_table(pl.DataFrame({"n": [1, 2, 2]})).count([Attribute("n", (1, 2), "integer")], weight="n")
    assert counts.array.tolist() == [1, 4]


@pytest.mark.parametrize(
    "weights",
    [
        [1, -1],
        [1.0, -0.5],
        [1.0, float("nan")],
        [1.0, float("inf")],
        [1, None],
        ["1", ""],
        ["1", "."],
        ["1", "-1"],
        ["1", "abc"],
        ["1", "1,5"],
        ["1", "nan"],
        ["1", "1e9999"],
        ["1", "1e-999999999"],
        ["1", "9" * 31],
        ["1", "0." + "0" * 1001 + "1"],
        [Decimal(1), Decimal(-1)],
        [None, None],
    ],
    ids=str,
)
def test_what_is_no_weight_is_refused(weights):
    with pytest.raises(TableError, match="column 'w' has cells that are no weights, such as "):
        count(["x", "y"], weights)


@pytest.mark.parametrize("weights", [[True, False], [pd.Timestamp("2024-01-01")] * 2], ids=["truth", "dates"])
def test_a_column_of_another_type_is_no_weight(weights):
    with pytest.raises(TableError, match=r"column 'w' holds .*; weights are numbers"):
        open_table(pd.DataFrame({"a": ["x", "y"], "w": weights})).count([TEXT], weight="w")


def test_float32_weights_are_exact_too():
    weights = np.array([0.1, 0.7], np.float32)
    array = count(["x", "y"], weights).array
    assert array.tolist() == [Fraction(float(w)) for w in weights]
