"""`trechter verify`: does a saved protocol keep its promise?"""

from __future__ import annotations

from typing import Any

import click

from trechter.cli import options as o
from trechter.cli.console import DONE, NO, Outcome, wide
from trechter.model.certificate import Certificate
from trechter.report.numbers import at_least, at_most, count
from trechter.workflow import verify as verify_protocol


@click.command(no_args_is_help=True, short_help="Decide whether a protocol keeps its promise.")
@click.argument("protocol")
@click.option("--counts", metavar="FILE", help="The counts it was made for (steward/counts.csv).")
@click.option("--input", "table", metavar="FILE", help="A table to count instead.")
@click.option("--notion", help="Another notion than the one promised; needs --epsilon.")
@click.option("--epsilon", help="Another level than the one promised; needs --notion.")
@o.robust
@click.option("--since", metavar="FILE", help="Older counts: does a promise for the set around them cover the new ones?")
@o.machine
def verify(protocol: str, as_json: bool, **asked: Any) -> None:
    """Decide in exact arithmetic; exit 0 it holds, 1 it does not, 2 cannot say.

    A promise for a set of distributions is judged for the set around the counts given, or with --since around older ones.
    """
    robust = asked.pop("robust")
    over = None if robust is None else o.around(robust)
    notion = o.notion_if_asked(asked.pop("notion"), asked.pop("epsilon"), "to verify what the protocol promises")
    verdict = verify_protocol(protocol, **asked, notion=notion, over=over)
    raise Outcome(found(verdict), wide(sentence(verdict)), DONE if holds(verdict) else NO)


def holds(verdict: Certificate) -> bool:
    """The answer: the verdict, and if older counts were given, that it covers the new ones."""
    drift = verdict.facts.get("drift")
    return verdict.holds if drift is None else bool(drift["covered"])


def found(verdict: Certificate) -> dict[str, object]:
    """The verdict for machines."""
    return verdict.to_json(steward=True) | {"holds": holds(verdict)}


def sentence(verdict: Certificate) -> str:
    """The verdict in words."""
    word, drift = "holds" if verdict.holds else "does NOT hold", verdict.facts.get("drift")
    known = verdict.facts.get("set")
    where = "" if known is None else f" {known['formula']} around the {count(verdict.facts['n'] or 0)} rows"
    said = f"{verdict.notion} {word}{where}: the level is {at_most(verdict.level, 9)} (rounded up)."
    return said if drift is None else f"{said} {_drifted(verdict.holds, drift)}"


def _drifted(kept: bool, drift: dict[str, Any]) -> str:
    """Whether the new counts are where the promise holds."""
    if not kept:
        return "So it covers no new rows."
    rows, radius, far = count(drift["n"] or 0), drift["radius"], float(drift["distance"])
    if drift["covered"]:
        return f"The {rows} new rows are among them, at a distance of {at_most(far)}: it covers them as they are."
    return (
        f"The {rows} new rows are NOT among them: their distance is {at_least(far)}, more than {at_most(radius)}. Without "
        "--since the promise is judged anew, around the new rows."
    )
