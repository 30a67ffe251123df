"""Design: count a table, find the optimal protocol, save it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trechter.alphabet.schema import Source
from trechter.errors import RequestError
from trechter.measures import MutualInformation, TaskInformation
from trechter.model.files import check_apart
from trechter.model.joint import Joint
from trechter.model.result import Result
from trechter.optimal import design
from trechter.privacy import Notion, Robust

Tell = Callable[[str], None]  # hears of each stage


def silent(stage: str) -> None:
    """Nobody listens."""


def about(task: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a design: unless a measure is given, information about the task column, or about all that is released."""
    return {"measure": TaskInformation() if task else MutualInformation()} | options


def check_whole_rows(notion: Notion, weight: str | None) -> None:
    """How large a set of distributions is follows from a number of rows, which weighted counts do not tell to a verifier."""
    if weight is not None and isinstance(notion, Robust):
        raise RequestError(
            f"{notion} is for whole rows: with weights nobody who has the counts could tell how sure they are. Leave out the "
            "weights, or the set of distributions (--robust)"
        )


def design_for_table(
    table: Any,
    out: str | Path,
    notion: Notion,
    *,
    secret: Sequence[str],
    release: Sequence[str],
    schema: Source | None = None,
    task: str | None = None,
    weight: str | None = None,
    tell: Tell = silent,
    **options: Any,
) -> Result:
    """The result whose protocol is saved in `out`; `options` go to `design`, `tell` hears of each stage."""
    check_apart(out, table)
    check_whole_rows(notion, weight)
    tell("counting")
    joint = Joint.from_table(table, secret=secret, release=release, schema=schema, task=task, weight=weight)
    tell("designing")
    result = design(joint, notion, **about(task, options))
    result.protocol.save(out)
    return result
