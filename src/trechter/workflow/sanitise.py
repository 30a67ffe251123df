"""Sanitise: the rows of a table through a protocol into a file, rows in place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trechter.model.files import write_atomically
from trechter.model.protocol import Protocol
from trechter.model.randomness import randomness
from trechter.tables import open_table

INSECURE = "This file was drawn from a seed that can be guessed. It is for tests; it protects nobody. Do not give it away.\n"


def sanitise_file(
    table: Any, protocol: Protocol, out: str | Path, insecure_seed: int | None = None
) -> tuple[int, tuple[str, ...], bool]:
    """Write the sanitised rows; how many, which columns were left out, and whether the randomness was secure."""
    random, kernel, source = randomness(None, insecure_seed), protocol.kernel(), open_table(table)
    reads, columns, mark = protocol.input_attributes, protocol.columns(), Path(f"{out}.INSECURE")
    if not random.secure:
        write_atomically(mark, INSECURE)  # before the file, so that it never stands there without its mark
    try:
        rows = source.sanitise_to(Path(out), reads, lambda codes: kernel(codes, random), columns)
    except BaseException:
        if not Path(out).exists():  # if a file is there, it may be the one that was marked before
            mark.unlink(missing_ok=True)
        raise
    if random.secure:
        mark.unlink(missing_ok=True)
    return rows, source.dropped([a.name for a in reads]), random.secure
