"""`trechter estimate`: what a release still says, from its rows and its protocol alone."""

from __future__ import annotations

from pathlib import Path

import click
import polars as pl
import polars.selectors as cs

from trechter.cli import options as o
from trechter.cli.console import Outcome, stages
from trechter.errors import RequestError
from trechter.model.files import check_apart
from trechter.tables.write import check_place, write
from trechter.workflow.estimate import COPIES, UNSEEN
from trechter.workflow.estimate import estimate as estimated
from trechter.workflow.estimate_table import told


@click.command(no_args_is_help=True, short_help="Estimate shares from a release.")
@click.argument("released")
@click.option("--protocol", required=True, metavar="FILE", help="The protocol.json that came with it.")
@click.option(
    "--margin", multiple=True, metavar="A,B", help="These columns, or their cross-table; otherwise all that are released."
)
@click.option(
    "--also",
    nargs=2,
    multiple=True,
    metavar="RELEASED PROTOCOL",
    help="Another release, of other people of the same population.",
)
@click.option("--absent-unseen", is_flag=True, help="Take values to be absent that look as if they were when it was designed.")
@click.option("--posterior", type=int, metavar="DRAWS", help="Also the Bayesian posterior, from so many draws.")
@click.option("--given", is_flag=True, help="Also what each output says: P(value | output).")
@click.option("--impute", metavar="FILE", help="Write the released rows with values drawn from what their outputs say.")
@click.option("--copies", type=int, metavar="N", help=f"With --impute: values to draw for each row. [default: {COPIES}]")
@click.option("--seed", type=int, help="For --posterior and --impute, to have the same draws again.")
@o.machine
def estimate(
    released: str,
    protocol: str,
    margin: tuple[str, ...],
    also: tuple[tuple[str, str], ...],
    absent_unseen: bool,
    posterior: int | None,
    given: bool,
    impute: str | None,
    copies: int | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Shares of the values in the population, with standard errors and 95 % limits."""
    pairs = [(released, protocol), *also]
    _check(pairs, impute, copies, seed is not None and posterior is None)
    with stages(as_json) as tell:
        tell("estimating")
        columns = [name.strip() for names in margin for name in names.split(",")] or None
        found = estimated(pairs, margin=columns, absent=UNSEEN if absent_unseen else ())
        data, texts = found.to_json(), [str(found)]
        if posterior is not None:
            tell("drawing from the posterior")
            drawn = found.posterior(posterior, seed=seed)
            data["posterior"] = drawn.to_json()
            texts.append(str(drawn))
        if given:
            lines = found.given()
            data["given"] = lines.with_columns(cs.temporal().cast(pl.String)).to_dicts()
            texts.append(told(lines, found.output_columns))
        if impute is not None:
            tell("imputing")
            copies = COPIES if copies is None else copies
            write(Path(impute), iter([found.impute(copies, seed)]))
            data["imputed"] = impute
            texts.append(f"Imputed values, {copies} for each row, are in {impute}.")
    raise Outcome(data, "\n\n".join(texts))


def _check(pairs: list[tuple[str, str]], impute: str | None, copies: int | None, idle_seed: bool) -> None:
    """What cannot be done, or would be of no effect, is said at once."""
    if impute is None:
        if copies is not None or idle_seed:
            raise RequestError("--copies needs --impute FILE, and --seed needs --impute or --posterior")
        return
    check_place(Path(impute), None)
    for given in (path for pair in pairs for path in pair):
        check_apart(impute, given)
