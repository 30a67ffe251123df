"""`trechter publish`: a table in, a certified release out."""

from __future__ import annotations

from typing import Any

import click

from trechter.cli import options as o
from trechter.cli.console import Outcome, note, stages, wide
from trechter.measures import MutualInformation, TaskInformation
from trechter.model.protocol import left_out
from trechter.model.spec import Spec
from trechter.report.facts import Facts
from trechter.report.numbers import at_most
from trechter.report.release import Release
from trechter.report.words import guarantee, sampled
from trechter.workflow import publish as publish_table
from trechter.workflow.ledger import CAVEAT


@click.command(no_args_is_help=True, short_help="Publish a table row by row, one column secret.")
@o.source
@o.roles
@o.level
@o.robust
@click.option("--out", required=True, metavar="FOLDER", help="The folder for the release.")
@o.domains
@click.option("--order", default="shuffle", show_default=True, help="shuffle; or keep, which gives away what the order tells.")
@click.option("--overwrite", is_flag=True, help="Replace a former release that was never given away.")
@click.option("--ledger", metavar="FILE", help="Enter the release in this ledger; refused if it would pass its limit.")
@click.option("--recount", is_flag=True, help="The table has new rows: judge the whole ledger anew for its counts.")
@o.solving
@o.seed
@o.machine
def publish(input: str, out: str, as_json: bool, **asked: Any) -> None:
    """Publish a table row by row while one column stays secret."""
    notion = o.notion_of(asked.pop("notion"), asked.pop("epsilon"), o.robust_of(asked))
    counted = o.counted_of(asked, input)
    with stages(as_json) as tell:
        options = o.solver_of(asked, tell)
        made = publish_table(input, **counted, notion=notion, out=out, tell=tell, **options)
    remark(made)
    raise Outcome(released(made, out), wide(story(made, out)))


def remark(made: Release) -> None:
    """What whoever releases should know, on standard error."""
    facts = Facts(made)
    if made.dropped:
        note(left_out(made.dropped))
    if made.tells_counts:
        exactly = "privacy is perfect, so protocol.json discloses the counts exactly"
        note(f"warning: {exactly}; keep it to yourself if a count says who is meant")
    if made.thin_cells and facts.spec.over is None:
        thin = f"combinations that were counted fewer than five times: {made.thin_cells}"
        note(f"warning: {thin}; the population may differ from them")
    sample = made.certificate.facts.get("worst_case")
    if sample and not sample.get("survives"):
        note(f"warning: {sampled(facts)}" + " --robust 0.05 designs for that." * ("level" in sample))


def released(made: Release, out: str) -> dict[str, Any]:
    """The release for machines."""
    result = made.result
    facts = {"out": out, "released": made.file, "rows": int(made.drawn.sum()), "outputs": len(made.drawn)}
    found = {"utility": result.utility, "bound": result.bound, "gap": result.gap, "status": result.status}
    cost = {"solver": result.solver, "seconds": result.seconds, "secure": made.certificate.facts["secure"]}
    cost |= {name: made.certificate.facts[name] for name in ("ledger", "worst_case") if name in made.certificate.facts}
    return facts | {"notion": str(made.certificate.notion), "holds": made.certificate.holds} | found | cost


def story(made: Release, out: str) -> str:
    """The release in words."""
    lines = [
        f"Released {int(made.drawn.sum())} rows in {out}/{made.file}, certified {made.certificate.notion}.",
        *guarantee(Facts(made)),
        _worth(made),
        *_booked(made),
        f"For readers: {made.file}, protocol.json, certificate.json, codebook.md. For you alone: steward/report.html.",
    ]
    return "\n".join(lines)


def _booked(made: Release) -> list[str]:
    found = made.certificate.facts.get("ledger")
    if found is None:
        return []
    limit, level = Spec.from_json(found["limit"]), at_most(found["level"], 6)
    return [f"Entry {found['entry']} of the ledger: everything in it comes to level {level}, limit {limit}. {CAVEAT}"]


def _worth(made: Release) -> str:
    result, measure = made.result, made.result.measure
    if measure.symbol in (MutualInformation.symbol, TaskInformation.symbol):
        share = result.utility / max(made.information, 1e-300)
        kept = f"{share:.1%} of the information ({result.utility:.4g} of {made.information:.4g} nats)"
        return f"The release keeps {kept}; no protocol can keep more than {result.gap:.1g} nats above that."
    side = "less" if measure.less_is_better else "more"
    return f"Its {measure.symbol} is {result.utility:.4g}; no protocol can have {side} than {result.gap:.1g} beyond that."
