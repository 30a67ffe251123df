"""Frontier: count a table, find the optimal protocol at each of several levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from trechter.alphabet.schema import Source
from trechter.model.joint import Joint
from trechter.model.result import Result
from trechter.optimal import frontier
from trechter.privacy import Notion
from trechter.workflow.design import Tell, about, silent


def frontier_for_table(
    table: Any,
    notion_class: Callable[[Any], Notion],
    epsilons: Iterable[Any],
    *,
    secret: Sequence[str],
    release: Sequence[str],
    schema: Source | None = None,
    task: str | None = None,
    weight: str | None = None,
    tell: Tell = silent,
    **options: Any,
) -> tuple[Joint, list[Result]]:
    """The joint of the table and one result for each level; `options` go to `design`, `tell` hears of each stage."""
    tell("counting")
    joint = Joint.from_table(table, secret=secret, release=release, schema=schema, task=task, weight=weight)
    tell("designing")
    return joint, frontier(joint, notion_class, epsilons, **about(task, options))
