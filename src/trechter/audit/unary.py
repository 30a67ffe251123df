"""The judge of unary encodings: the largest ratio over all 2^a outputs, exactly, without listing them.

A set y of values is released with P(y|x) ∝ u if x ∈ y, v if not, where u = p(1 − q) and v = q(1 − p), so that

    P(y|f) / P(y|g) = (v + (u − v) f(y)) / (v + (u − v) g(y))       for distributions f and g of x.

If p < q then sets and their complements change places, and with them u and v. If u = v nothing is said. If v = 0 then either
q = 0, and only single values and ∅ are seen, or p = 1, and every y has x: both ways the largest ratio is that of a single
value, which is the largest over all y that are not empty.

`largest` ends at the maximum: a ratio ρ that is not the largest is passed by the set of all x with f(x) > ρ g(x), for that
set has the largest v + (u − v) f(y) − ρ (v + (u − v) g(y)), and some set has it above 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import index

import numpy as np

from trechter.audit.definitions import DEFINITIONS, slices
from trechter.errors import ProtocolError
from trechter.exact.matrices import Integers
from trechter.model.joint import Joint
from trechter.model.spec import Spec
from trechter.model.unary import UnaryProtocol

Conditioned = tuple[Integers, int]  # a distribution of x: integers, and their sum


def judge_unary(protocol: UnaryProtocol, joint: Joint, spec: Spec) -> Fraction | None:
    """e^level of a unary encoding; None is ∞."""
    v, gain = odds(protocol)
    if gain == 0:
        return Fraction(1)
    counts = joint.exact.astype(object)
    axes = np.unravel_index(np.arange(counts.shape[1]), joint.shape[1:])
    _, side_channels = DEFINITIONS[spec.name]
    worst: Fraction | None = Fraction(1)
    for chosen in slices([axis.tolist() for axis in axes], "x") if side_channels else [slice(None)]:
        if worst is not None:
            worst = _worst(counts[:, chosen], spec, v, gain, worst)
    return worst


def odds(protocol: UnaryProtocol) -> tuple[int, int]:
    """v and u − v, times a constant, of p and q that are probabilities."""
    p, q, whole = index(protocol.p), index(protocol.q), 1 << index(protocol.places)
    if not (0 <= p <= whole and 0 <= q <= whole):
        raise ProtocolError(f"p = {p} or q = {q} over {whole} is no probability")
    low, high = sorted((q * (whole - p), p * (whole - q)))
    return low, high - low


def _worst(counts: Integers, spec: Spec, v: int, gain: int, least: Fraction) -> Fraction | None:
    """The largest ratio of the conditions of one slice, or `least` if that is larger."""
    ldp, worst = spec.name.endswith("ldp"), least
    if spec.protect == "x":
        found = _worst_of_values([n for n in counts.sum(axis=0).tolist() if n], ldp, v, gain)
        return found if found is None else max(found, least)
    given = [(row, int(row.sum())) for row in counts if row.any()]
    for f, g in _pairs(given) if ldp else _against_all(given, counts):
        found = largest(f, g, v, gain, worst)
        if found is None:
            return None
        worst = found
    return worst


def _pairs(given: Sequence[Conditioned]) -> Iterator[tuple[Conditioned, Conditioned]]:
    """P(y|s) over P(y|s') for every s and s'."""
    return ((f, g) for f in given for g in given if f is not g)


def _against_all(given: Sequence[Conditioned], counts: Integers) -> Iterator[tuple[Conditioned, Conditioned]]:
    """P(y|s) over P(y), and P(y) over P(y|s), for every s."""
    whole = counts.sum(axis=0), int(counts.sum())
    for each in given:
        yield each, whole
        yield whole, each


def largest(f: Conditioned, g: Conditioned, v: int, gain: int, least: Fraction) -> Fraction | None:
    """The largest (v + gain·f(y)) / (v + gain·g(y)) over all sets y of values, all but ∅ if v = 0; None is ∞.

    Or `least`, if that is larger; it is at least 1, which is the ratio of all values together.
    """
    (over, f_sum), (under, g_sum) = f, g
    over, under, base = over * (gain * g_sum), under * (gain * f_sum), v * f_sum * g_sum
    best = least
    while True:
        chosen = over * best.denominator > under * best.numerator
        top, bottom = base + int(over[chosen].sum()), base + int(under[chosen].sum())
        if bottom == 0 < top:
            return None
        if not chosen.any() or Fraction(top, bottom) <= best:
            return best
        best = Fraction(top, bottom)


def _worst_of_values(masses: Sequence[int], ldp: bool, v: int, gain: int) -> Fraction | None:
    """The same where each value of x is what is protected.

    Between two values the most is u/v, of any y that has one of them. Of one value of probability π it is
    (v + (u − v)(1 − π)) / v, of all values but x; that of y = {x} is u / (v + (u − v) π), which is less.
    """
    if len(masses) < 2:
        return Fraction(1)
    if v == 0:
        return None
    return 1 + Fraction(gain, v) * (1 if ldp else 1 - Fraction(min(masses), sum(masses)))
