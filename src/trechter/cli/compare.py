"""`trechter compare`: every mechanism beside the optimum, at equal certified level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from trechter.cli import options as o
from trechter.cli.console import DONE, INTERRUPTED, WRONG, Outcome, note, stages
from trechter.errors import TrechterError
from trechter.mechanisms import MECHANISMS
from trechter.model.files import check_apart
from trechter.workflow.compare import SECONDS, compare_for_table
from trechter.workflow.comparison import Comparison
from trechter.workflow.comparison_picture import check_place


@click.command(no_args_is_help=True, short_help="Compare every mechanism with the optimum.")
@o.source
@o.roles
@click.option("--notion", default="lip", show_default=True, help=o.NOTION)
@click.option("--epsilon", multiple=True, required=True, help="The level, or several: A,B or repeated.")
@o.robust
@o.domains
@click.option("--mechanisms", help=f"Only these: A,B of {', '.join(MECHANISMS)}.")
@click.option("--reads", help="The optima to find: x, sx or x,sx; by default those of what the mechanisms read.")
@click.option("--plot", metavar="FILE", help="Draw it: .png, .svg, or .html with the table.")
@o.worth
@o.near
@click.option("--time-limit", type=float, metavar="SECONDS", default=SECONDS, show_default=True, help="For each optimum.")
@o.machine
def compare(input: str, plot: str | None, as_json: bool, **asked: Any) -> None:
    """Compare every mechanism with the optimum: what each keeps and tells at the same level."""
    levels = o.levels_of(asked.pop("epsilon"))
    notion = o.kind_of(asked.pop("notion"), o.robust_of(asked))
    counted = o.counted_of(asked, input)
    names: dict[str, Any] = {name: o.listed(asked.pop(name)) for name in ("mechanisms", "reads")}
    if plot is not None:
        check_apart(plot, input)
        check_place(plot)
    with stages(as_json) as tell:
        options = counted | names | o.solver_of(asked, tell)
        found = compare_for_table(input, notion, epsilons=levels, tell=tell, **options)
        problem = _drawn(found, plot, tell)
    data, text, code = found.to_json(), str(found), INTERRUPTED if found.interrupted else DONE
    if problem:  # the table is there all the same
        note(f"error: {problem}", style="bold red")
        code = code or WRONG
    elif plot is not None:
        data, text = data | {"plot": plot}, f"{text}\nThe picture is in {plot}."
    if found.interrupted:
        note("interrupted: rows may be missing", style="yellow")
    raise Outcome(data, text, code)


def _drawn(found: Comparison, plot: str | None, tell: Callable[[str], None]) -> str | None:
    """Draw it, if that was asked; what went wrong, if something did."""
    if plot is None:
        return None
    tell("drawing")
    try:
        found.save_plot(plot)
    except TrechterError as error:
        return str(error)
    return None
