"""An attribute: the name of a column and the values that it may take, in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from trechter.alphabet.values import EDGE_TYPES, TYPES, Bin, Edge, Value, bins, from_json, label, to_json
from trechter.errors import SchemaError


@dataclass(frozen=True)
class Attribute:
    """A column's domain. `other` is the value that stands for all unseen ones; without it they are errors."""

    name: str
    values: tuple[Value, ...]
    kind: str = "text"
    other: Value = field(default=None)

    def __post_init__(self) -> None:
        if self.kind not in (*TYPES, *EDGE_TYPES):
            raise SchemaError(f"attribute {self.name!r}: unknown type {self.kind!r}; use {known_types()}")
        if not self.values:
            raise SchemaError(f"attribute {self.name!r} has no values")
        for value in self.values:
            self._check_type(value)
        if len(set(self._keys)) < len(self.values):
            raise SchemaError(f"attribute {self.name!r} lists {_first_repeat(self._keys)[1]!r} twice")
        if self.other is not None and _key(self.other) not in self._keys:
            raise SchemaError(f"attribute {self.name!r}: its catch-all {self.other!r} is not a value")

    @classmethod
    def binned(cls, name: str, edges: Sequence[Edge], kind: str = "integer", null: bool = False) -> Attribute:
        """An attribute of bins between public edges."""
        return cls(name, bins(tuple(edges)) + ((None,) if null else ()), kind)

    @classmethod
    def of(cls, name: str, values: Iterable[object]) -> Attribute:
        """An attribute whose type is that of its values; arrays and their scalars are welcome."""
        plain = tuple(v.item() if hasattr(v, "item") else v for v in values)
        kinds = {type(v) for v in plain if v is not None}
        names = [n for n, t in TYPES.items() if kinds <= {t}]
        if not names and kinds <= {Bin}:
            names = [_bin_type(plain)]
        if not names:
            shown = ", ".join(sorted(k.__name__ for k in kinds))
            raise SchemaError(f"attribute {name!r} mixes or has unsupported types ({shown}); use {known_types()}, or bins")
        return cls(name, plain, names[0])  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def edges(self) -> tuple[Edge, ...] | None:
        """The public edges if the values are bins."""
        found = [v for v in self.values if isinstance(v, Bin)]
        return (*(b.low for b in found), found[-1].high) if found else None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The values as people read them, all different."""
        shown = [label(v) for v in self.values]
        while len(set(shown)) < len(shown):  # a text that reads like the null
            shown[self.values.index(None)] = f"({shown[self.values.index(None)]})"
        return tuple(shown)

    def code(self, value: Value) -> int:
        """The position of a value; the catch-all's for an unseen one, if there is a catch-all."""
        try:
            return self._codes[_key(value)]
        except KeyError:
            if self.other is not None and value is not None:
                return self._codes[_key(self.other)]
            raise SchemaError(f"{value!r} is not a value of {self.name!r}; its values are {shorten(self.labels)}") from None

    def to_json(self) -> dict[str, object]:
        """JSON form."""
        values = [to_json(v) for v in self.values]
        data: dict[str, object] = {"name": self.name, "type": self.kind, "values": values}
        return data | ({} if self.other is None else {"other": to_json(self.other)})

    @classmethod
    def from_json(cls, data: object) -> Attribute:
        """Inverse of `to_json`."""
        match data:
            case {"name": str(name), "type": str(kind), "values": [*values], **rest}:
                other = from_json(rest.get("other"))
                return cls(name, tuple(from_json(v) for v in values), kind, other)
        raise SchemaError(f"{data!r} is not an attribute: it needs a name, a type and a list of values")

    @cached_property
    def _keys(self) -> tuple[tuple[type, Value], ...]:
        return tuple(_key(v) for v in self.values)

    @cached_property
    def _codes(self) -> dict[tuple[type, Value], int]:
        return {key: code for code, key in enumerate(self._keys)}

    def _check_type(self, value: Value) -> None:
        if value is None or (isinstance(value, Bin) and self.kind in EDGE_TYPES):
            return
        if type(value) is not TYPES.get(self.kind):
            raise SchemaError(f"attribute {self.name!r} is declared {self.kind}, but has the value {value!r}")


def known_types() -> str:
    """The type names, for messages."""
    return ", ".join(dict.fromkeys((*TYPES, *EDGE_TYPES)))


def shorten(items: Sequence[str], most: int = 12) -> str:
    """The first items of a list, for messages."""
    rest = len(items) - most
    return ", ".join(map(repr, items[:most])) + (f", and {rest} more" if rest > 0 else "")


def _key(value: Value) -> tuple[type, Value]:
    # True == 1 in Python, but they are two values.
    return type(value), value


def _first_repeat(keys: Sequence[tuple[type, Value]]) -> tuple[type, Value]:
    seen: set[tuple[type, Value]] = set()
    return next(k for k in keys if k in seen or seen.add(k))  # type: ignore[func-returns-value]


def _bin_type(values: tuple[object, ...]) -> str:
    lows = {type(v.low) for v in values if isinstance(v, Bin)}
    if lows <= {int}:
        return "integer"
    return "number" if lows <= {int, float} else "date"
