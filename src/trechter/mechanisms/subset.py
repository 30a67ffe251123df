"""k-subset: the output is a set of k values, E = e^α times as likely if x is one of them.

    Q[y, x] = E / Z if x ∈ y, 1 / Z if not,    Z = E C(a−1, k−1) + C(a−1, k)

At k = 1 it is GRR. The worst set is no prefix of an order of the values, as it is for unary encodings, so all C(a, k) sets are
listed: this is for few values, and for more of them use unary encodings.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from trechter.errors import RequestError, TooLargeError
from trechter.measures import Measure, MutualInformation
from trechter.mechanisms.calibration import Array, Blend, calibrated
from trechter.mechanisms.matrices import dense
from trechter.mechanisms.record import record
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.letters import values_of
from trechter.model.outputs import ValueSet
from trechter.model.result import Result
from trechter.optimal.design import check_request
from trechter.privacy import Notion

MOST_CELLS = 300_000  # of the matrix, which is certified in integers


def subset(joint: Joint, notion: Notion, *, size: int | None = None, measure: Measure | None = None) -> Result:
    """k-subset at the largest α that keeps the promise; without a size, at the one that is worth most."""
    check_request(joint, notion, measure)
    start, a = time.perf_counter(), len(joint.p_x)
    sizes = [_checked(size, a)] if size is not None else _sizes(a)
    blends = {k: _blend(joint, notion, k) for k in sizes}
    wanted = MutualInformation() if measure is None else measure
    sign = -1 if wanted.less_is_better else 1
    best = max(blends, key=lambda k: sign * wanted.utility(joint, _widest(blends[k], notion)))
    protocol, stats = calibrated("k-subset", blends[best], joint, notion)
    return record("subset", protocol, joint, notion, measure, start, size=best, **stats)


def members(a: int, size: int) -> Array:
    """members[y, x]: 1 if set y has x."""
    chosen = np.array(list(combinations(range(a), size)))
    found = np.zeros((len(chosen), a))
    np.put_along_axis(found, chosen, 1, axis=1)
    return found


def _blend(joint: Joint, notion: Notion, size: int) -> Blend:
    """k A + B with A the sets that have x, each as likely, and B all sets."""
    sets = members(len(joint.p_x), size) / math.comb(len(joint.p_x) - 1, size - 1)

    def products(conditions: Array) -> tuple[Array, Array]:
        return conditions @ sets.T, np.full((len(conditions), len(sets)), sets.max())

    def make(k: float) -> DenseProtocol:
        rest = 1 / (k + len(sets) * sets.max())
        return _named(dense((1 - rest * len(sets) * sets.max()) * sets + rest * sets.max(), joint), sets, joint)

    return Blend.of(joint, notion, "x", products, make)


def _named(protocol: DenseProtocol, sets: Array, joint: Joint) -> DenseProtocol:
    """The protocol with sets as its outputs; sets of one value are that value."""
    values = values_of(joint.release)
    if (sets > 0).sum() == len(sets):
        return protocol
    outputs = tuple(ValueSet(tuple(values[x] for x in np.flatnonzero(row))) for row in sets)
    return replace(protocol, outputs=outputs, released=("Y",))


def _widest(blend: Blend, notion: Notion) -> Any:
    """The protocol at the edge of what the level allows, in floats."""
    return blend.protocol(blend.reach(math.inf if notion.epsilon is None else notion.spec.exponent)[1])


def _sizes(a: int) -> list[int]:
    """The sizes whose matrices are small enough."""
    found = [k for k in range(1, max(a, 2)) if math.comb(a, k) * a <= MOST_CELLS]
    return found or [_checked(1, a)]


def _checked(size: Any, a: int) -> int:
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 1 <= size <= a:
        raise RequestError(f"size = {size!r}: a set has from 1 to {a} of the {a} values")
    if math.comb(a, int(size)) * a > MOST_CELLS:
        raise TooLargeError(
            f"there are {math.comb(a, int(size)):,} sets of {size} out of {a:,} values, too many to list; "
            "use tr.oue or tr.sue, which need no list, a smaller size, or bins"
        )
    return int(size)
