"""One table in every form that can be read, so that each law is checked on all of them."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

Rows = dict[str, list[Any]]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def write_csv(path: Path, rows: Rows, separator: str = ",") -> Path:
    """A CSV file as Python's own writer makes it."""
    opened = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(rows)
        writer.writerows([_cell(v) for v in row] for row in zip(*rows.values(), strict=True))
    return path


def _parquet(path: Path, rows: Rows) -> Path:
    pl.DataFrame(rows, strict=False).write_parquet(path)
    return path


def _indexed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_axis([f"row {i}" for i in range(len(frame))][::-1], axis=0)


def _categories(rows: Rows) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    return frame.astype({c: "category" for c in frame if frame[c].map(type).isin([str, type(None)]).all()})


def _dictionaries(rows: Rows) -> pa.Table:
    table = pa.table(rows)
    columns = [c.combine_chunks() for c in table.columns]
    encoded = [c.dictionary_encode() if pa.types.is_string(c.type) else c for c in columns]
    return pa.table(encoded, names=table.column_names)


MAKERS: dict[str, Callable[[Path, Rows], Any]] = {
    "csv": lambda path, rows: write_csv(path / "t.csv", rows),
    "csv.gz": lambda path, rows: str(write_csv(path / "t.csv.gz", rows)),
    "tsv": lambda path, rows: write_csv(path / "t.tsv", rows, "\t"),
    "parquet": lambda path, rows: _parquet(path / "t.parquet", rows),
    "pandas": lambda _, rows: _indexed(pd.DataFrame(rows)),
    "pandas objects": lambda _, rows: pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in rows.items()}),
    "pandas nullable": lambda _, rows: pd.DataFrame(rows).convert_dtypes(),
    "pandas categories": lambda _, rows: _categories(rows),
    "polars": lambda _, rows: pl.DataFrame(rows, strict=False),
    "polars categories": lambda _, rows: pl.DataFrame(rows, strict=False).with_columns(pl.col(pl.String).cast(pl.Categorical)),
    "polars lazy": lambda _, rows: pl.DataFrame(rows, strict=False).lazy(),
    "arrow": lambda _, rows: pa.table(rows),
    "arrow dictionaries": lambda _, rows: _dictionaries(rows),
}
FORMATS = {name: name.split()[0].removesuffix(".gz").replace("tsv", "csv") for name in MAKERS}


def plain(column: Any) -> list[Any]:
    """The cells of a column of any kind as Python objects, with None for null."""
    if isinstance(column, pd.Series):
        cells = [None if pd.isna(v) else v for v in column.astype(object)]
        return [v.date() if isinstance(v, dt.datetime) else v.item() if hasattr(v, "item") else v for v in cells]
    return column.to_list() if isinstance(column, pl.Series) else column.to_pylist()


def cells(table: Any) -> Rows:
    """The cells of a released table."""
    table = table.collect() if isinstance(table, pl.LazyFrame) else table
    names = table.column_names if isinstance(table, pa.Table) else list(table.columns)
    return {name: plain(table[name]) for name in names}
