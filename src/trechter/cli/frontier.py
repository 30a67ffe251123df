"""`trechter frontier`: what each level of privacy costs."""

from __future__ import annotations

from typing import Any

import click

from trechter.cli import options as o
from trechter.cli.console import Outcome, stages
from trechter.measures import MutualInformation, entropy
from trechter.model.joint import Joint
from trechter.model.result import Result
from trechter.workflow.frontier import frontier_for_table

HEAD = f"{'ε':>8} {'utility':>11} {'best':>11} {'gap':>8}"


@click.command(no_args_is_help=True, short_help="Show what each level of privacy costs.")
@o.source
@o.roles
@click.option("--notion", default="lip", show_default=True, help=o.NOTION)
@click.option("--epsilon", multiple=True, required=True, help="The levels: A,B or repeated; decimals or fractions.")
@o.robust
@o.domains
@o.solving
@o.machine
def frontier(input: str, as_json: bool, **asked: Any) -> None:
    """Show what each of several levels of privacy leaves of the information."""
    notion = o.kind_of(asked.pop("notion"), o.robust_of(asked))
    levels = o.levels_of(asked.pop("epsilon"))
    counted = o.counted_of(asked, input)
    with stages(as_json) as tell:
        made = frontier_for_table(input, notion, levels, **counted, tell=tell, **o.solver_of(asked, tell))
    raise Outcome({"levels": [found(result) for result in made[1]]}, story(*made))


def found(result: Result) -> dict[str, Any]:
    """One level for machines."""
    promise, measure = result.certificate.notion, result.measure
    what = {"notion": str(promise), "epsilon": promise.level_text, "holds": result.certificate.holds}
    what |= {"measure": measure.symbol, "unit": measure.unit, "utility": result.utility, "bound": result.bound}
    return what | {"gap": result.gap, "status": result.status, "solver": result.solver, "seconds": result.seconds}


def story(joint: Joint, results: list[Result]) -> str:
    """A table: one line for each level."""
    measure, whole = results[0].measure, entropy(joint.p_x)
    shares = measure.symbol == MutualInformation.symbol and whole > 0
    lines = [_line(r) + (f" {r.utility / whole:>6.1%}" if shares else "") for r in results]
    what = f"utility: {measure.symbol}" + (f", in {measure.unit}" if measure.unit else "")
    best = "best: what no protocol can pass"
    return "\n".join([HEAD + ("   kept" if shares else ""), *lines, f"({what}; {best})"])


def _line(result: Result) -> str:
    return f"{result.certificate.notion.level_text:>8} {result.utility:>11.7g} {result.bound:>11.7g} {result.gap:>8.1e}"
