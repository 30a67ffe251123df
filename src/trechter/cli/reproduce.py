"""`trechter reproduce`: the papers' figures again, from the experiments of the source checkout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from trechter.cli import options as o
from trechter.cli.console import DONE, NO, WRONG, Outcome, errors, note, wide
from trechter.errors import RequestError
from trechter.workflow.comparison_picture import EXTRA
from trechter.workflow.reproduce import Made, Tell
from trechter.workflow.reproduce import reproduce as reproduced


@click.command(short_help="Compute the papers' figures again.")
@click.argument("figures", nargs=-1)
@click.option("--quick", is_flag=True, help="Fewer joints: a minute or two in all.")
@click.option(
    "--adult", metavar="PATH", help="The Adult table, for the figures that need it; without it, that of an installed package."
)
@click.option(
    "--out", default="trechter-figures", metavar="FOLDER", show_default=True, help="The folder for numbers and pictures."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes at once; by default one for each core.")
@o.machine
def reproduce(figures: tuple[str, ...], as_json: bool, **asked: Any) -> None:
    """Compute the papers' figures again, all or those named, and resume where an earlier run stopped."""
    skipped: list[str] = []
    with _progress(as_json) as tell:
        made = reproduced(figures, **asked, tell=tell, skip=skipped.append)
    for reason in skipped:
        note(reason, style="yellow")
    if skipped and not made:
        raise RequestError("; ".join(skipped))
    _check_drawn(made)
    data = {"figures": [_data(figure) for figure in made], "skipped": skipped}
    raise Outcome(data, "\n".join(map(_text, made)), _code(made, refused=bool(figures and skipped)))


@contextmanager
def _progress(quiet: bool) -> Iterator[Tell]:
    """A bar for each figure on standard error; silent when nobody watches."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    bars: dict[str, Any] = {}
    try:
        with Progress(*columns, console=errors, disable=quiet or not errors.is_terminal) as progress:

            def tell(figure: str, done: int, total: int) -> None:
                if figure not in bars:
                    bars[figure] = progress.add_task(figure)
                progress.update(bars[figure], completed=done, total=total)

            yield tell
    except KeyboardInterrupt:
        note("what was computed is kept: the same command goes on from here", style="yellow")
        raise


def _code(made: list[Made], refused: bool) -> int:
    """A figure that was named and could not be computed is a request that failed, whatever the others say."""
    return WRONG if refused else NO if any(figure.disagreements for figure in made) else DONE


def _check_drawn(made: list[Made]) -> None:
    missing = [figure for figure in made if figure.missing]
    if missing:
        files = ", ".join(str(figure.csv) for figure in missing)
        raise RequestError(f"the numbers are in {files}; to draw them, {EXTRA} and run this again ({missing[0].missing})")


def _data(figure: Made) -> dict[str, Any]:
    files = {"csv": str(figure.csv), "page": str(figure.page), "charts": [str(chart) for chart in figure.charts]}
    checked = {"compared": figure.compared, "disagreements": figure.disagreements}
    tasks = {"computed": figure.computed, "resumed": figure.resumed}
    return {"figure": figure.name, "title": figure.title} | files | tasks | checked | {"means": figure.means}


def _text(figure: Made) -> str:
    tasks = f"{figure.computed} of {figure.computed + figure.resumed} tasks computed"
    tasks += f", {figure.resumed} kept from before" if figure.resumed else ""
    lines = [wide(f"{figure.name}: {figure.title}"), f"  {tasks}"]
    if figure.compared:
        lines.append(f"  {figure.compared - len(figure.disagreements)} of {figure.compared} means as expected")
    lines += [f"  not as expected: {line}" for line in figure.disagreements]
    return "\n".join([*lines, *(f"  {path}" for path in (figure.csv, *figure.charts, figure.page))])
