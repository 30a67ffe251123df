"""The objective: what an answer is worth, whatever it claims.

A protocol is judged by the definition of its notion: one of integers exactly, as it is; probabilities in floats after
rounding to 60 bits, and then they may be off by FLOAT in the level. The utility is computed again. A bound must not lie
below what some valid protocol reaches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.contenders import Answer
from numpy.typing import NDArray

import trechter as tr
from trechter.audit.certify import judge_weights
from trechter.exact import log_up
from trechter.model.dense import DenseProtocol, nearest
from trechter.model.protocol import Protocol

FLOAT = 1e-6  # what a protocol in floats may exceed the level by
SAME = 1e-8  # utilities, in nats, that are the same
BITS = 60
LARGE = 4_000_000  # a matrix of more entries is judged in floats

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """What was found, and what is wrong with it (nothing, if `faults` is empty)."""

    utility: float
    level: float
    gap: float | None
    faults: tuple[str, ...]


def judge(joint: tr.Joint, notion: Any, answer: Answer) -> Verdict:
    """The protocol against the definition, its utility recomputed, the bound against it."""
    if answer.protocol is None:
        return Verdict(math.nan, math.nan, None, ("no protocol",))
    exact = isinstance(answer.protocol, Protocol)
    if not exact and not is_distribution(answer.protocol):
        return Verdict(math.nan, math.nan, None, ("no protocol: a column is no distribution",))
    utility, level, private = (_exactly if exact else _in_floats)(answer.protocol, joint, notion)
    faults = [] if private else [f"not private: its level is {level:.9g}"]
    if abs(utility - answer.utility) > SAME:
        faults.append(f"claims a utility of {answer.utility:.9g} and has {utility:.9g}")
    gap = None if answer.bound is None else answer.bound - utility
    if gap is not None and gap < -SAME:
        faults.append(f"its bound {answer.bound:.9g} is below its utility")
    return Verdict(utility, level, gap, tuple(faults))


def refuted(bound: float | None, utilities: Iterable[float]) -> bool:
    """Whether some valid protocol passes the bound."""
    return bound is not None and any(utility > bound + SAME for utility in utilities)


def is_distribution(Q: Any) -> bool:
    """Whether entries are finite and ≥ 0, and columns sum to 1."""
    entries = Q if isinstance(Q, np.ndarray) else Q.data
    proper = np.all(np.isfinite(entries)) and np.all(entries >= 0)
    return bool(proper and np.allclose(Q.sum(axis=0), 1, rtol=0, atol=1e-9))


def information(Q: Any, p: Array) -> float:
    """I(X;Y) in nats, from its definition; Q is dense or sparse."""
    seen = Q @ p
    if isinstance(Q, np.ndarray):
        y, x = np.nonzero(Q)
        entries = Q[y, x]
    else:
        coordinates = Q.tocoo()
        y, x, entries = coordinates.row, coordinates.col, coordinates.data
    kept = (entries > 0) & (p[x] > 0)
    y, x, entries = y[kept], x[kept], entries[kept]
    return math.fsum(p[x] * entries * np.log(entries / seen[y]))


def float_level(Q: Any, joint: tr.Joint, name: str) -> float:
    """The level for LIP or LDP: the largest ln of P(y|s)/P(y) and its inverse, or of P(y|s)/P(y|s')."""
    if name not in ("lip", "ldp"):
        raise ValueError(f"a protocol of {Q.shape} is too large to be judged for {name}")
    p = joint.p[joint.p_s > 0]
    given = Q @ (p / p.sum(axis=1, keepdims=True)).T
    seen = given.max(axis=1) > 0
    given, whole = given[seen], np.asarray(Q @ joint.p_x)[seen]
    over, under = given.max(axis=1), given.min(axis=1)
    with np.errstate(divide="ignore"):
        ratio = over / under if name == "ldp" else np.maximum(over / whole, whole / under)
    return float(np.log(ratio.max()))


def _exactly(protocol: Protocol, joint: tr.Joint, notion: Any) -> tuple[float, float, bool]:
    """Utility, level and verdict of integers, decided by the package's judge."""
    verdict = tr.certify(protocol, joint, notion)
    dense = isinstance(protocol, DenseProtocol)
    utility = information(protocol.matrix, joint.p_x) if dense else tr.mutual_information(joint, protocol)
    return utility, verdict.level, verdict.holds


def _in_floats(Q: Any, joint: tr.Joint, notion: Any) -> tuple[float, float, bool]:
    """The same for probabilities, which may be off by FLOAT."""
    if not isinstance(Q, np.ndarray) or Q.size > LARGE:
        level = float_level(Q, joint, notion.name)
    else:
        level = log_up(judge_weights(nearest(Q, BITS), "x", joint, notion.spec))
    return information(Q, joint.p_x), level, level <= float(notion.epsilon) + FLOAT
