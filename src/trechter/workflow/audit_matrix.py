"""Audit a matrix that somebody brought: its exact levels, where the worst case is, what it leaks and what it is worth."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from trechter.alphabet.schema import Source
from trechter.audit import holds
from trechter.audit.brought import Brought, bring
from trechter.audit.certify import judge_weights
from trechter.audit.worst import Movement, Worst, movements, worst_case
from trechter.errors import LeakWarning, expect
from trechter.exact import log_up
from trechter.exact.rounding import WORD
from trechter.measures import Leakage, entropy, leakage, mutual_information
from trechter.model.certificate import Certificate
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint, quotient
from trechter.model.spec import NAMES, Spec
from trechter.privacy import Notion

COUNT = "count"  # the last column of COUNTS.csv


@dataclass(frozen=True, eq=False)
class MatrixAudit:
    """`worst` by notion, exact; `verdict` on the notion that was asked for; `movements` one for each secret value; the
    information that leaks, and `utility` of `entropy` nats about X, are floats."""

    joint: Joint
    matrix: Brought
    worst: dict[str, Worst]
    verdict: Certificate | None
    movements: list[Movement | None]
    leakage: Leakage
    utility: float
    entropy: float

    @property
    def levels(self) -> dict[str, float]:
        """The level of each notion, rounded up."""
        return {name: log_up(worst.ratio) for name, worst in self.worst.items()}

    @property
    def holds(self) -> bool | None:
        """Whether the notion that was asked for holds."""
        return None if self.verdict is None else self.verdict.holds

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be assumed or done."""
        return self.matrix.notes


def audit_matrix(matrix: Any, joint: Joint, notion: Notion | None = None, *, transposed: bool | None = None) -> MatrixAudit:
    """Judge a matrix (file, array or data frame; outputs × values, or transposed) as the exact numbers that are written."""
    expect(joint, Joint, "tr.Joint(counts)")
    if notion is not None:
        expect(notion, Notion, 'tr.LIP("0.5")')
    return audited(bring(matrix, joint, transposed), joint, notion)


def audited(brought: Brought, joint: Joint, notion: Notion | None) -> MatrixAudit:
    """Judge exact weights."""
    weights, reads = brought.weights, brought.reads
    worst = {name: worst_case(weights, reads, joint, Spec(name, None)) for name in NAMES}
    protocol = DenseProtocol.from_matrix(quotient(weights, brought.whole), joint, reads, WORD)
    return MatrixAudit(
        joint,
        brought,
        worst,
        None if notion is None else _verdict(brought, joint, notion.spec),
        movements(weights, reads, joint),
        leakage(joint, protocol),
        mutual_information(joint, protocol),
        entropy(joint.p_x),
    )


def joint_to_audit(
    table: Any, secret: Sequence[str], release: Sequence[str], schema: Source | None = None, counted: bool = False
) -> Joint:
    """The joint of a table, or of a file of counts, whose rows stand for as many as they say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)  # nothing is published
        weight = COUNT if counted else None
        found = Joint.from_table(table, secret=secret, release=release, schema=schema, weight=weight)
    return Joint(found.counts, secret=found.secret, release=found.release, schema_origin=found.schema_origin)


def _verdict(brought: Brought, joint: Joint, spec: Spec) -> Certificate:
    ratio: Fraction | None = judge_weights(brought.weights, brought.reads, joint, spec)
    return Certificate(spec, holds(ratio, spec.epsilon), log_up(ratio), ratio)
