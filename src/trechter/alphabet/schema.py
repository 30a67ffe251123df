"""A schema: the values that may occur in each column, declared before the data is looked at.

It is written as TOML, one table per column:

    [education]
    type = "text"                 # text, integer, boolean or date; number only with edges
    values = ["Bachelors", "Masters", "Other"]
    null = "value"                # "error" (the default), or "value": nulls are a category of their own, the last
    unseen = "other"              # "error" (the default), or "other": a value that is not listed becomes `other`
    other = "Other"

    [age]
    type = "integer"
    edges = [17, 25, 35, 50, 65, 91]   # public edges: [17, 25), [25, 35), …, [65, 91]

A value outside the edges is unseen; for bins, `other` is the two edges of the bin that takes it.
"""

from __future__ import annotations

import datetime as dt
import difflib
import math
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast, overload

from trechter.alphabet.attribute import Attribute, known_types, shorten
from trechter.alphabet.toml import key, value
from trechter.alphabet.values import EDGE_TYPES, TYPES, Bin, Edge, Value, bins
from trechter.errors import SchemaError, reason

ORIGINS = ("declared", "inferred")
SETTINGS = ("type", "values", "edges", "null", "unseen", "other")
EDGES: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float), "date": (dt.date,)}
LINE = 100

HELP = """\
# Which values may occur in each column. This file is meant to be edited by hand.
#   type    text, integer, boolean or date; number only with edges
#   values  all values that may occur, in order; or else
#   edges   public bin edges: [17, 25, 35] makes the bins [17, 25) and [25, 35]
#   null    "error", or "value": empty cells are a category of their own
#   unseen  "error", or "other": a value that is not listed, or lies outside the edges, becomes `other`
#   other   one of the values; with edges, the two edges of a bin
"""
LEARNED = """\
#
# These values were learned from the data, so the list itself tells which ones occur.
# Add those that could have occurred, and give names or bins to what only one person could have.
"""


