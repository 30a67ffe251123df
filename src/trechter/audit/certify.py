"""Certify: decide in integers whether a protocol keeps a promise for a joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import index
from typing import Any
from typing import Protocol as Shape

import numpy as np

from trechter.alphabet import Attribute
from trechter.audit.definitions import Drawn, Sums, worst_ratio
from trechter.audit.robust import judge_robust
from trechter.audit.unary import judge_unary
from trechter.errors import NotionError, ProtocolError
from trechter.exact import at_most_exp, log_up, product
from trechter.exact.matrices import Integers
from trechter.model.certificate import Certificate
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.over import Over
from trechter.model.protocol import Protocol, check_pair
from trechter.model.sparse import SparseProtocol
from trechter.model.sparse_weights import SparseWeights
from trechter.model.spec import Spec
from trechter.model.unary import UnaryProtocol

MOST_PROTECTED = 1000  # values of x, if they are what is protected: the square of it is looked at


class HasSpec(Shape):
    """Anything that says in plain words what it promises."""

    @property
    def spec(self) -> Spec: ...


def certify(protocol: Protocol, joint: Joint, notion: HasSpec | Spec | None = None) -> Certificate:
    """The verdict on a notion, or on the protocol's own promise; holds iff e^level ≤ e^ε, decided exactly."""
    check_pair(protocol, joint)
    spec = protocol.promise if notion is None else spec_of(notion)
    if spec is None:
        raise ProtocolError("the protocol promises nothing; name the notion to certify, for example tr.LIP('0.5')")
    check_fits(protocol, joint, secret=notion is None)
    worst = judge(protocol, joint, spec)
    certificate = Certificate(spec, holds(worst, spec.epsilon), log_up(worst), worst, protocol.digest)
    facts = facts_of(joint) | facts_over(joint, spec)
    if len(joint.secret) > 1 and spec.protect == "s":
        facts["levels"] = {a.name: log_up(judge_secret(protocol, joint, a.name, spec)) for a in joint.secret}
    if protocol.parents:
        facts["composed"] = list(protocol.parents)
    return certificate.with_facts(**facts)


def facts_of(joint: Joint) -> dict[str, Any]:
    """What a certificate records of the counts that it is about."""
    return {"n": joint.n, "schema": joint.schema_origin, "secret": [a.name for a in joint.secret]}


def facts_over(joint: Joint, spec: Spec) -> dict[str, Any]:
    """What a certificate records of the set of distributions: what P obeys in it. The counts are not part of that."""
    if spec.over is None:
        return {}
    region = spec.over.around(joint)
    radius = {} if region.low else {"radius": str(region.radius)}
    return {"set": {"cells": len(region.counts), **radius, "formula": f"for every P with {region.formula}"}}


def worst_case_level(protocol: Protocol, joint: Joint, notion: HasSpec | Spec, *, over: Any) -> float:
    """The smallest ε, rounded up, for which a notion holds for every distribution in a set around the counts; inf if none."""
    check_pair(protocol, joint)
    check_fits(protocol, joint, secret=False)
    around = getattr(over, "over", over)
    if not isinstance(around, Over):
        raise NotionError(f"{over!r} is no set of distributions; give one, for example tr.ChiSquare(alpha=0.05)")
    return log_up(judge(protocol, joint, replace(spec_of(notion), epsilon=None, over=around)))


def spec_of(notion: HasSpec | Spec) -> Spec:
    """What a notion promises, in plain words."""
    spec = getattr(notion, "spec", notion)
    if not isinstance(spec, Spec):
        raise NotionError(f"{notion!r} is no notion to certify; give one, for example tr.LIP('0.5')")
    return spec


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
    """e^level of a matrix of integer weights; None is ∞. Over a set of distributions it is an upper bound, hardly above it."""
    check_shares(weights)
    if robust(spec):
        return judge_robust(weights, reads, joint, spec)
    return worst_of(weights, *counted(reads, joint, spec), reads, spec.name)


def keeps(weights: Integers, reads: str, joint: Joint, spec: Spec) -> bool:
    """Whether a matrix of integer weights keeps a promise; over a set of distributions no level is looked for."""
    if robust(spec) and spec.epsilon is not None:
        check_shares(weights)
        return judge_robust(weights, reads, joint, spec, only=True) is not None
    return holds(judge_weights(weights, reads, joint, spec), spec.epsilon)


def robust(spec: Spec) -> bool:
    """Whether a promise is for more distributions than the one that was counted."""
    return spec.over is not None and spec.over.radius != 0


