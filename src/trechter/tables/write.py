"""Writing a released table: under a temporary name beside its place, then renamed, so that a file is whole or absent."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from trechter.errors import OutputError, reason
from trechter.tables import csv, parquet

Writer = Callable[[Path, Iterator[pl.DataFrame], str], None]

WRITERS: dict[str, Writer] = {
    **dict.fromkeys(csv.SUFFIXES, csv.write),
    **dict.fromkeys(parquet.SUFFIXES, parquet.write),
}


def writer(path: Path) -> Writer:
    """Who writes a file of this name."""
    for suffix, write in WRITERS.items():
        if path.name.lower().endswith(suffix):
            return write
    raise OutputError(f"cannot write {path}: its name must end in {', '.join(WRITERS)}")


def check_place(path: Path, source: Path | None) -> None:
    """Refuse, before any work is done, a place that cannot take a file."""
    writer(path)
    with writing(path):
        if not path.parent.is_dir():
            raise OutputError(f"cannot write {path}: there is no folder {path.parent}")
        if path.is_dir():
            raise OutputError(f"cannot write {path}: it is a folder")
        if source is not None and path.exists() and path.samefile(source):
            raise OutputError(f"cannot write {path}: it is the table that is being read; choose another name")


def write(path: Path, parts: Iterator[pl.DataFrame]) -> None:
    """Write record batches; whatever interrupts it, nothing is left behind."""
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(8)}.part")
    with writing(path):
        try:
            writer(path)(temporary, parts, path.name)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Says which place could not be written, and why."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        raise OutputError(f"cannot write {path}: {reason(error)}") from error
