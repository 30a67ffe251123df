"""What is wrong with a table, a value or a request is explained, with what to do about it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from table_makers import MAKERS

from trechter.alphabet import Attribute
from trechter.errors import SchemaError, TableError
from trechter.tables import OutputColumn, open_table

TEXT = Attribute("a", ("x", "y"))
MESSY = {"a": ["x", "z", "zz", None, "z", "x"], "n": [1, 2, 2, 3, None, 40]}


@pytest.fixture(params=MAKERS)
def messy(request, tmp_path):
    return open_table(MAKERS[request.param](tmp_path, MESSY))


def test_unseen_values_are_listed_with_their_rows(messy):
    wanted = r"column 'a' has 3 cells outside its domain: 'z' \(2 rows\), 'zz' \(1 row\); its values are 'x', 'y', "
    for use in (
        lambda a: messy.count([a]),
        lambda a: messy.sanitise([a], lambda c: c, [OutputColumn("a", a.values, np.arange(3))]),
    ):
        with pytest.raises(SchemaError, match=wanted + r'.*or declare unseen = "other"'):
            use(Attribute("a", ("x", "y", None)))


def test_nulls_that_are_no_category_are_counted(messy):
    with pytest.raises(SchemaError, match=r"column 'a' has 1 empty cell; declare null = \"value\""):
        messy.count([Attribute("a", ("x", "z", "zz"))])
    with pytest.raises(SchemaError, match="1 empty cell"):
        messy.count([Attribute("a", ("x", "z"), other="z")])
    with pytest.raises(SchemaError, match="column 'n' has 1 empty cell"):
        messy.count([Attribute.binned("n", [0, 50])])


def test_values_outside_the_edges_are_unseen(messy):
    with pytest.raises(
        SchemaError, match=r"column 'n' has 1 cell outside its domain: '40(\.0)?' \(1 row\); its values are '\[0, 3\]'"
    ):
        messy.count([Attribute.binned("n", [0, 3], null=True)])
    caught = Attribute(
        "n", Attribute.binned("n", [0, 2, 3], null=True).values, "integer", other=Attribute.binned("n", [0, 2, 3]).values[0]
    )
    assert messy.count([caught]).array.tolist() == [2, 3, 1]


def test_a_column_that_does_not_exist(messy):
    for use in (
        lambda: messy.infer(["A"]),
        lambda: messy.count([TEXT], weight="A"),
        lambda: messy.count([Attribute("A", ("x",))]),
    ):
        with pytest.raises(TableError, match=r"no column 'A'.* \(there are 'a', 'n'\)"):
            use()
    with pytest.raises(TableError, match=r"no column 'aa'; did you mean 'a'\?"):
        messy.sanitise([Attribute("aa", ("x",))], lambda c: c, [OutputColumn("a", ("x",), np.zeros(1, int))])


def test_many_unseen_values_are_not_all_listed():
    table = open_table(pl.DataFrame({"a": [f"v{i}" for i in range(40)]}))
    with pytest.raises(SchemaError, match=r"40 cells .*, and 35 more"):
        table.count([TEXT])


@pytest.mark.parametrize(
    ("column", "kind", "value", "message"),
    [
        ([1, 2], "text", "x", "declared 'text', but holds Int64; declare it 'integer'"),
        ([True], "integer", 1, "declared 'integer', but holds Boolean; declare it 'boolean'"),
        ([1], "boolean", True, "declared 'boolean', but holds Int64; declare it 'integer'"),
        ([dt.date(2024, 1, 1)], "text", "x", "holds Date; declare it 'date'"),
        ([1.5], "date", dt.date(2024, 1, 1), "holds Float64; declare it 'number'"),
        ([[1]], "text", "x", "holds List.*, which has no categories"),
        ([dt.timedelta(1)], "text", "x", "holds Duration.*, which has no categories"),
    ],
)
def test_a_declaration_of_another_type_is_refused(column, kind, value, message):
    with pytest.raises((SchemaError, TableError), match=f"column 'a' .*{message}"):
        open_table(pl.DataFrame({"a": column})).count([Attribute("a", (value,), kind)])


@pytest.mark.parametrize("cell", ["1.5", "abc", "1e2x", "--3", "0x10", "1_000", "nan"])
def test_text_that_is_no_integer_is_unseen(cell):
    with pytest.raises(SchemaError, match=cell):
        open_table(pl.DataFrame({"a": [cell]})).count([Attribute("a", (1, 3), "integer")])


@pytest.mark.parametrize(("cell", "value"), [("17", 17), ("17.0", 17), (" 17 ", 17), ("+17", 17), ("017", 17), ("-3", -3)])
def test_text_that_reads_as_a_declared_integer_is_one(cell, value):
    assert open_table(pl.DataFrame({"a": [cell, "5"]})).count([Attribute("a", (value, 5), "integer")]).array.tolist() == [1, 1]


def test_truth_values_are_not_numbers():
    table = open_table(pl.DataFrame({"a": ["true", "False", "TRUE"]}))
    assert table.count([Attribute("a", (True, False), "boolean")]).array.tolist() == [2, 1]
    with pytest.raises(SchemaError, match="'1'"):
        open_table(pl.DataFrame({"a": ["1", "true"]})).count([Attribute("a", (True, False), "boolean")])


def test_large_integers_keep_every_digit():
    values = (2**53, 2**53 + 1, 2**64 - 1)
    for column in (
        pl.Series(values, dtype=pl.UInt64),
        pl.Series([str(v) for v in values]),
        pl.Series(values, dtype=pl.Int128),
    ):
        table = open_table(pl.DataFrame({"a": column}))
        assert table.count([Attribute("a", values, "integer")]).array.tolist() == [1, 1, 1]
        assert table.count([Attribute.binned("a", [0, 2**53 + 1, 2**64])]).array.tolist() == [1, 2]


def test_infinite_edges_take_what_is_beyond():
    inf = float("inf")
    for column in ([-5, 0, 10**18], [-5.0, 0.0, 1e300], ["-5", "0", "1e18"]):
        counts = open_table(pl.DataFrame({"a": column})).count([Attribute.binned("a", [-inf, 0, 7, inf], "number")])
        assert counts.array.tolist() == [1, 1, 1]
    assert open_table(pl.DataFrame({"a": [-(10**18), 0, 7]})).count(
        [Attribute.binned("a", [-inf, 0, inf])]
    ).array.tolist() == [1, 2]
    extremes = open_table(pl.DataFrame({"a": [-inf, inf, 0.0, -0.0]}))
    assert extremes.count([Attribute.binned("a", [-inf, 0.0, inf], "number")]).array.tolist() == [1, 3]


def test_nan_is_null_in_a_column_of_floats_and_no_number_in_text():
    attribute = Attribute.binned("a", [0, 1, float("inf")], "number", null=True)
    assert open_table(pl.DataFrame({"a": [0.5, float("nan"), None]})).count([attribute]).array.tolist() == [1, 0, 2]
    whole = Attribute("a", (1, None), "integer")
    assert open_table(pl.DataFrame({"a": [1.0, float("nan"), None]})).count([whole]).array.tolist() == [1, 2]
    with pytest.raises(SchemaError, match=r"1 cell outside its domain: 'NaN'"):
        open_table(pl.DataFrame({"a": ["0.5", "NaN", None]})).count([attribute])


def test_a_timestamp_counts_by_its_date():
    stamps = [dt.datetime(2024, 1, 1, 23, 59), dt.datetime(2024, 1, 2)]
    attribute = Attribute("a", (dt.date(2024, 1, 1), dt.date(2024, 1, 2)), "date")
    zoned = pl.Series(stamps).dt.replace_time_zone("America/New_York")
    for source in (
        pl.DataFrame({"a": stamps}),
        pd.DataFrame({"a": stamps}),
        pa.table({"a": stamps}),
        pl.DataFrame({"a": zoned}),
    ):
        assert open_table(source).count([attribute]).array.tolist() == [1, 1]


def test_null_may_stand_anywhere_in_a_domain():
    table = open_table(pl.DataFrame({"a": ["x", None, "y", "y"]}))
    assert table.count([Attribute("a", ("y", None, "x"))]).array.tolist() == [2, 1, 1]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a", 1], r"column 'a' mixes types: 'a' \(text\) and 1 \(integers\)"),
        ([True, 1], r"column 'a' mixes types: 1 \(integers\) and True \(truth values\)"),
        ([1, 2.5, None], "mixes types"),
        ([[1], [2]], "cells of type list"),
        ([2**200], "column 'a' cannot be read"),
        ([b"a"], "cells of type bytes"),
    ],
)
def test_object_columns_of_several_types_are_refused(cells, message):
    table = open_table(pd.DataFrame({"a": pd.Series(cells, dtype=object)}))
    with pytest.raises(TableError, match=message):
        table.infer(["a"])


def test_object_columns_of_one_type_are_fine():
    stamp = pd.Timestamp("2024-01-01")
    for cells, values in [
        ([np.int64(3), 2**70, np.nan], (3, 2**70, None)),
        ([np.bool_(True), False], (False, True)),
        ([Decimal(1), Decimal("2.0")], (1, 2)),
        ([stamp, dt.datetime(2024, 1, 2), pd.NaT], (dt.date(2024, 1, 1), dt.date(2024, 1, 2), None)),
        (["x", pd.NA, None, np.nan], ("x", None)),
    ]:
        (attribute,) = open_table(pd.DataFrame({"a": pd.Series(cells, dtype=object)})).infer(["a"])
        assert attribute.values == values


def test_column_names_must_be_text_and_differ():
    with pytest.raises(TableError, match="column names must be text, but one is 0"):
        open_table(pd.DataFrame([[1, 2]]))
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    for source in (twice, pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])):
        with pytest.raises(TableError, match=r"several columns of the same name.*a.*rename them"):
            open_table(source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no-such-file.csv", "cannot read no-such-file.csv: there is no such file"),
        ("no-such-file.parquet", "cannot read no-such-file.parquet: there is no such file"),
        ("table.xlsx", "a file named 'table.xlsx' is no table that can be read; give a path ending in"),
        (".", "it is a folder"),
        ("a" * 300 + ".csv", "cannot read a+.csv: .*too long"),
        ("a" * 300 + ".parquet", "cannot read a+.parquet: .*too long"),
        ({"a": [1]}, "a dict is no table"),
        (None, "a NoneType is no table"),
        (7, "a int is no table"),
    ],
)
def test_what_is_no_table_is_refused(source, message):
    with pytest.raises(TableError, match=message):
        open_table(source)


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["x", "y"] * 50_000, "b": np.random.default_rng(0).random(100_000)}).write_parquet(path)
    return path


@pytest.mark.parametrize("kept", [0, 3, 500, -1, -100])
def test_a_parquet_file_that_was_cut_is_refused(parquet, kept):
    parquet.write_bytes(parquet.read_bytes()[:kept])
    with pytest.raises(TableError, match=r"cannot read .*t\.parquet: .*damaged or cut short"):
        open_table(parquet).count([TEXT])


def test_a_damaged_parquet_file_is_refused(parquet):
    content = bytearray(parquet.read_bytes())
    content[4:1000] = bytes(996)
    parquet.write_bytes(content)
    with pytest.raises(TableError, match="cannot read"):
        open_table(parquet).count([TEXT])


def test_a_lazy_frame_that_fails_is_explained():
    with pytest.raises(TableError, match="cannot read the LazyFrame"):
        open_table(pl.scan_csv("no-such-file.csv"))
    broken = pl.DataFrame({"a": ["x"]}).lazy().with_columns(pl.col("a").cast(pl.Int64))
    with pytest.raises(TableError, match="cannot read the LazyFrame"):
        open_table(broken).count([TEXT])


def test_more_combinations_than_fit_are_refused():
    many = tuple(range(1001))
    attributes = [Attribute(name, many, "integer") for name in "abc"]
    with pytest.raises(TableError, match=r"1001 \(a\) × 1001 \(b\) × 1001 \(c\) is 1,003,003,001 combinations"):
        open_table(pl.DataFrame({n: [1] for n in "abc"})).count(attributes)


@pytest.mark.parametrize("bad", [lambda c: c[:-1], lambda c: c + 2, lambda c: c - 1])
def test_a_kernel_that_draws_nonsense_is_stopped(bad, tmp_path):
    table = open_table(pl.DataFrame({"a": ["x", "y", "x"]}))
    outputs = [OutputColumn("a", ("x", "y"), np.arange(2))]
    with pytest.raises(ValueError, match="one of 2 outputs for each of 3 rows"):
        table.sanitise([TEXT], bad, outputs)
    with pytest.raises(ValueError, match="one of 2 outputs for each of 3 rows"):
        table.sanitise_to(tmp_path / "o.csv", [TEXT], bad, outputs)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("cell", "spelled"), [("cafe\u0301", True), ("caf\u00e9 ", False), ("tea", False)])
def test_values_that_only_look_the_same(cell, spelled):
    """é is one character or two; whoever compares what is printed sees no difference."""
    table = pl.DataFrame({"drink": ["caf\u00e9", cell]})
    with pytest.raises(SchemaError, match="outside its domain") as error:
        open_table(table).count([Attribute.of("drink", ["caf\u00e9", "water"])])
    assert ("how Unicode spells" in str(error.value)) is spelled
