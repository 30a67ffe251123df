"""`trechter schema`: draft the schema of a table, to be checked by someone who knows it."""

from __future__ import annotations

import click

from trechter.alphabet import Schema
from trechter.cli import options as o
from trechter.cli.console import Outcome
from trechter.model.files import check_apart, write_atomically
from trechter.tables import open_table


@click.command(no_args_is_help=True, short_help="Draft a schema from the data.")
@o.source
@click.option("--columns", multiple=True, help="Only these columns: A,B or repeated.")
@click.option("--out", metavar="FILE", help="The file to write; without it the draft is printed.")
@o.machine
def schema(input: str, columns: tuple[str, ...], out: str | None, as_json: bool) -> None:
    """Draft a schema from the data; check every value before you declare it."""
    if out is not None:
        check_apart(out, input)
    table = open_table(input)
    names = o.columns_of(columns, input) if columns else list(table.columns)
    draft = Schema(tuple(table.infer(names)), "inferred").dump()
    if out is None:
        raise Outcome({"schema": draft}, draft.rstrip("\n"))
    write_atomically(out, draft)
    raise Outcome({"out": out, "columns": names}, f"Drafted {out}; check every value in it, then use --schema {out}.")
