"""`COUNTS.csv`: the secret and released columns, then the count of each combination that occurs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Protocol as Shape

import numpy as np

from trechter.alphabet import Attribute
from trechter.alphabet.attribute import shorten
from trechter.errors import JointError, reason
from trechter.exact import as_fraction
from trechter.model.joint import Joint


def counts_csv(joint: Joint) -> str:
    """The counts of a joint as text."""
    attributes = (*joint.secret, *joint.release)
    text = io.StringIO()
    returns = any("\r" in label for a in attributes for label in (a.name, *a.labels))  # which csv forgets to quote
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL)
    writer.writerow([*(a.name for a in attributes), "count"])
    for labels, count in zip(product(*(a.labels for a in attributes)), joint.counts.ravel(), strict=True):
        if count:
            writer.writerow([*labels, count])
    return text.getvalue()


class Columns(Shape):
    """Anything that has secret and released columns: a protocol, a ledger."""

    @property
    def secret(self) -> tuple[Attribute, ...]: ...

    @property
    def release(self) -> tuple[Attribute, ...]: ...


def read_counts(path: str | Path, columns: Columns) -> Joint:
    """The joint of a counts file, in the order of values that a protocol was made for."""
    attributes = (*columns.secret, *columns.release)
    rows = _rows(path)
    header = next(rows, [])
    names = [*(a.name for a in attributes), "count"]
    missing = [name for name in names if name not in header]
    if missing:
        raise JointError(f"{path} has no column {missing[0]!r}; it has {shorten(header) or 'none'}")
    places = [*map(header.index, names[:-1]), len(header) - 1 - header[::-1].index("count")]
    counts = np.full([len(a) for a in attributes], Fraction(0), object)
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise JointError(f"{path}, line {number}: {len(row)} fields where the header has {len(header)}")
        *labels, count = (row[place] for place in places)
        counts[_cell(attributes, labels, f"{path}, line {number}")] += _number(count, f"{path}, line {number}")
    small = all(v.denominator == 1 for v in counts.ravel()) and counts.sum() < 2**53
    flat = (counts.astype(np.int64) if small else counts).reshape(-1, *(len(a) for a in columns.release))
    return Joint(flat, secret=columns.secret, release=columns.release)


def _rows(path: str | Path) -> Iterator[list[str]]:
    try:
        csv.field_size_limit(2**31 - 1)
        with open(path, encoding="utf-8-sig", newline="") as file:
            return iter(list(csv.reader(file, strict=True)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise JointError(f"cannot read {path}: {reason(error)}") from None


def _cell(attributes: Sequence[Attribute], labels: Sequence[str], place: str) -> tuple[int, ...]:
    for attribute, label in zip(attributes, labels, strict=True):
        if label not in attribute.labels:
            raise JointError(f"{place}: {label!r} is not a value of {attribute.name!r}; those are {shorten(attribute.labels)}")
    return tuple(a.labels.index(label) for a, label in zip(attributes, labels, strict=True))


def _number(text: str, place: str) -> Fraction:
    try:
        return as_fraction(text)
    except ValueError:
        raise JointError(f"{place}: the count {text!r} is not a number") from None
