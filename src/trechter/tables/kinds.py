"""Cells as values of a declared type: text stays text, "17" and 17.0 are the integer 17, a timestamp counts by its date.

    text      text, categories
    integer   integers; whole floats and decimals; text that reads as one
    number    integers, floats, decimals; text that reads as one
    boolean   truth values; "true" and "false" in any case
    date      dates; timestamps; text such as 2024-03-01

A cell that is not of the type becomes null, like a null; `is_null` tells them apart. A column that cannot be of the
type at all (dates for integers) is an error, since it is the declaration that is wrong.

Polars takes the name of a column for a pattern in many a method (^a.*$ and * mean several), so cells lose it here.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from trechter.errors import SchemaError, TableError

TEXT = (pl.String, pl.Categorical, pl.Enum)


def nature(column: pl.Series) -> str:
    """The type that a column's own type suggests; "null" if all its cells are."""
    dtype = column.dtype
    if dtype == pl.Null:
        return "null"
    if dtype in TEXT:
        return "text"
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    if dtype == pl.Boolean:
        return "boolean"
    if dtype in (pl.Date, pl.Datetime):
        return "date"
    raise TableError(f"column {column.name!r} holds {dtype}, which has no categories; turn it into text")


def is_null(column: pl.Series) -> pl.Series:
    """Which cells are null; NaN is."""
    column = column.alias("")
    return column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()


def as_kind(column: pl.Series, kind: str) -> pl.Series:
    """The cells as that type, null where they are not of it."""
    held = nature(column)
    if (held, kind) not in READ:
        if is_null(column).all():  # no cell tells a type, whatever an engine says: pandas takes them for floats
            return pl.repeat(None, len(column), dtype=DTYPES[kind], eager=True)
        raise SchemaError(f"column {column.name!r} is declared {kind!r}, but holds {column.dtype}; declare it {held!r}")
    return READ[held, kind](column.alias(""))


def as_text(column: pl.Series) -> pl.Series:
    """The cells as text, whatever they are: an integer reads the same if an engine made a float of it."""
    if nature(column) != "number":
        return column.cast(pl.String)
    whole = _number_to_integer(column.alias("")).cast(pl.String)
    exact = column.fill_nan(None) if column.dtype.is_float() else column
    return whole.zip_with(whole.is_not_null(), exact.cast(pl.String).alias("")).alias(column.name)


def _text_to_integer(column: pl.Series) -> pl.Series:
    found = column.cast(pl.String).cast(pl.Int128, strict=False)
    if found.null_count() == column.null_count():
        return found
    # what is left may be " 17", or the 17.0 that pandas makes of 17 in a column with nulls
    return found.zip_with(found.is_not_null(), _number_to_integer(_text_to_number(column)))


def _text_to_number(column: pl.Series) -> pl.Series:
    return column.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None)


def _text_to_boolean(column: pl.Series) -> pl.Series:
    words = column.cast(pl.String).str.to_lowercase()
    return words.replace_strict(["false", "true"], [False, True], default=None, return_dtype=pl.Boolean)


def _text_to_date(column: pl.Series) -> pl.Series:
    return column.cast(pl.String).str.to_date("%Y-%m-%d", strict=False)


def _number_to_integer(column: pl.Series) -> pl.Series:
    found = column.cast(pl.Int128, strict=False)
    whole = (found.cast(column.dtype, strict=False) == column).fill_null(False)
    return found.zip_with(whole, pl.Series([None], dtype=pl.Int128))


def _to_date(column: pl.Series) -> pl.Series:
    return column if column.dtype == pl.Date else column.dt.date()


DTYPES: dict[str, pl.DataType | type[pl.DataType]] = {
    "text": pl.String,
    "integer": pl.Int128,  # wide enough for any integer column there is
    "number": pl.Float64,
    "boolean": pl.Boolean,
    "date": pl.Date,
}
READ: dict[tuple[str, str], Callable[[pl.Series], pl.Series]] = {
    ("text", "text"): lambda column: column.cast(pl.String),
    ("text", "integer"): _text_to_integer,
    ("text", "number"): _text_to_number,
    ("text", "boolean"): _text_to_boolean,
    ("text", "date"): _text_to_date,
    ("integer", "integer"): lambda column: column.cast(pl.Int128),
    ("integer", "number"): lambda column: column.cast(pl.Float64),
    ("number", "integer"): _number_to_integer,
    ("number", "number"): lambda column: column.cast(pl.Float64).fill_nan(None),
    ("boolean", "boolean"): lambda column: column,
    ("date", "date"): _to_date,
}
