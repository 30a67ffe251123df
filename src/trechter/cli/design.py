"""`trechter design`: the optimal protocol for a table, saved for later use."""

from __future__ import annotations

from typing import Any

import click

from trechter.cli import options as o
from trechter.cli.console import Outcome, stages, wide
from trechter.workflow.design import design_for_table


@click.command(no_args_is_help=True, short_help="Find the optimal protocol and save it.")
@o.source
@o.roles
@o.level
@o.robust
@click.option("--out", default="protocol.json", metavar="FILE", show_default=True, help="The protocol file to write.")
@o.domains
@o.solving
@o.machine
def design(input: str, out: str, as_json: bool, **asked: Any) -> None:
    """Find the protocol of most utility that keeps the promise, and save it."""
    notion = o.notion_of(asked.pop("notion"), asked.pop("epsilon"), o.robust_of(asked))
    counted = o.counted_of(asked, input)
    with stages(as_json) as tell:
        result = design_for_table(input, out, notion, **counted, tell=tell, **o.solver_of(asked, tell))
    data = {"out": out, "notion": str(notion), "holds": result.certificate.holds, "utility": result.utility}
    data |= {"bound": result.bound, "gap": result.gap, "status": result.status, "solver": result.solver}
    data |= {"seconds": result.seconds, "stats": result.stats, "hash": result.protocol.digest}
    raise Outcome(data, wide(f"Saved {out}, certified {notion}: {result!r}"))
