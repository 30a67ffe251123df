"""Deterministic generalisation and suppression: some values are released as a set, the others as they are.

What a set says of the secret is decided by the counts, and values that are left alone say all they know: often the level is ∞.
There is nothing to calibrate, so the certificate says what the level is and whether it keeps the promise.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from trechter.alphabet.attribute import shorten
from trechter.errors import RequestError
from trechter.measures import Measure
from trechter.mechanisms.record import record
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.letters import values_of
from trechter.model.outputs import Input, Output, ValueSet, show
from trechter.model.result import Result
from trechter.optimal.design import check_request
from trechter.privacy import Notion


def generalise(groups: Iterable[Iterable[Any]], joint: Joint, notion: Notion, *, measure: Measure | None = None) -> Result:
    """Each group of values is released as the set of them; values of several attributes are tuples."""
    check_request(joint, notion, measure)
    start, values = time.perf_counter(), values_of(joint.release)
    sets = _checked(groups, values)
    of = {value: k for k, group in enumerate(sets) for value in group}
    outputs: list[Output] = [group[0] if len(group) == 1 else ValueSet(group) for group in sets]
    weights = np.array([[2 * (of[value] == k) for value in values] for k in range(len(sets))])
    plain = len(joint.release) == 1 or all(not isinstance(output, ValueSet) for output in outputs)
    names = tuple(a.name for a in joint.release) if plain else ("Y",)
    protocol = DenseProtocol(weights, 1, tuple(outputs), joint.secret, joint.release, released=names)
    return record("generalise", protocol, joint, notion, measure, start)


def suppress(values: Iterable[Any], joint: Joint, notion: Notion, *, measure: Measure | None = None) -> Result:
    """These values are released as one set: a reader learns that it is one of them, and no more."""
    return generalise([values], joint, notion, measure=measure)


def _checked(groups: Iterable[Iterable[Any]], values: Sequence[Input]) -> list[tuple[Input, ...]]:
    """The groups, in the order of their first values, then every other value by itself."""
    named: dict[Any, int] = {}
    for k, group in enumerate(groups):
        if isinstance(group, str):
            raise RequestError(f"{group!r} is no group; give lists of values, for example [['a', 'b'], ['c', 'd']]")
        for value in group:
            if value not in values:
                raise RequestError(f"{value!r} is no value of X; its values are {shorten([show(v) for v in values])}")
            if value in named:
                raise RequestError(f"{show(value)!r} is named twice; every value belongs to one group")
            named[value] = k
    together: dict[Any, list[Input]] = {}
    for value in values:
        together.setdefault(named.get(value, value) if value not in named else ("group", named[value]), []).append(value)
    return [tuple(group) for group in together.values()]
