"""`trechter ledger`: the releases of one table, and what they tell together."""

from __future__ import annotations

from typing import Any

import click

from trechter.audit import holds
from trechter.audit.together import Level
from trechter.cli import options as o
from trechter.cli.console import DONE, NO, Outcome, wide
from trechter.errors import RequestError
from trechter.workflow.bookkeeping import add_to_ledger, judge_ledger, start_ledger
from trechter.workflow.ledger import CAVEAT, Entry, Ledger, shown, words

counted = o.group(
    click.option("--counts", metavar="FILE", help="The counts (steward/counts.csv)."),
    click.option("--input", "table", metavar="FILE", help="The table, to be counted."),
)
weight = click.option("--weight", metavar="COLUMN", help="Survey weights of the table.")
file = click.argument("file", metavar="LEDGER")


@click.group(no_args_is_help=True, short_help="Keep all releases of a table under a limit.")
def ledger() -> None:
    """Keep all releases of a table under one limit.

    Levels of several releases do not add up: what they tell together is computed exactly, and a release that would pass the
    limit is refused (exit 1).
    """


@ledger.command(no_args_is_help=True)
@file
@o.level
@counted
@click.option("--protocol", metavar="FILE", help="With --counts: a protocol of these columns; by default the one beside them.")
@click.option("--secret", multiple=True, help="With --input: the column to protect.")
@click.option("--release", multiple=True, help="With --input: every column that may ever be released.")
@o.domains
@weight
@o.machine
def new(file: str, notion: str, epsilon: str, as_json: bool, **asked: Any) -> None:
    """Start a ledger: its columns and its limit."""
    made = start_ledger(file, o.notion_of(notion, epsilon), **_columns(asked))
    raise Outcome(_data(made), wide(f"Started {file}.\n{_about(made)}"))


@ledger.command(no_args_is_help=True)
@file
@click.argument("protocol")
@counted
@weight
@click.option("--again", is_flag=True, help="The protocol is in the ledger already, and was drawn from once more.")
@click.option("--recount", is_flag=True, help="The counts have new rows: judge everything anew for them.")
@o.machine
def add(file: str, protocol: str, as_json: bool, **asked: Any) -> None:
    """Enter a release by its protocol."""
    made, entry = add_to_ledger(file, protocol, **asked)
    found = _data(made) | {"entry": len(made.entries)}
    raise Outcome(found, wide("\n".join([f"Entered in {file}.", _line(len(made.entries), entry), _sum(made), CAVEAT])))


@ledger.command(no_args_is_help=True)
@file
@counted
@weight
@o.machine
def show(file: str, as_json: bool, **asked: Any) -> None:
    """List what is in a ledger.

    With counts or a table everything is judged anew: exit 1 if it passes the limit.
    """
    made, level = judge_ledger(file, **asked)
    lines = [_about(made), *(_line(k, entry) for k, entry in enumerate(made.entries, start=1)), _sum(made)]
    if level is None:
        raise Outcome(_data(made), wide("\n".join([*lines, CAVEAT])))
    kept = holds(level.worst, made.limit.epsilon)
    lines.append(f"Judged anew for these counts: {words(level)}, {'within' if kept else 'ABOVE'} the limit.")
    raise Outcome(_data(made) | {"anew": shown(level), "holds": kept}, wide("\n".join([*lines, CAVEAT])), DONE if kept else NO)


def _columns(asked: dict[str, Any]) -> dict[str, Any]:
    """Roles and schema where a table is to be counted; none of them with counts."""
    if asked["table"] is None:
        refuse = ("secret", "release", "schema", "infer_schema", "weight") if asked["counts"] else ()
        o.refuse(asked, refuse, "the columns are those of the counts; leave out")
        return {name: value for name, value in asked.items() if name not in ("schema", "infer_schema")}
    o.refuse(asked, ("protocol",), "the columns are those of the table; leave out")
    if not asked["secret"] or not asked["release"]:
        raise RequestError("name the --secret of the table, and with --release every column that may ever be released")
    return asked | o.counted_of(asked, asked["table"])


def _data(made: Ledger) -> dict[str, Any]:
    """The ledger for machines, without the protocols."""
    rows = [{k: v for k, v in entry.to_json().items() if k != "protocol"} for entry in made.entries]
    columns = {"secret": [a.name for a in made.secret], "release": [a.name for a in made.release], "n": made.n}
    total = shown(made.entries[-1].together if made.entries else Level(made.level_exact))
    return made.limit.to_json() | columns | {"entries": rows} | total | {"warning": CAVEAT}


def _about(made: Ledger) -> str:
    secret, release = (", ".join(a.name for a in role) for role in (made.secret, made.release))
    rows = "" if made.n is None else f", {made.n:,} rows"
    return f"Limit {made.limit} about {secret}, for all releases of {release}{rows}."


def _line(number: int, entry: Entry) -> str:
    columns, date = ", ".join(entry.reads), entry.date[:10]
    alone, together = words(entry.alone), words(entry.together)
    return f"{number}. {date} {entry.source} ({columns}): {alone}; with all before it {together}."


def _sum(made: Ledger) -> str:
    if not made.entries:
        return "Nothing was released yet."
    return f"Together: {words(made.entries[-1].together)}, limit {made.limit}."
