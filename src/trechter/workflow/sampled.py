"""Sampled: what a promise about counts comes to when the counts are a sample, and how many rows would make it survive.

The worst level is over F = {P : Σ (P̂−P)²/P ≤ B}, the distributions that the counts do not rule out at 95 %, and is proved. An
optimum uses all of ε at P̂ itself, so at some P in F it tells more, however many rows there are: a promise *survives* if the
worst is at most 10 % above ε. With n' rows of the same shares B is smaller by n/n'; the least n' with which the promise
survives is looked for in floats.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from trechter.audit.conditions import Condition
from trechter.audit.events import Amounts, events
from trechter.audit.robust import MOST_EPSILON, Aim, Search, asked, decide
from trechter.errors import TrechterError
from trechter.exact import exp_bounds, log_up
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.over import Over
from trechter.model.protocol import Protocol
from trechter.model.sparse import SparseProtocol
from trechter.model.spec import Spec

OVER = Over("chi-square", alpha=Fraction(1, 20))
SLACK = Fraction(11, 10)  # of ε: what survives
MOST_CONDITIONS = 4000  # that are judged on the way: a second or two
MOST_ROWS = 10_000_000_000  # more than there are people
NEAR = 1.01  # the number of rows, relatively


def worst_case(protocol: Protocol, joint: Joint) -> dict[str, Any]:
    """The worst level of a plain promise, whether it survives and with how many rows; or why that is unknown.

    Nothing where nothing much is promised, or where the promise itself is for a set of distributions.
    """
    spec = protocol.promise
    if spec is None or spec.epsilon is None or spec.epsilon > MOST_EPSILON or spec.over is not None:
        return {}
    enough = SLACK * spec.epsilon
    try:
        found = _worst(protocol, joint, replace(spec, epsilon=None, over=OVER), enough)
    except TrechterError as error:
        found = {"unknown": str(error)}
    return {"over": OVER.to_json(), "survives_at": str(enough), **found}


def _worst(protocol: Protocol, joint: Joint, spec: Spec, enough: Fraction) -> dict[str, Any]:
    if joint.n is None or joint.rows != joint.n:
        return {"unknown": "the counts are weighted, or are probabilities: how sure they are does not follow from them"}
    if not isinstance(protocol, DenseProtocol | SparseProtocol):
        return {"unknown": f"protocols of kind {protocol.kind!r} are not judged on the way"}
    outputs = len(protocol.columns()[0].codes)
    if outputs > MOST_CONDITIONS or (many := outputs * len(events(joint, spec, protocol.reads).pairs)) > MOST_CONDITIONS:
        shown = f"{outputs:,} outputs" if outputs > MOST_CONDITIONS else f"{many:,} conditions"
        return {"unknown": f"{shown} take longer than a release should; `trechter verify … --robust 0.05` takes its time"}
    weights = protocol.sparse if isinstance(protocol, SparseProtocol) else protocol.integers
    conditions, amounts = asked(weights, protocol.reads, joint, spec)
    level = log_up(decide(conditions, amounts, None))
    found = {"level": level if math.isfinite(level) else "inf", "survives": level <= enough}
    if found["survives"] or not enough:
        return found
    loose = [condition for condition in conditions if condition.settled is None]
    return found | {"rows": rows_needed(loose, amounts, exp_bounds(enough)[0])}


def rows_needed(conditions: list[Condition], amounts: Amounts, most: Fraction) -> int | None:
    """About the least number of rows of the same shares with which no P in F is found that brings a ratio above `most`, in
    two digits; None is more than MOST_ROWS."""
    region, n = amounts.region, sum(amounts.region.counts)

    def fits(rows: int) -> bool:
        smaller = Amounts(replace(region, radius=region.radius * n / rows))
        return Search(conditions, smaller).climb(1.0, Aim(most, only=True)) <= most

    low, high = n, MOST_ROWS
    if not fits(high):
        return None
    while high > NEAR * low and high > low + 1:
        middle = max(low + 1, math.isqrt(low * high))
        low, high = (low, middle) if fits(middle) else (middle, high)
    unit: int = 10 ** max(0, len(str(high)) - 2)
    return -(-high // unit) * unit
