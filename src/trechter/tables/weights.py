"""Survey weights, exactly: each is m·bᵉ with an integer m, so sums of m over equal (b, e) lose nothing.

text and decimals   "0.125" is 125·10⁻³
integers            m·10⁰
floats              the binary fraction that they are: m·2ᵉ with m below 2⁵³
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.errors import TableError
from trechter.tables.kinds import nature

DECIMAL = r"^\s*\+?([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]{1,3}))?\s*$"
DIGITS = 30  # so that the sum of a batch stays within 128 bits
PLACES = 1000  # so that no text can ask for an integer of a billion digits


def sums(codes: NDArray[Any], weights: pl.Series) -> pl.DataFrame:
    """For each code, base and exponent: the sum of m, the sum of m² as a float, and the rows."""
    parts = _parts(weights)
    wrong = weights.alias("").filter(parts["m"].is_null())
    if len(wrong):
        raise TableError(
            f"column {weights.name!r} has cells that are no weights, such as {wrong[0]!r}; a weight is a finite number, "
            f"not negative, of at most {DIGITS} digits"
        )
    grouped = parts.with_columns(pl.Series("code", codes)).group_by("code", "base", "exponent")
    square = pl.col("m").cast(pl.Float64) ** 2
    return grouped.agg(pl.col("m").sum(), square.sum().alias("squares"), pl.len().alias("rows"))


def _parts(weights: pl.Series) -> pl.DataFrame:
    """m, base and exponent of each weight; m is null where a cell is none."""
    held, name = nature(weights), weights.name
    weights = weights.alias("")
    if weights.dtype.is_float():
        return _binary(weights.cast(pl.Float64))
    if held == "integer":
        m = weights.cast(pl.Int128).alias("m")
        return _bounded(m.to_frame().with_columns(pl.lit(0, pl.Int32).alias("exponent")))
    if held in ("text", "number", "null"):
        return _decimal(weights.cast(pl.String))
    raise TableError(f"column {name!r} holds {weights.dtype}; weights are numbers")


def _binary(weights: pl.Series) -> pl.DataFrame:
    usable = (weights.is_finite() & (weights >= 0)).fill_null(False)
    fraction, exponent = np.frexp(weights.zip_with(usable, pl.Series([0.0])).to_numpy())
    m = pl.Series("m", np.ldexp(fraction, 53).astype(np.int64)).cast(pl.Int128)
    parts = pl.DataFrame([m.zip_with(usable, pl.Series([None], dtype=pl.Int128))])
    return parts.with_columns(pl.lit(2).alias("base"), pl.Series("exponent", exponent - 53, dtype=pl.Int32))


def _decimal(weights: pl.Series) -> pl.DataFrame:
    groups = weights.str.extract_groups(DECIMAL).struct
    whole, fraction, power = (groups.field(str(i)) for i in (1, 2, 3))
    digits = whole + fraction
    m = digits.cast(pl.Int128, strict=False).alias("m")  # null for "." and "", which have no digits
    exponent = power.cast(pl.Int32).fill_null(0) - fraction.str.len_bytes().cast(pl.Int32)
    return _bounded(pl.DataFrame([m, exponent.alias("exponent")]))


def _bounded(parts: pl.DataFrame) -> pl.DataFrame:
    small = pl.col("m").is_between(0, 10**DIGITS) & (pl.col("exponent").abs() <= PLACES)
    return parts.select(pl.when(small).then("m").alias("m"), pl.lit(10).alias("base"), "exponent")
