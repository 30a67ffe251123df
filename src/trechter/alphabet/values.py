"""Typed values: text, integers, dates, truth values, bins with public edges, and null.

A value is a plain Python object, so it means the same in every table engine; its JSON form keeps its type.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from itertools import pairwise

from trechter.errors import SchemaError

Edge = int | float | dt.date


@dataclass(frozen=True)
class Bin:
    """The values from `low` up to `high`; `high` itself belongs to it only in the last bin (`closed`)."""

    low: Edge
    high: Edge
    closed: bool = False

    def __str__(self) -> str:
        return f"[{self.low}, {self.high}{']' if self.closed else ')'}"


Value = str | int | bool | dt.date | Bin | None

TYPES: dict[str, type] = {"text": str, "integer": int, "boolean": bool, "date": dt.date}
EDGE_TYPES = ("integer", "number", "date")


def bins(edges: list[Edge] | tuple[Edge, ...]) -> tuple[Bin, ...]:
    """Consecutive bins between public edges; the last one includes its upper edge."""
    if len(edges) < 2:
        raise SchemaError(f"bins need at least two edges, got {list(edges)}")
    if len({isinstance(e, dt.date) for e in edges}) > 1:
        raise SchemaError(f"bin edges must be all numbers or all dates, got {list(edges)}")
    for low, high in pairwise(edges):
        if not low < high:  # type: ignore[operator]
            raise SchemaError(f"bin edges must increase, but {low} is followed by {high}")
    last = len(edges) - 2
    return tuple(Bin(edges[i], edges[i + 1], closed=i == last) for i in range(last + 1))


def label(value: Value) -> str:
    """How a value is shown to people."""
    if value is None:
        return "(null)"
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def to_json(value: Value) -> object:
    """JSON form of a value; a type that JSON lacks becomes an object with one key."""
    if isinstance(value, Bin):
        return {"bin": [_edge_to_json(value.low), _edge_to_json(value.high)], "closed": value.closed}
    if isinstance(value, dt.date):
        return {"date": value.isoformat()}
    return value


def from_json(data: object) -> Value:
    """Inverse of `to_json`."""
    match data:
        case {"bin": [low, high], "closed": bool(closed)}:
            return Bin(_edge_from_json(low), _edge_from_json(high), closed)
        case {"date": str(text)}:
            return dt.date.fromisoformat(text)
        case str() | bool() | int() | None:
            return data
    raise SchemaError(f"{data!r} is not a value: expected text, an integer, a date, a bin or null")


def _edge_to_json(edge: Edge) -> object:
    if isinstance(edge, dt.date):
        return {"date": edge.isoformat()}
    return str(edge) if isinstance(edge, float) and math.isinf(edge) else edge


def _edge_from_json(data: object) -> Edge:
    match data:
        case {"date": str(text)}:
            return dt.date.fromisoformat(text)
        case "inf" | "-inf":
            return float(data)
        case bool():
            pass
        case int() | float():
            return data
    raise SchemaError(f"{data!r} is not a bin edge: expected a number or a date")
