"""Certify: decide in integers whether a protocol keeps a promise for a joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import index
from typing import Any
from typing import Protocol as Shape

import numpy as np

from trechter.alphabet import Attribute
from trechter.audit.definitions import worst_ratio
from trechter.errors import ProtocolError
from trechter.exact import at_most_exp, log_up
from trechter.exact.matrices import Integers
from trechter.model.certificate import Certificate
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.protocol import Protocol
from trechter.model.spec import Spec


class HasSpec(Shape):
    """Anything that says in plain words what it promises."""

    @property
    def spec(self) -> Spec: ...


def certify(protocol: Protocol, joint: Joint, notion: HasSpec | Spec | None = None) -> Certificate:
    """The verdict on a notion, or on the protocol's own promise; holds iff e^level ≤ e^ε, decided exactly."""
    spec = notion if isinstance(notion, Spec) else notion.spec if notion else protocol.promise
    if spec is None:
        raise ProtocolError("the protocol promises nothing; name the notion to certify, for example tr.LIP('0.5')")
    check_fits(protocol, joint, secret=notion is None)
    worst = _judge(protocol, joint, spec)
    certificate = Certificate(spec, holds(worst, spec.epsilon), log_up(worst), worst, protocol.digest)
    facts: dict[str, Any] = {"n": joint.n, "schema": joint.schema_origin, "secret": [a.name for a in joint.secret]}
    if len(joint.secret) > 1 and spec.protect == "s":
        facts["levels"] = {a.name: log_up(_judge(protocol, joint.about(a.name), spec)) for a in joint.secret}
    return certificate.with_facts(**facts)


def holds(worst: Fraction | None, epsilon: Fraction | None) -> bool:
    """worst ≤ e^ε, where None is ∞ on both sides."""
    if worst is None:
        return epsilon is None
    return at_most_exp(worst.numerator, worst.denominator, epsilon)


def check_fits(protocol: Protocol, joint: Joint, secret: bool = True) -> None:
    """The protocol was made for the joint's columns, with the same values in the same order.

    How much a protocol that reads x tells of yet another column may be asked too: `secret` is False then.
    """
    if not protocol.secret or not protocol.release:
        raise ProtocolError("the protocol names no secret, or no released column: there is nothing to certify")
    pairs = [(protocol.release, joint.release)]
    if secret or protocol.reads == "sx":
        pairs.append((protocol.secret, joint.secret))
    for made, found in pairs:
        if [_typed(a) for a in made] != [_typed(a) for a in found]:
            raise ProtocolError(
                f"the protocol was made for {_describe(made)}, but the counts are of {_describe(found)}: "
                "it needs the same columns with the same values in the same order"
            )


def check_shares(weights: Integers, whole: int | None = None) -> None:
    """Weights are integers ≥ 0 and all columns have one sum, `whole`, in arithmetic that cannot wrap around."""
    for i, column in enumerate(weights.T.tolist()):
        try:
            least, total = min(map(index, column)), sum(map(index, column))
        except TypeError:
            raise ProtocolError(f"column {i} has a weight that is no integer; nothing else can be certified") from None
        whole = total if whole is None else whole
        if least < 0 or total != whole or not total:
            raise ProtocolError(f"column {i} is no distribution: its least weight is {least} and its sum {total}, not {whole}")


def judge_dense(protocol: DenseProtocol, joint: Joint, spec: Spec) -> Fraction | None:
    """e^level of a protocol that is a matrix."""
    check_shares(protocol.integers, 1 << protocol.bits)
    return judge_weights(protocol.integers, protocol.reads, joint, spec)


def judge_weights(weights: Integers, reads: str, joint: Joint, spec: Spec) -> Fraction | None:
    """e^level of a matrix of integer weights; None is ∞."""
    check_shares(weights)
    counts = joint.exact.astype(object)
    c, a = counts.shape
    x = np.arange(a)
    if reads == "sx":
        x, spread = np.tile(x, c), np.zeros((c, c * a), object)
        for s in range(c):
            spread[s, s * a : (s + 1) * a] = counts[s]
        counts = spread
    if spec.protect == "x":
        counts = np.array([counts.sum(axis=0) * (x == v) for v in range(a)], object)
    attributes = [axis.tolist() for axis in np.unravel_index(x, joint.shape[1:])]
    return worst_ratio(spec.name, weights, counts, attributes, reads)


JUDGES: dict[str, Callable[[Any, Joint, Spec], Fraction | None]] = {"dense": judge_dense}


def _typed(attribute: Attribute) -> tuple[object, ...]:
    # True == 1 in Python, but they are two values.
    return attribute.name, attribute.values, [type(value) for value in attribute.values]


def _describe(attributes: Sequence[Attribute]) -> str:
    return ", ".join(f"{a.name} ({len(a)} values)" for a in attributes)


def _judge(protocol: Protocol, joint: Joint, spec: Spec) -> Fraction | None:
    if protocol.kind not in JUDGES:
        raise ProtocolError(f"there is no judge for a protocol of kind {protocol.kind!r}; there are {', '.join(JUDGES)}")
    return JUDGES[protocol.kind](protocol, joint, spec)
