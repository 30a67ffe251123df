"""`trechter design`: the optimal protocol for a table, saved for later use."""

from __future__ import annotations

from typing import Any

import click

from trechter.cli import options as o
from trechter.cli.console import Outcome, stages, wide
from trechter.measures import MutualInformation, TaskInformation
from trechter.model.joint import Joint
from trechter.optimal import design as design_for


@click.command(no_args_is_help=True)
@o.source
@o.roles
@o.level
@click.option("--out", default="protocol.json", show_default=True, help="The protocol file to write.")
@o.domains
@o.solving
@o.machine
def design(input: str, out: str, as_json: bool, **asked: Any) -> None:
    """Find the protocol of most utility that keeps the promise, and save it."""
    notion = o.notion_of(asked.pop("notion"), asked.pop("epsilon"))
    schema = o.schema_of(asked.pop("schema"), asked.pop("infer_schema"))
    roles = {role: o.columns_of(asked.pop(role), input) for role in ("secret", "release")}
    task, weight = asked.pop("task"), asked.pop("weight")
    with stages(as_json) as tell:
        tell("counting")
        joint = Joint.from_table(input, **roles, schema=schema, task=task, weight=weight)
        tell("designing")
        measure = TaskInformation() if task else MutualInformation()
        result = design_for(joint, notion, measure=measure, **asked)
        result.protocol.save(out)
    data = {"out": out, "notion": str(notion), "holds": result.certificate.holds, "utility": result.utility}
    data |= {"bound": result.bound, "gap": result.gap, "status": result.status, "solver": result.solver}
    data |= {"seconds": result.seconds, "stats": result.stats, "hash": result.protocol.digest}
    raise Outcome(data, wide(f"Saved {out}, certified {notion}: {result!r}"))
