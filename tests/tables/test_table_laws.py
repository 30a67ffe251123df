"""The same table gives the same domains, counts and released rows, whatever holds it."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_makers import FORMATS, MAKERS, Rows, cells

from trechter.alphabet import Attribute
from trechter.tables import OutputColumn, open_table

DAY = dt.date(2024, 2, 29)
ROWS: Rows = {
    "name": ["b", "a", None, 'é, "x"\nb', "b", "b"],
    "n": [3, 10, None, -2, 3, 3],
    "flag": [True, None, False, True, True, False],
    "day": [DAY, dt.date(1999, 12, 31), None, DAY, DAY, DAY],
    "x": [0.1, 2.5, 1.0, 0.0, 9.75, 4.0],
    "^n.*$": ["u", "v", "u", "v", "u", "v"],
}
DOMAINS = (
    Attribute("name", ("a", "b", 'é, "x"\nb', None)),
    Attribute("n", (-2, 3, 10, None), "integer"),
    Attribute("day", (dt.date(1999, 12, 31), DAY, None), "date"),
    Attribute("^n.*$", ("u", "v")),
)
DECLARED = (
    *DOMAINS,
    Attribute("flag", (False, True, None), "boolean"),
    Attribute.binned("x", [0, 0.1, 1, 9.75], "number"),
    Attribute("name", ("b", "rest", None), other="rest"),
    Attribute.binned("n", [-5, 3, 10], null=True),
    Attribute.binned("day", [dt.date(1999, 1, 1), DAY], "date", null=True),
)
GIVEN = {"csv": pl.DataFrame, "parquet": pl.DataFrame, "pandas": pd.DataFrame, "arrow": pa.Table}


@pytest.fixture(params=MAKERS)
def engine(request) -> str:
    return request.param


@pytest.fixture
def make(engine, tmp_path) -> Callable[[Rows], Any]:
    return lambda rows: MAKERS[engine](tmp_path, rows)


def code_of(attribute: Attribute, value: Any) -> int:
    """The definition, one cell at a time."""
    if value is None or attribute.edges is None:
        return attribute.code(value)
    for code, b in enumerate(attribute.values):
        if b is not None and (b.low <= value < b.high or (b.closed and value == b.high)):
            return code
    raise AssertionError(f"{value} is outside")


def expected_counts(rows: Rows, attributes, weights=None) -> np.ndarray:
    shape = tuple(len(a) for a in attributes)
    counts = np.full(shape, Fraction(0), dtype=object)
    for i, row in enumerate(zip(*(rows[a.name] for a in attributes), strict=True)):
        place = tuple(code_of(a, v) for a, v in zip(attributes, row, strict=True))
        counts[place] += 1 if weights is None else weights[i]
    return counts


def echo(attributes) -> tuple[OutputColumn, ...]:
    """Outputs that show the inputs."""
    every = np.array(list(product(*(range(len(a)) for a in attributes))))
    return tuple(OutputColumn(a.name, a.values, every[:, j]) for j, a in enumerate(attributes))


def test_columns_and_format(make, engine):
    table = open_table(make(ROWS))
    assert table.columns == tuple(ROWS)
    assert table.format == FORMATS[engine]
    assert table.dropped(["x", "name"]) == ("n", "flag", "day", "^n.*$")


def test_domains_are_learned(make):
    assert open_table(make(ROWS)).infer([a.name for a in DOMAINS]) == DOMAINS


@pytest.mark.parametrize("columns", [[0], [1, 0], [0, 1, 2, 3], [4], [5], [6, 7], [8, 5, 4], [0, 0]], ids=str)
def test_counts_are_those_of_the_definition(make, columns):
    attributes = [DECLARED[i] for i in columns]
    counts = open_table(make(ROWS)).count(attributes)
    assert counts.array.dtype == np.int64
    assert counts.array.shape == tuple(len(a) for a in attributes)
    assert (counts.array == expected_counts(ROWS, attributes)).all()
    assert counts.rows == counts.effective == 6


def test_weights_are_added_exactly(make, engine):
    counts = open_table(make(ROWS)).count(DECLARED[:2], weight="x")
    exact = Fraction if FORMATS[engine] != "csv" else lambda x: Fraction(str(x))
    weights = [exact(x) for x in ROWS["x"]]
    assert (counts.array == expected_counts(ROWS, DECLARED[:2], weights)).all()
    assert all(isinstance(f, Fraction) for f in counts.array.flat)
    assert counts.rows == 6
    assert counts.effective == pytest.approx(float(sum(weights) ** 2 / sum(w**2 for w in weights)), rel=1e-12)


def test_rows_stay_in_place_and_the_type_is_the_same(make, engine):
    given_table = make(ROWS)
    attributes = DECLARED[:5]
    released = open_table(given_table).sanitise(attributes, lambda codes: codes, echo(attributes))
    assert isinstance(released, GIVEN.get(FORMATS[engine], type(given_table)))
    assert cells(released) == {a.name: ROWS[a.name] for a in attributes}
    if isinstance(given_table, pd.DataFrame):
        assert released.index.equals(given_table.index)


def test_the_kernel_gets_flat_codes_in_row_order(make):
    seen = []

    def kernel(codes):
        assert codes.dtype == np.intp
        seen.extend(codes.tolist())
        return (codes % 3).astype(np.uint8)

    attributes = DECLARED[:2]
    released = open_table(make(ROWS)).sanitise(attributes, kernel, [OutputColumn("Y", ("p", "q", None), np.arange(3))])
    wanted = [
        code_of(attributes[0], a) * len(attributes[1]) + code_of(attributes[1], b)
        for a, b in zip(ROWS["name"], ROWS["n"], strict=True)
    ]
    assert seen == wanted
    assert cells(released) == {"Y": [("p", "q", None)[code % 3] for code in wanted]}


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".parquet"])
def test_a_written_release_is_read_back(make, tmp_path, suffix):
    attributes = DECLARED[:4]
    path = tmp_path / f"out{suffix}"
    assert open_table(make(ROWS)).sanitise_to(path, attributes, lambda codes: codes, echo(attributes)) == 6
    again = open_table(path)
    assert again.columns == tuple(a.name for a in attributes)
    assert (again.count(attributes).array == expected_counts(ROWS, attributes)).all()
    assert cells(again.sanitise(attributes, lambda c: c, echo(attributes))) == {a.name: ROWS[a.name] for a in attributes}


def test_rows_can_be_permuted(make, tmp_path):
    order = np.array([3, 1, 5, 0, 2, 4])
    path, attributes = tmp_path / "out.parquet", DECLARED[:2]
    open_table(make(ROWS)).sanitise_to(path, attributes, lambda c: c, echo(attributes), permute=lambda n: order[:n])
    assert cells(pl.read_parquet(path)) == {a.name: [ROWS[a.name][i] for i in order] for a in attributes}


def test_a_table_without_rows(make, tmp_path):
    """Pandas and Arrow give no types to empty columns, so this is also a table of nulls only."""
    table = open_table(make({"a": [], "b": []}))
    attribute = Attribute("a", ("x", "y"))
    assert table.count([attribute]).array.tolist() == [0, 0]
    assert table.count([attribute], weight="b").effective == 0
    outputs = [OutputColumn("a", ("x", "y"), np.arange(2))]
    assert cells(table.sanitise([attribute], lambda c: c, outputs)) == {"a": []}
    for suffix in ("csv", "parquet"):
        assert table.sanitise_to(tmp_path / f"o.{suffix}", [attribute], lambda c: c, outputs) == 0
        assert open_table(tmp_path / f"o.{suffix}").columns == ("a",)


CELLS = {
    "text": st.text(st.characters(codec="utf-8"), min_size=1, max_size=3),
    "integer": st.integers(-(10**17), 10**17),
    "date": st.dates(),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[Rows, list[Attribute]]:
    n = draw(st.integers(2, 12))
    rows, attributes = {}, []
    for name in ("a", "b"):
        kind = draw(st.sampled_from(sorted(CELLS)))
        domain = draw(st.lists(CELLS[kind], min_size=2, max_size=4, unique=True))
        nullable = [None] if draw(st.booleans()) else []
        rows[name] = draw(st.lists(st.sampled_from(domain + nullable), min_size=n, max_size=n))
        attributes.append(Attribute(name, (*domain, *nullable), kind))
    rows["w"] = draw(st.lists(st.sampled_from([0, 1, 2, 10**16]), min_size=n, max_size=n))
    return rows, attributes


@settings(max_examples=40)
@given(tables())
def test_any_table_is_counted_alike_by_all(drawn):
    rows, attributes = drawn
    expected = expected_counts(rows, attributes)
    weighted = expected_counts(rows, attributes, rows["w"])
    with tempfile.TemporaryDirectory() as folder:
        for name, maker in MAKERS.items():
            table = open_table(maker(Path(folder), rows))
            assert (table.count(attributes).array == expected).all(), name
            assert (table.count(attributes, "w").array == weighted).all(), name
            released = table.sanitise(attributes, lambda codes: codes, echo(attributes))
            assert cells(released) == {a.name: rows[a.name] for a in attributes}, name


def test_a_lazy_frame_is_drawn_from_once():
    """A draw at each collection would release the same rows again and again."""
    drawn = np.random.default_rng(1)
    attribute = Attribute("a", ("x", "y"))
    released = open_table(pl.DataFrame({"a": ["x"] * 100}).lazy()).sanitise(
        [attribute], lambda codes: drawn.integers(0, 2, codes.size), [OutputColumn("a", ("x", "y"), np.arange(2))]
    )
    assert isinstance(released, pl.LazyFrame)
    assert released.collect().equals(released.collect())


def test_batches_leave_no_seams(make):
    """More rows than fit into one record batch."""
    n = 600_001
    numbers = np.random.default_rng(5).integers(0, 7, n)
    attribute = Attribute("k", tuple(range(7)), "integer")
    table = open_table(make({"k": numbers.tolist(), "w": [2] * n}))
    assert table.count([attribute]).array.tolist() == [Counter(numbers.tolist())[k] for k in range(7)]
    assert table.count([attribute], "w").effective == n
    released = table.sanitise([attribute], lambda c: c, [OutputColumn("k", attribute.values, np.arange(7))])
    assert cells(released)["k"] == numbers.tolist()
