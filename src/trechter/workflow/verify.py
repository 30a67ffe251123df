"""Verify: does a saved protocol keep its promise for these counts, or for the rows of this table?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trechter.audit import certify
from trechter.errors import RequestError
from trechter.model.certificate import Certificate
from trechter.model.counts_file import Columns, read_counts
from trechter.model.joint import Joint
from trechter.model.protocol import Protocol
from trechter.privacy import Notion


def verify(
    protocol: str | Path, *, counts: str | Path | None = None, table: Any = None, notion: Notion | None = None
) -> Certificate:
    """The verdict on the protocol's own promise, or on another notion."""
    if (counts is None) == (table is None):
        raise RequestError(
            "give either the counts or the table that the protocol is to be verified against: --counts or --input"
        )
    loaded = Protocol.load(protocol)
    return certify(loaded, read_counts(counts, loaded) if counts is not None else joint_of(table, loaded), notion)


def joint_of(table: Any, columns: Columns, weight: str | None = None) -> Joint:
    """The counts of a table, over the values that a protocol was made for."""
    secret, release = ([a.name for a in role] for role in (columns.secret, columns.release))
    return Joint.from_table(table, secret=secret, release=release, schema=columns.secret + columns.release, weight=weight)
