"""`trechter verify`: does a saved protocol keep its promise?"""

from __future__ import annotations

import click

from trechter.cli import options as o
from trechter.cli.console import DONE, NO, Outcome, wide
from trechter.model.certificate import Certificate
from trechter.report.numbers import at_most
from trechter.workflow import verify as verify_protocol


@click.command(no_args_is_help=True, short_help="Decide whether a protocol keeps its promise.")
@click.argument("protocol")
@click.option("--counts", metavar="FILE", help="The counts it was made for (steward/counts.csv).")
@click.option("--input", metavar="FILE", help="A table to count instead.")
@click.option("--notion", help="Another notion than the one promised; needs --epsilon.")
@click.option("--epsilon", help="Another level than the one promised; needs --notion.")
@o.machine
def verify(
    protocol: str, counts: str | None, input: str | None, notion: str | None, epsilon: str | None, as_json: bool
) -> None:
    """Decide in exact arithmetic; exit 0 it holds, 1 it does not, 2 cannot say."""
    asked = o.notion_if_asked(notion, epsilon, "to verify what the protocol promises")
    verdict = verify_protocol(protocol, counts=counts, table=input, notion=asked)
    raise Outcome(found(verdict), wide(sentence(verdict)), DONE if verdict.holds else NO)


def found(verdict: Certificate) -> dict[str, object]:
    """The verdict for machines."""
    return verdict.to_json(steward=True) | {"holds": verdict.holds}


def sentence(verdict: Certificate) -> str:
    """The verdict in words."""
    word = "holds" if verdict.holds else "does NOT hold"
    return f"{verdict.notion} {word}: the level is {at_most(verdict.level, 9)} (rounded up)."
