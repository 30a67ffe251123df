"""From a table to the counts of a joint: roles, domains, tallies."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trechter.alphabet import Attribute, Schema
from trechter.alphabet.schema import Source
from trechter.errors import JointError, LeakWarning, TableError
from trechter.exact.matrices import Integers
from trechter.tables import Table, open_table

LEAK = (
    "the domains of {names} were learned from the data: which values occur can itself tell readers about single rows; "
    "declare a schema (`trechter schema INPUT` drafts one)"
)


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of (S, X¹, …, Xᵐ[, T]) with the attributes of each role; `effective` is Kish's n for survey weights."""

    counts: Integers
    secret: tuple[Attribute, ...]
    release: tuple[Attribute, ...]
    task: tuple[Attribute, ...]
    rows: int
    effective: float | None
    origin: str


def tally(
    source: Any, secret: Sequence[str], release: Sequence[str], schema: Source | None, task: str | None, weight: str | None
) -> Tally:
    """Count the (secret, release, task) combinations of a table."""
    _check_roles(secret, release, task)
    table = open_table(source)
    names = [*secret, *release, *([task] if task else [])]
    attributes = domains(table, names, schema)
    if schema is None:
        warnings.warn(LEAK.format(names=", ".join(dict.fromkeys(names))), LeakWarning, stacklevel=3)
    for attribute in attributes:
        _check_choice(attribute)
    found = table.count(attributes, weight)
    if found.rows == 0:
        raise TableError("the table has no rows: there is nothing to count")
    c, m = len(secret), len(secret) + len(release)
    counts = found.array.reshape(-1, *found.array.shape[c:])
    origin = "inferred" if schema is None else Schema.of(schema).origin
    effective = found.effective if weight else None
    return Tally(counts, attributes[:c], attributes[c:m], attributes[m:], found.rows, effective, origin)


def _check_choice(attribute: Attribute) -> None:
    if len(attribute) < 2:
        raise TableError(
            f"column {attribute.name!r} has one value only ({attribute.labels[0]}): "
            "there is nothing to protect or to publish in it; leave it out"
        )


def _check_roles(secret: Sequence[str], release: Sequence[str], task: str | None) -> None:
    if not secret or not release:
        raise JointError("name at least one secret and one column to release")
    for role in (secret, release):
        twice = [name for name in role if list(role).count(name) > 1]
        if twice:
            raise JointError(f"column {twice[0]!r} is named twice")
    both = [name for name in secret if name in release]
    if both:
        raise JointError(
            f"column {both[0]!r} is both secret and released; to publish a column while protecting it, "
            "protect the data itself: tr.LDP(…, protect='x') in Python"
        )
    if task in secret:
        raise JointError(f"the task column {task!r} is also the secret")


def domains(table: Table, names: Sequence[str], schema: Source | None) -> tuple[Attribute, ...]:
    """The values of some columns, as declared, or learned from the data where nothing is."""
    if schema is None:
        return table.infer(names)
    declared = Schema.of(schema)
    return tuple(declared[name] for name in names)
