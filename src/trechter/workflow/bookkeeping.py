"""What a steward does with a ledger: start it, add a release to it, look at it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trechter.alphabet.schema import Source
from trechter.audit.together import Level
from trechter.errors import LedgerError, RequestError
from trechter.model.counts_file import read_counts
from trechter.model.joint import Joint
from trechter.model.protocol import Protocol
from trechter.privacy import Notion
from trechter.workflow.ledger import Entry, Ledger
from trechter.workflow.verify import joint_of


def start_ledger(
    path: str | Path,
    limit: Notion,
    *,
    counts: str | Path | None = None,
    protocol: str | Path | None = None,
    table: Any = None,
    secret: Sequence[str] = (),
    release: Sequence[str] = (),
    schema: Source | None = None,
    weight: str | None = None,
) -> Ledger:
    """A new ledger: for columns of a table, or for the counts of a release that was made already, beside its protocol."""
    _check_one(counts, table)
    if table is not None:
        joint = Joint.from_table(table, secret=secret, release=release, schema=schema, weight=weight)
    else:
        joint = read_counts(str(counts), Protocol.load(protocol or beside(str(counts))))
    ledger = Ledger.new(joint, limit)
    ledger.save(path)
    return ledger


def add_to_ledger(
    path: str | Path,
    protocol: str | Path,
    *,
    counts: str | Path | None = None,
    table: Any = None,
    weight: str | None = None,
    again: bool = False,
    recount: bool = False,
) -> tuple[Ledger, Entry]:
    """The ledger with one more entry, saved; nothing is written if it would pass the limit."""
    _check_one(counts, table)
    drawn = Protocol.load(protocol)
    with Ledger.open(path) as ledger:
        joint = counted_for(ledger, counts, table, weight)
        entry = ledger.add(drawn, joint, source=str(protocol), again=again, recount=recount)
        ledger.save(path)
    return ledger, entry


def judge_ledger(
    path: str | Path, *, counts: str | Path | None = None, table: Any = None, weight: str | None = None
) -> tuple[Ledger, Level | None]:
    """The ledger, and the level of everything in it judged anew if counts are given, whatever the ledger says of it."""
    ledger = Ledger.load(path)
    if counts is None and table is None:
        return ledger, None
    _check_one(counts, table)
    return ledger, ledger.judge(counted_for(ledger, counts, table, weight))


def counted_for(ledger: Ledger, counts: str | Path | None, table: Any, weight: str | None = None) -> Joint:
    """The counts of the columns that a ledger is about."""
    return read_counts(counts, ledger) if counts is not None else joint_of(table, ledger, weight)


def beside(counts: str | Path) -> Path:
    """The protocol of a release, seen from its counts: release/protocol.json and release/steward/counts.csv."""
    place = Path(counts).resolve().parent
    for folder in (place, place.parent):
        if (folder / "protocol.json").exists():
            return folder / "protocol.json"
    raise LedgerError(
        f"there is no protocol.json beside {counts}, so the values of its columns are not known: name the file with --protocol"
    )


def _check_one(counts: str | Path | None, table: Any) -> None:
    if (counts is None) == (table is None):
        raise RequestError("give either the counts or the table that the ledger is about: --counts or --input")
