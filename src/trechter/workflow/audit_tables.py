"""Audit a release by its rows: what was known, what was to be released, and what was, row beside row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.alphabet.schema import Source
from trechter.audit import holds
from trechter.audit.brought import Brought
from trechter.audit.evidence import Attack, Claim, Evidence
from trechter.errors import RequestError, TableError
from trechter.exact import upper_limit
from trechter.model.counting import domains
from trechter.model.joint import Joint
from trechter.model.spec import NAMES, Spec
from trechter.privacy import Notion
from trechter.tables import Table, open_table
from trechter.workflow.audit_matrix import MatrixAudit, audited

MOST_CELLS = 5 * 10**7
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TablesAudit:
    """`empirical` e^level of the frequencies (None is ∞); `claims`, each with the confidence; `attack`; where the release
    is a function of what it reads, its matrix is known and audited (`exact`)."""

    joint: Joint
    outputs: tuple[str, ...]
    confidence: float
    empirical: dict[str, Fraction | None]
    claims: dict[str, Claim]
    attack: Attack
    exact: MatrixAudit | None
    notion: Spec | None
    notes: tuple[str, ...]

    @property
    def at_least(self) -> dict[str, float]:
        """What each level is at least, with the stated confidence."""
        return {name: math.log(claim.bound) * (1 - 1e-12) for name, claim in self.claims.items()}

    @property
    def holds(self) -> bool | None:
        """False if the rows refute the notion that was asked for; a sample alone never says True."""
        if self.notion is None:
            return None
        if self.exact is not None:
            return self.exact.holds
        return None if holds(self.claims[self.notion.name].bound, self.notion.epsilon) else False


def audit_tables(
    released: Any,
    original: Any,
    *,
    secret: str | Sequence[str],
    release: str | Sequence[str],
    columns: Sequence[str] | None = None,
    key: str | None = None,
    schema: Source | None = None,
    notion: Notion | None = None,
    confidence: float = 0.95,
) -> TablesAudit:
    """What the rows prove; they are matched by position, or by a key; `columns` of the released table count as the output."""
    if not 0.5 <= confidence < 1:
        raise RequestError(f"a confidence of {confidence} makes no sense; give a number from 0.5 up to 1, such as 0.95")
    if notion is not None and notion.spec.protect != "s":
        raise RequestError("two tables are audited for the secret; name the column to protect as the secret")
    roles = [[names] if isinstance(names, str) else list(names) for names in (secret, release)]
    if set(roles[0]) & set(roles[1]):
        raise RequestError(f"column {(set(roles[0]) & set(roles[1])).pop()!r} is both secret and released")
    before, after = open_table(original), open_table(released)
    chosen = _columns(after, roles[1], columns, key)
    attributes = tuple(domains(before, names, schema) for names in roles)
    codes = [before.codes(role) for role in attributes]
    y, outputs = _outputs(after.texts(chosen))
    notes = [f"released columns: {', '.join(chosen)}"]
    if not len(y):
        raise TableError("the released table has no rows: there is nothing to audit")
    if key is None:
        _check_rows(len(codes[0]), len(y))
    else:
        places = _matched(before.texts([key]), after.texts([key]), key)
        notes += [f"{len(codes[0]) - len(y)} rows of the original were not released"] if len(y) < len(codes[0]) else []
        codes = [code[places] for code in codes]
    return _weigh(attributes, codes, y, outputs, key, notion, confidence, notes)


def _weigh(
    attributes: Sequence[tuple[Attribute, ...]],
    codes: Sequence[Codes],
    y: Codes,
    outputs: tuple[str, ...],
    key: str | None,
    notion: Notion | None,
    confidence: float,
    notes: list[str],
) -> TablesAudit:
    c, a = (math.prod(len(v) for v in role) for role in attributes)
    if c * a * len(outputs) > MOST_CELLS:
        raise TableError(
            f"{c} secrets × {a} values × {len(outputs)} outputs are too many to count; use bins, or fewer columns"
        )
    shape, alpha = tuple(len(v) for v in attributes[1]), 1 - confidence
    evidence = Evidence.of(codes[0], codes[1], y, (c, a, len(outputs)), shape)
    joint = Joint(evidence.whole.sum(axis=2).reshape(c, *shape), secret=attributes[0], release=attributes[1])
    mapping = evidence.mapping()
    exact = None
    if mapping is not None:
        exact = audited(Brought(*mapping, outputs, False, ()), joint, notion)
        notes.append(_function(mapping[1], len(y), alpha))
    elif not evidence.associated():
        if key is None:
            raise TableError(UNMATCHED)
        notes.append("the outputs have nothing to do with what was to be released, as far as these rows show")
    return TablesAudit(
        joint,
        outputs,
        confidence,
        {name: evidence.level(name) for name in NAMES},
        {name: evidence.claim(name, alpha) for name in NAMES},
        evidence.attack(alpha),
        exact,
        None if notion is None else notion.spec,
        tuple(notes),
    )


def _function(reads: str, rows: int, alpha: float) -> str:
    of, rare = "x" if reads == "x" else "the secret and x", float(upper_limit(0, rows, alpha))
    return (
        f"in every row the output follows from {of}, so its matrix is taken as known (exceptions: at most {rare:.2g} of rows)"
    )


UNMATCHED = (
    "the rows cannot be matched: what was released shows no association with the original, row by row. Either the rows were "
    "shuffled, and nothing can be said (name a column that identifies them as the key), or the release says nothing"
)


def _columns(after: Table, release: Sequence[str], asked: Sequence[str] | None, key: str | None) -> list[str]:
    """The columns that were released: as asked, or those of the same names, or all but the key."""
    if asked:
        return list(asked)
    found = list(release) if set(release) <= set(after.columns) else [name for name in after.columns if name != key]
    if not found:
        raise TableError("the released table has no column but the key: there is nothing to audit")
    return found


def _outputs(rows: pl.DataFrame) -> tuple[Codes, tuple[str, ...]]:
    """Every row's output as a code, and the outputs in words."""
    plain = rows.rename({name: str(i) for i, name in enumerate(rows.columns)})  # a name may look like a pattern
    names = plain.columns
    distinct = plain.unique().sort(names, nulls_last=True).with_row_index("code")
    codes = plain.join(distinct, on=names, how="left", nulls_equal=True, maintain_order="left")["code"]
    shown = [" · ".join("(null)" if cell is None else cell for cell in row[1:]) for row in distinct.iter_rows()]
    return codes.to_numpy().astype(np.intp), tuple(shown)


def _check_rows(before: int, after: int) -> None:
    if before != after:
        raise TableError(
            f"the rows cannot be matched: the original has {before:,}, the released table {after:,}; name a column that "
            "identifies them in both as the key"
        )


def _matched(before: pl.DataFrame, after: pl.DataFrame, key: str) -> Codes:
    """For each released row the place of the original row with the same key."""
    left, right = (table.to_series().alias("key") for table in (before, after))
    for column, what in ((left, "original"), (right, "released table")):
        if column.null_count() or column.n_unique() < len(column):
            raise TableError(f"the key {key!r} does not identify the rows of the {what}: a value is missing or occurs twice")
    places = right.to_frame().join(left.to_frame().with_row_index("place"), on="key", how="left", maintain_order="left")
    lost = places.filter(pl.col("place").is_null())
    if len(lost):
        raise TableError(f"the key {lost['key'][0]!r} of the released table does not occur in the original ({key!r})")
    return places["place"].to_numpy().astype(np.intp)