@dataclass(frozen=True)
class Schema:
    """The attributes of some columns, and whether they were declared or learned from the data."""

    attributes: tuple[Attribute, ...]
    origin: str = "declared"

    def __post_init__(self) -> None:
        if self.origin not in ORIGINS:
            raise SchemaError(f"a schema is {' or '.join(ORIGINS)}, not {self.origin!r}")
        if not self.attributes:
            raise SchemaError("the schema declares no columns; give each column a table, such as [age]")
        names = [a.name for a in self.attributes]
        for name in names:
            if names.count(name) > 1:
                raise SchemaError(f"the schema declares the column {name!r} twice")
        for attribute in self.attributes:
            _check_order(attribute)

    @overload
    @classmethod
    def of(cls, source: None) -> None: ...

    @overload
    @classmethod
    def of(cls, source: Source) -> Schema: ...

    @classmethod
    def of(cls, source: object) -> Schema | None:
        """A schema from a path, a mapping, attributes or a schema; None stays None."""
        match source:
            case None | Schema():
                return source
            case str() | os.PathLike():
                return cls.load(source)
            case Mapping():
                return cls.parse(source)
            case Iterable():
                attributes = tuple(source)
                if all(isinstance(a, Attribute) for a in attributes):
                    return cls(attributes)
        raise SchemaError(
            f"{type(source).__name__} is no schema; give a TOML file, a mapping from column to settings, "
            "or a list of attributes"
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """The schema in a TOML file."""
        try:
            return cls.parse(tomllib.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise SchemaError(f"cannot read the schema {os.fspath(path)}: {reason(error)}") from error
        except UnicodeDecodeError as error:
            raise SchemaError(f"cannot read the schema {os.fspath(path)}: it is not UTF-8 text") from error
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(f"the schema {os.fspath(path)} is not valid TOML: {error}") from error

    @classmethod
    def parse(cls, data: Mapping[str, object]) -> Schema:
        """The schema in a mapping from column name to settings."""
        return cls(tuple(_attribute(name, settings) for name, settings in data.items()))

    def __getitem__(self, name: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise SchemaError("in the schema, " + unknown("column", name, [a.name for a in self.attributes]))

    def dump(self) -> str:
        """TOML that `load` reads back as the same attributes, with comments for whoever edits it."""
        head = HELP + (LEARNED if self.origin == "inferred" else "")
        return "\n".join([head, *map(table, self.attributes)])


Source = str | os.PathLike[str] | Mapping[str, object] | Iterable[Attribute] | Schema  # what a schema can be given as


def unknown(what: str, name: object, known: Sequence[str]) -> str:
    """Says that a name does not exist, which one was perhaps meant, and which do exist."""
    near = difflib.get_close_matches(str(name), known, 1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return f"there is no {what} {name!r}{meant} (there are {shorten(known, 40)})"


def table(attribute: Attribute) -> str:
    """One column's table of settings, as TOML."""
    plain = [v for v in attribute.values if v is not None]
    domain = "values" if attribute.edges is None else "edges"
    other = attribute.other
    lines = [
        f"[{key(attribute.name)}]",
        f"type = {value(attribute.kind)}",
        _list(domain, [value(v) for v in attribute.edges or plain]),
        f"null = {value('value' if None in attribute.values else 'error')}",
        f"unseen = {value('error' if other is None else 'other')}",
    ]
    if other is not None:
        shown = f"[{value(other.low)}, {value(other.high)}]" if isinstance(other, Bin) else value(other)
        lines.append(f"other = {shown}")
    return "\n".join(lines) + "\n"


def _attribute(name: str, settings: object) -> Attribute:
    if not isinstance(name, str):
        raise _wrong(name, "a column's name is text")
    if not isinstance(settings, Mapping):
        raise _wrong(name, f'{settings!r} is no table of settings; write [{name}], then type = "…" below it')
    for setting in settings:
        if setting not in SETTINGS:
            raise _wrong(name, unknown("setting", setting, SETTINGS))
    kind = _kind(name, settings)
    binned = _one_domain(name, settings) == "edges"
    values = _bins(name, kind, settings["edges"]) if binned else _values(name, kind, settings["values"])
    null = _policy(name, settings, "null", "value")
    return Attribute(name, (*values, *((None,) if null else ())), kind, _other(name, settings, values))


def _kind(name: str, settings: Mapping[str, object]) -> str:
    kind = settings.get("type")
    if kind is None:
        raise _wrong(name, f'the type is missing; add type = "…", one of {known_types()}')
    if kind not in (*TYPES, *EDGE_TYPES):
        raise _wrong(name, f"unknown type {kind!r}; use one of {known_types()}")
    return str(kind)


def _one_domain(name: str, settings: Mapping[str, object]) -> str:
    given = [setting for setting in ("values", "edges") if setting in settings]
    if len(given) != 1:
        both = "both values and edges are given; keep one of them"
        none = "the values are missing; add values = […], or edges = […] for bins"
        raise _wrong(name, both if given else none)
    if not isinstance(settings[given[0]], list | tuple):
        raise _wrong(name, f"{given[0]} = {settings[given[0]]!r} is not a list")
    return given[0]


def _values(name: str, kind: str, listed: object) -> tuple[Value, ...]:
    if kind not in TYPES:
        raise _wrong(name, f"type {kind!r} needs bins; write edges = […] in place of values")
    for item in cast(Sequence[object], listed):
        if type(item) is not TYPES[kind]:
            raise _wrong(name, f"{item!r} is not of type {kind!r}{_hint(kind, item)}")
    return tuple(cast(Sequence[Value], listed))


def _hint(kind: str, item: object) -> str:
    if item is None:
        return '; for empty cells write null = "value"'
    if kind == "text":
        return "; put it between quotes"
    kinds = [k for k, t in TYPES.items() if type(item) is t]
    return f"; it is of type {kinds[0]!r}" if kinds else ""


def _bins(name: str, kind: str, listed: object) -> tuple[Bin, ...]:
    edges = _edges(name, kind, listed)
    try:
        return bins(edges)
    except SchemaError as error:
        raise _wrong(name, str(error)) from None


def _edges(name: str, kind: str, listed: object) -> tuple[Edge, ...]:
    if kind not in EDGES:
        raise _wrong(name, f"type {kind!r} has no bins; edges are for {', '.join(EDGES)}")
    edges = cast(Sequence[Edge], listed)
    for edge in edges:
        endless = kind != "date" and type(edge) is float and math.isinf(edge)
        if type(edge) not in EDGES[kind] and not endless:
            raise _wrong(name, f"the edge {edge!r} is not of type {kind!r}")
    return tuple(edges)


def _policy(name: str, settings: Mapping[str, object], setting: str, alternative: str) -> bool:
    choice = settings.get(setting, "error")
    if choice not in ("error", alternative):
        raise _wrong(name, f'{setting} = {choice!r} is unknown; use "error" or "{alternative}"')
    return choice != "error"


def _other(name: str, settings: Mapping[str, object], values: tuple[Value, ...]) -> Value:
    wanted = _policy(name, settings, "unseen", "other")
    if wanted != ("other" in settings):
        missing = "which value unseen ones become is missing; add other = …, one of the values"
        idle = 'other is only used with unseen = "other"; add that, or remove other'
        raise _wrong(name, missing if wanted else idle)
    return _listed(name, settings["other"], values) if wanted else None


def _listed(name: str, other: object, values: tuple[Value, ...]) -> Value:
    sought = list(other) if isinstance(other, tuple) else other
    for candidate in values:
        wanted = [candidate.low, candidate.high] if isinstance(candidate, Bin) else candidate
        if type(sought) is type(wanted) and sought == wanted:
            return candidate
    what = "the two edges of a bin" if any(isinstance(v, Bin) for v in values) else "one of the values"
    raise _wrong(name, f"other = {other!r} is not {what}")


def _check_order(attribute: Attribute) -> None:
    """A schema has no place to say that null is in the middle, or that bins overlap."""
    values = attribute.values
    plain = values[:-1] if values[-1] is None else values
    if None in plain:
        raise _wrong(attribute.name, "null must be the last of its values")
    if attribute.edges and plain != bins(_edges(attribute.name, attribute.kind, attribute.edges)):
        raise _wrong(attribute.name, f"its bins {shorten(attribute.labels)} do not follow each other")


def _list(name: str, items: list[str]) -> str:
    short = f"{name} = [{', '.join(items)}]"
    return short if len(short) <= LINE else f"{name} = [\n" + "".join(f"  {i},\n" for i in items) + "]"


def _wrong(name: object, what: str) -> SchemaError:
    return SchemaError(f"schema, column {name!r}: {what}")
