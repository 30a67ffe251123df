"""Domains learned from the data, and the advice where there are none."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import tomllib

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from table_makers import write_csv

from trechter.alphabet import Schema
from trechter.errors import TableError
from trechter.tables import open_table
from trechter.tables.edges import steps, years

DAYS = [dt.date(2019, 3, 1) + dt.timedelta(i) for i in range(1500)]


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["3", "10", "-2", "0"], "integer", (-2, 0, 3, 10)),
        (["3", "10", ""], "integer", (3, 10, None)),
        (["007", "7"], "text", ("007", "7")),
        (["+7", "7"], "text", ("+7", "7")),
        (["-0", "7"], "text", ("-0", "7")),
        ([" 7", "8"], "text", (" 7", "8")),
        (["7.0", "8"], "text", ("7.0", "8")),
        (["1" * 18, "2"], "integer", (2, int("1" * 18))),
        (["1" * 19, "2"], "text", ("1" * 19, "2")),
        (["٣", "2"], "text", ("2", "٣")),
        (["2024-03-01", "1999-12-31"], "date", (dt.date(1999, 12, 31), dt.date(2024, 3, 1))),
        (["2024-03-01", "2024-02-30"], "text", ("2024-02-30", "2024-03-01")),
        (["2024-03-01", "2024-3-1"], "text", ("2024-03-01", "2024-3-1")),
        (["2024-03-01", "5"], "text", ("2024-03-01", "5")),
        (["true", "false"], "text", ("false", "true")),
        (["b", "a", "", "B"], "text", ("B", "a", "b", None)),
    ],
)
def test_text_from_csv_gets_a_type(tmp_path, cells, kind, values):
    path = write_csv(tmp_path / "t.csv", {"a": cells, "b": ["z"] * len(cells)})
    (attribute,) = open_table(path).infer(["a"])
    assert (attribute.kind, attribute.values) == (kind, values)
    assert open_table(path).count([attribute]).rows == len(cells)


def test_text_in_a_data_frame_stays_text():
    (attribute,) = open_table(pl.DataFrame({"a": ["3", "10"]})).infer(["a"])
    assert attribute.values == ("10", "3")


def test_whole_floats_are_integers():
    for column in ([1.0, 2.0, None], [1.0, 2.0, math.nan]):
        for frame in (pl.DataFrame({"a": column}), pd.DataFrame({"a": column})):
            (attribute,) = open_table(frame).infer(["a"])
            assert (attribute.kind, attribute.values) == ("integer", (1, 2, None))


def test_declared_categories_that_do_not_occur_are_not_learned():
    column = pl.Series(["y", "x"], dtype=pl.Enum(["x", "y", "z"]))
    assert open_table(pl.DataFrame({"a": column})).infer(["a"])[0].values == ("x", "y")
    column = pd.Series(["y", "x"], dtype=pd.CategoricalDtype(["x", "y", "z"]))
    assert open_table(pd.DataFrame({"a": column})).infer(["a"])[0].values == ("x", "y")


@pytest.mark.parametrize("column", [["x"], ["x", "x"], [None, None], [1], [math.nan]], ids=str)
def test_one_value_is_nothing_to_publish(column):
    with pytest.raises(TableError, match=r"column 'a' has one value only .*; leave it out"):
        open_table(pl.DataFrame({"a": column})).infer(["a"])


def test_a_table_without_rows_teaches_nothing(tmp_path):
    with pytest.raises(TableError, match="the table has no rows"):
        open_table(write_csv(tmp_path / "t.csv", {"a": []})).infer(["a"])


def advice(source, column: str = "a") -> tuple[str, Schema]:
    """The message, and the schema that it shows."""
    with pytest.raises(TableError) as caught:
        open_table(source).infer([column])
    message = str(caught.value)
    return message, Schema.parse(tomllib.loads(message[message.index("[") :]))


@pytest.mark.parametrize(
    ("cells", "why", "kind", "covers"),
    [
        (list(range(5000)), "more than 1,000 different values", "integer", (0, 4999)),
        ([i / 7 for i in range(-50, 50)], "numbers with fractions", "number", (-50 / 7, 7)),
        ([0.001, 0.0012], "numbers with fractions", "number", (0.001, 0.0012)),
        ([0.5, math.inf], "numbers with fractions", "number", (0.5, 0.5)),
        (DAYS, "more than 1,000 different values", "date", (DAYS[0], DAYS[-1])),
    ],
)
def test_long_columns_get_an_example_of_bins(cells, why, kind, covers):
    message, schema = advice(pl.DataFrame({"a": cells}))
    assert why in message
    assert "edges that are known without the data" in message
    edges = schema["a"].edges
    assert schema["a"].kind == kind
    assert edges[0] <= covers[0]
    assert covers[1] <= edges[-1]
    assert len(edges) <= 13


def test_the_advice_can_be_taken(tmp_path):
    path = write_csv(tmp_path / "t.csv", {"a": [f"{i}.5" for i in range(1200)] + [""], "b": range(1201)})
    message, schema = advice(path)
    assert "more than 1,000" in message
    assert schema["a"].kind == "number"
    with_null = type(schema["a"]).binned("a", schema["a"].edges, "number", null=True)
    assert open_table(path).count([with_null]).rows == 1201


def test_long_text_gets_a_catch_all():
    _, schema = advice(pl.DataFrame({"a": [f"person {i}" for i in range(2000)]}))
    assert schema["a"].other == "other"


def test_batches_of_different_types_are_refused():
    column = ["x"] * 300_000 + [1]
    with pytest.raises(TableError, match="column 'a' mixes types"):
        open_table(pd.DataFrame({"a": pd.Series(column, dtype=object)})).infer(["a"])


@given(st.floats(-1e300, 1e300), st.floats(0, 1e300), st.booleans())
def test_steps_are_few_and_cover(low, width, whole):
    high = low + width
    assume(not whole or max(abs(low), abs(high)) < 1e15)
    edges = steps(low, high, whole)
    assert edges[0] <= low <= high <= edges[-1]
    assert 2 <= len(edges) <= 13
    assert all(a < b for a, b in itertools.pairwise(edges))
    assert not whole or all(isinstance(e, int) for e in edges)


@given(st.dates(), st.dates())
def test_years_are_few_and_cover(one, two):
    edges = years(min(one, two), max(one, two))
    assert edges[0] <= min(one, two)
    assert max(one, two) <= edges[-1]
    assert 2 <= len(edges) <= 7
    assert np.all(np.diff([e.toordinal() for e in edges]) > 0)
