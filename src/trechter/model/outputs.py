"""What an output of a protocol says: a value, a set of values, or a mixture ("one of these, with these odds").

A value of several attributes is a tuple. The JSON form keeps the three apart; the label is what stands in a released table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from trechter.alphabet.values import Value, from_json, label, to_json
from trechter.errors import ProtocolError

Input = Value | tuple[Value, ...]


@dataclass(frozen=True)
class ValueSet:
    """A subset of the values, as unary encodings report."""

    values: tuple[Input, ...]

    @property
    def label(self) -> str:
        """The set as it stands in a released table."""
        return "{" + ", ".join(map(show, self.values)) + "}"


@dataclass(frozen=True)
class Mixture:
    """The true value is one of `values`, with posterior probabilities `odds`; values below one in a million are left out."""

    values: tuple[Input, ...]
    odds: tuple[float, ...]
    label: str


Cell = Input | ValueSet | Mixture
Output = Cell | tuple[Cell, ...]  # a tuple has one cell for each released column


def show(output: Output) -> str:
    """An output as it stands in a released table of one column."""
    if isinstance(output, ValueSet | Mixture):
        return output.label
    return " · ".join(map(show, output)) if isinstance(output, tuple) else label(output)


def cell(output: Output) -> Value:
    """The value that stands in a released column: plain values keep their type."""
    return show(output) if isinstance(output, ValueSet | Mixture | tuple) else output


def output_to_json(output: Output) -> object:
    """JSON form."""
    match output:
        case Mixture(values, odds, text):
            pairs = [[output_to_json(v), o] for v, o in zip(values, odds, strict=True)]
            return {"mixture": pairs, "label": text}
        case ValueSet(values):
            return {"set": [output_to_json(v) for v in values]}
        case tuple():
            return [output_to_json(v) for v in output]
    return to_json(output)


def output_from_json(data: object) -> Output:
    """Inverse of `output_to_json`."""
    match data:
        case {"mixture": [*pairs], "label": str(text)}:
            return Mixture(tuple(_input(p[0]) for p in pairs), tuple(float(p[1]) for p in pairs), text)
        case {"set": [*values]}:
            return ValueSet(tuple(map(_input, values)))
        case [*cells]:
            return tuple(cast(Cell, output_from_json(cell)) for cell in cells)
    return _input(data)


def _input(data: object) -> Input:
    if isinstance(data, list):
        return tuple(from_json(v) for v in data)
    if isinstance(data, dict) and not {"bin", "date"} & set(data):
        raise ProtocolError(f"{data!r} is not an output: expected a value, a set or a mixture")
    return from_json(data)
