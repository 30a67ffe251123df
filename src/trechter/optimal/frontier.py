"""Frontier: the best protocol at each of several levels.

What is private at ε is private at every higher level. So the levels are taken in order, and each design starts from the
outputs of the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from trechter.errors import RequestError
from trechter.model.joint import Joint
from trechter.model.result import Result
from trechter.optimal.design import design
from trechter.privacy import Notion


def frontier(joint: Joint, notion_class: Callable[[Any], Notion], epsilons: Iterable[Any], **options: Any) -> list[Result]:
    """One result for each level, in the order of `epsilons`; `options` are those of `design`, a time limit is for each.

    Ctrl-C ends it: then the list holds what there is, the level that was being solved included.
    """
    notions = notions_at(notion_class, epsilons)
    known: dict[int, Result] = {}
    for k in sorted(range(len(notions)), key=lambda k: notions[k].spec.exponent):
        last = list(known.values())[-1] if known else None
        try:
            known[k] = design(joint, notions[k], like=last, **options)
        except KeyboardInterrupt:
            if not known:
                raise
            break
        if known[k].stats.get("stopped") == "interrupted":
            break
    return [known[k] for k in sorted(known)]


def notions_at(notion_class: Callable[[Any], Notion], epsilons: Iterable[Any]) -> list[Notion]:
    """The notion at each of these levels."""
    if not callable(notion_class):
        raise RequestError(f"{notion_class!r} is no kind of notion; give the class, for example tr.LIP, and the levels apart")
    if isinstance(epsilons, str) or not isinstance(epsilons, Iterable):
        raise RequestError(f"epsilons={epsilons!r} must be several levels, for example ['0.25', '0.5', '1']")
    notions = [notion_class(epsilon) for epsilon in epsilons]
    if not notions:
        raise RequestError("no levels were given; name at least one, for example ['0.5']")
    return notions