def judge_secret(protocol: Protocol, joint: Joint, name: str, spec: Spec) -> Fraction | None:
    """e^level about one of several secret columns, of a protocol that may read all of them; a set is that of all of them."""
    sizes, axis = [len(a) for a in joint.secret], [a.name for a in joint.secret].index(name)
    values = np.unravel_index(np.arange(joint.exact.shape[0]), sizes)[axis]
    if robust(spec):
        weights = protocol.sparse if isinstance(protocol, SparseProtocol) else protocol.integers  # type: ignore[attr-defined]
        return judge_robust(weights, protocol.reads, joint, spec, protected=np.repeat(values, joint.exact.shape[1]))
    if protocol.reads == "x":
        return judge(protocol, joint.about(name), spec)
    counts, attributes = counted("sx", joint, spec)
    alone = np.array([counts[values == v].sum(axis=0) for v in range(sizes[axis])])
    return worst_of(protocol.integers, alone, attributes, "sx", spec.name)  # type: ignore[attr-defined]


def worst_of(weights: Integers, counts: Integers, attributes: list[list[int]], reads: str, name: str) -> Fraction | None:
    """e^level of a matrix for counts of the protected values by letter; None is ∞."""

    def among(chosen: Any) -> tuple[Drawn, Sums]:
        part = counts[:, chosen]
        return product(weights[:, chosen], part.T).tolist(), part.sum(axis=1).tolist()

    return worst_ratio(name, among, attributes, reads)


def counted(reads: str, joint: Joint, spec: Spec) -> tuple[Integers, list[list[int]]]:
    """N[v, i] for the protected values v and the letters i that are read, and the attributes of the letters."""
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
    return counts, [axis.tolist() for axis in np.unravel_index(x, joint.shape[1:])]


def judge_sparse(protocol: SparseProtocol, joint: Joint, spec: Spec) -> Fraction | None:
    """e^level of a protocol of sparse weights."""
    return judge_entries(protocol.sparse, protocol.reads, joint, spec)


def judge_entries(weights: SparseWeights, reads: str, joint: Joint, spec: Spec) -> Fraction | None:
    """e^level of sparse integer weights; None is ∞."""
    if spec.protect == "x" and joint.exact.shape[1] > MOST_PROTECTED:
        raise ProtocolError(
            f"there is no judge for {spec} and {joint.exact.shape[1]:,} values: use bins, or protect the secret"
        )
    shares = check_entries(weights)
    if robust(spec):
        return judge_robust(weights, reads, joint, spec)
    counts, attributes = counted(reads, joint, spec)

    def among(chosen: Any) -> tuple[Drawn, Sums]:
        part = np.zeros_like(counts)
        part[:, chosen] = counts[:, chosen]
        drawn = weights.background.astype(object)[:, None] * (part * shares).sum(axis=1)
        np.add.at(drawn, weights.output, (part[:, weights.letter] * weights.weight.astype(object)).T)
        return drawn.tolist(), part.sum(axis=1).tolist()

    return worst_ratio(spec.name, among, attributes, reads)


def check_entries(weights: SparseWeights) -> Integers:
    """All columns have the sum 2^bits; how often the background counts in each: more than once where it is all there is."""
    whole, shared = 1 << weights.bits, sum(weights.background.tolist())
    if min(weights.background.tolist()) < 0 or min(weights.weight.tolist(), default=0) < 0:
        raise ProtocolError("a weight is negative: it is no probability")
    own = np.zeros(weights.inputs, object)
    np.add.at(own, weights.letter, weights.weight.astype(object))
    shares = np.where(own > 0, 1, whole // shared if shared else 0).astype(object)
    wrong = np.flatnonzero(own + shares * shared != whole)
    if len(wrong):
        i = int(wrong[0])
        raise ProtocolError(f"column {i} is no distribution: its sum is {own[i] + shares[i] * shared}, not {whole}")
    return np.asarray(shares)


def judge_encoding(protocol: UnaryProtocol, joint: Joint, spec: Spec) -> Fraction | None:
    """e^level of a unary encoding; over a set of distributions its outputs are listed."""
    if not robust(spec):
        return judge_unary(protocol, joint, spec)
    if not protocol.listed:
        raise ProtocolError(
            f"a unary encoding of {len(protocol.inputs):,} values has too many outputs for the judge of {spec}: "
            "use a protocol that is a matrix, or merge values"
        )
    return judge_weights(protocol.integers, protocol.reads, joint, spec)


JUDGES: dict[str, Callable[[Any, Joint, Spec], Fraction | None]] = {
    "dense": judge_dense,
    "sparse": judge_sparse,
    "unary": judge_encoding,
}


def judge(protocol: Protocol, joint: Joint, spec: Spec) -> Fraction | None:
    """e^level by the judge of its kind; None is ∞."""
    if protocol.kind not in JUDGES:
        raise ProtocolError(f"there is no judge for a protocol of kind {protocol.kind!r}; there are {', '.join(JUDGES)}")
    return JUDGES[protocol.kind](protocol, joint, spec)


def _typed(attribute: Attribute) -> tuple[object, ...]:
    # True == 1 in Python, but they are two values.
    return attribute.name, attribute.values, [type(value) for value in attribute.values]


def _describe(attributes: Sequence[Attribute]) -> str:
    return ", ".join(f"{a.name} ({len(a)} values)" for a in attributes)
