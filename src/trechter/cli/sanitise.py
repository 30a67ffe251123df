"""`trechter sanitise`: run the rows of a table through a saved protocol."""

from __future__ import annotations

import click

from trechter.cli import options as o
from trechter.cli.console import Outcome, note, stages, wide
from trechter.model.protocol import Protocol, left_out
from trechter.workflow.sanitise import sanitise_file


@click.command(no_args_is_help=True, short_help="Run rows through a saved protocol.")
@o.source
@click.option("--protocol", required=True, metavar="FILE", help="The protocol (JSON).")
@click.option("--out", required=True, metavar="FILE", help="The file to write; its suffix says the format.")
@o.seed
@o.machine
def sanitise(input: str, protocol: str, out: str, insecure_seed: int | None, as_json: bool) -> None:
    """Sanitise rows in place: row i of the output comes from row i of the input."""
    with stages(as_json) as tell:
        tell("sanitising")
        rows, dropped, secure = sanitise_file(input, Protocol.load(protocol), out, insecure_seed=insecure_seed)
    if dropped:
        note(left_out(dropped))
    data = {"out": out, "rows": rows, "dropped": list(dropped), "secure": secure}
    raise Outcome(data, wide(f"Wrote {rows} rows to {out}."))
