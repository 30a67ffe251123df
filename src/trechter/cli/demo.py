"""`trechter demo`: a release of a synthetic survey, in a few seconds."""

from __future__ import annotations

import click

from trechter.cli import options as o
from trechter.cli.console import Outcome, stages, wide
from trechter.cli.publish import released, story
from trechter.workflow.demo import demonstrate


@click.command(short_help="Publish a synthetic survey.")
@click.option("--out", default="trechter-demo", metavar="FOLDER", show_default=True, help="The folder for the release.")
@o.machine
def demo(out: str, as_json: bool) -> None:
    """Publish a synthetic health survey while illness stays secret."""
    with stages(as_json) as tell:
        made = demonstrate(out, tell)
    first = "A synthetic survey of 20,000 people who do not exist: publish work and smoking, keep long-term illness secret.\n"
    raise Outcome(released(made, out), wide(first + story(made, out)))
