"""Does each record of a CSV file have as many fields as its header?

A record ends at a line feed outside quotes, a field at a separator outside quotes, and a byte is inside quotes if an odd
number of quotes precedes it. So whole blocks of bytes are checked at once; only a file that fails is read line by
line, to say where. A record without fields is a blank line: harmless at the end, wrong anywhere else.
"""

from __future__ import annotations

import csv
from typing import IO

import numpy as np
from numpy.typing import NDArray

from trechter.errors import TableError

BLOCK = 1 << 20
QUOTE, NEWLINE = ord('"'), ord("\n")


def even_records(file: IO[bytes], separator: str, width: int, block: int = BLOCK) -> int | None:
    """The number of records, header included, if each has `width` fields; otherwise None."""
    total, rest = 0, b""
    while more := file.read(block):
        rest += more
        widths, used = _widths(rest, separator)
        if (widths != width).any() or len(rest) - used > 64 * BLOCK:
            return None
        total, rest = total + len(widths), rest[used:]
    widths, used = _widths(rest + b"\n" if rest else b"", separator)
    return None if (widths != width).any() or used < len(rest) else total + len(widths)


def _widths(block: bytes, separator: str) -> tuple[NDArray[np.intp], int]:
    """Fields of each complete record, and how many bytes those records take."""
    codes = np.frombuffer(block, np.uint8)
    marks = (codes == ord(separator)) | (codes == NEWLINE)
    if b'"' in block:
        marks &= np.cumsum(codes == QUOTE) & 1 == 0
    places = np.flatnonzero(marks)
    ends = np.flatnonzero(codes[places] == NEWLINE)
    return np.diff(ends, prepend=-1), int(places[ends[-1]]) + 1 if ends.size else 0


def records(file: IO[str], separator: str, width: int, what: str) -> int:
    """The number of records, header included; blank lines at the end are none."""
    total, blank = 0, 0
    reader = csv.reader(file, delimiter=separator)
    for row in reader:
        if not row:
            blank = blank or reader.line_num
            continue
        if blank and total:
            raise TableError(f"cannot read {what}: line {blank} is blank; remove it")
        if len(row) != width:
            raise TableError(
                f"cannot read {what}: line {reader.line_num} does not have {width} fields, like the header, but {len(row)}; "
                "a text that contains the separator needs quotes, and a last line that is short is a file cut short"
            )
        total, blank = total + 1, 0
    return total
