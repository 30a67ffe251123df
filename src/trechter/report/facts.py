"""The figures that the report shows, each computed once from the joint, the protocol and what was drawn.

With P(x,y) = P(x|y) P(y): what readers learn about an attribute is read off its own P(v,y), the sum over the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trechter.alphabet import Attribute
from trechter.alphabet.values import label
from trechter.finish.explain import SURE, posteriors
from trechter.measures import Leakage, TaskInformation, entropy, leakage, mutual_information, posterior_range
from trechter.model.certificate import Certificate
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.model.protocol import Protocol
from trechter.model.spec import Spec
from trechter.report.release import Release
from trechter.report.text import labels, listing, named, statements, visible
from trechter.report.told import Told

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Seen:
    """What readers learn about one attribute; arrays have an entry for each value.

    `after`: the share in the release (`plain`), or what the odds of the released rows add up to. `truth`: the probability
    that readers give to the true value of such a row, on average. `exact`: how often the output leaves only that value.
    """

    attribute: Attribute
    plain: bool
    before: Array
    after: Array
    truth: Array
    exact: Array
    guess: tuple[float, float]
    information: float
    entropy: float


@dataclass(frozen=True, eq=False)
class Facts:
    """A release seen from all sides."""

    release: Release

    @property
    def joint(self) -> Joint:
        """What was counted."""
        return self.release.joint

    @property
    def protocol(self) -> Protocol:
        """What was designed."""
        return self.release.result.protocol

    @property
    def certificate(self) -> Certificate:
        """What was decided."""
        return self.release.certificate

    @property
    def spec(self) -> Spec:
        """What was promised."""
        return self.certificate.notion

    @cached_property
    def leakage(self) -> Leakage:
        """What is learnt about the secret."""
        return leakage(self.joint, self.protocol)

    @cached_property
    def masses(self) -> Array:
        """P(letter), in the order of the protocol's columns."""
        return np.asarray(letters(self.joint, self.protocol.reads).masses)

    @cached_property
    def output_shares(self) -> Array:
        """P(y)."""
        return np.asarray(self.protocol.products(self.masses[None])[0])

    @cached_property
    def told(self) -> Told:
        """P(x|y)."""
        return Told.by(self.protocol, self.joint)

    @cached_property
    def secret_given(self) -> Array:
        """P(s|y), one row an output; the prior where P(y) = 0."""
        together = self.protocol.products(letters(self.joint, self.protocol.reads).secret).T
        sums = together.sum(axis=1, keepdims=True)
        return np.where(sums > 0, together / np.where(sums > 0, sums, 1), self.joint.p_s)

    @cached_property
    def drawn(self) -> Array:
        """How often each output was drawn."""
        full = np.zeros(len(self.output_shares))
        full[: len(self.release.drawn)] = self.release.drawn
        return full

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The letters in words."""
        return labels(self.protocol.input_attributes)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """What stands in the released table, by output."""
        columns = [([named(label(v)) for v in c.values], c.codes) for c in self.protocol.columns()]
        return tuple(" · ".join(names[codes[y]] for names, codes in columns) for y in range(len(self.output_shares)))

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The values of x in words."""
        return labels(self.joint.release)

    @cached_property
    def secret_names(self) -> tuple[str, ...]:
        """The values of the secret in words."""
        return labels(self.joint.secret)

    @cached_property
    def published(self) -> str:
        """The names of the published columns."""
        return listing([visible(a.name) for a in self.joint.release])

    @cached_property
    def protected(self) -> str:
        """The name of what is protected."""
        return self.published if self.spec.protect == "x" else listing([visible(a.name) for a in self.joint.secret])

    @cached_property
    def protected_values(self) -> tuple[str, ...]:
        """What is protected, value by value, as statements."""
        return statements(self.joint.release if self.spec.protect == "x" else self.joint.secret)

    @cached_property
    def priors(self) -> Array:
        """How common each protected value is."""
        return self.joint.p_x if self.spec.protect == "x" else self.joint.p_s

    @cached_property
    def measured(self) -> Array:
        """For each protected value the least and the largest posterior that any output leads to."""
        own = self.spec.protect == "x"
        table = posteriors(self.protocol.matrix, self.joint, self.protocol.reads) if own else self.secret_given
        table = table[self.output_shares > 0]
        return np.stack([table.min(axis=0), table.max(axis=0)], axis=1)

    @cached_property
    def promised(self) -> Array:
        """The same as the promise limits it."""
        return np.array([posterior_range(self.spec, float(p)) for p in self.priors])

    @cached_property
    def information(self) -> float:
        """I(X;Y)."""
        return mutual_information(self.joint, self.protocol)

    @cached_property
    def entropy(self) -> float:
        """H(X)."""
        return entropy(self.joint.p_x)

    @cached_property
    def task_information(self) -> float | None:
        """I(T;Y), if there is a task column."""
        return None if self.joint.task is None else TaskInformation().utility(self.joint, self.protocol)

    @cached_property
    def seen(self) -> tuple[Seen, ...]:
        """What readers learn, by attribute."""
        return tuple(self._seen(j) for j in range(len(self.joint.release)))

    def _seen(self, j: int) -> Seen:
        attribute, q = self.joint.release[j], self.output_shares
        told = self.told.about(self.joint.shape[1:], j)
        given, together = told.share, told.share * q[told.output]

        def summed(parts: Array) -> Array:
            return np.bincount(told.value, parts, len(attribute)).astype(np.float64)

        before = summed(together)
        after = self._shares_in_column(attribute)
        rows = max(self.drawn.sum(), 1)
        return Seen(
            attribute,
            after is not None,
            before,
            summed(self.drawn[told.output] * given) / rows if after is None else after / rows,
            _ratio(summed(together * given), before),
            _ratio(summed(together * (given > SURE)), before),
            (float(before.max()), float(told.largest(together, len(q)).sum())),
            max(0.0, entropy(before) + entropy(q) - entropy(together)),
            entropy(before),
        )

    def _shares_in_column(self, attribute: Attribute) -> Array | None:
        """How often each value stands in the released column of this attribute, if it has one of plain values."""
        column = next((c for c in self.protocol.columns() if c.name == attribute.name), None)
        place = {(type(v), v): code for code, v in enumerate(attribute.values)}
        if column is None or not all((type(v), v) in place for v in column.values):
            return None
        places = np.array([place[type(v), v] for v in column.values])
        return np.bincount(places[column.codes], self.drawn, len(place)).astype(np.float64)


def movement(before: float, after: float) -> float:
    """How far odds moved, in log-odds either way."""
    if before in (0, 1) or math.isclose(before, after, rel_tol=1e-12):
        return 0.0
    return math.inf if after <= 0 or after >= 1 else abs(math.log(after / before) - math.log((1 - after) / (1 - before)))


def foremost(weights: Sequence[float] | Array, most: int) -> list[int]:
    """The places of the largest weights, in their own order; all of them if they are few."""
    largest = np.argsort(-np.asarray(weights), kind="stable")[:most]
    return sorted(int(i) for i in largest)


def _ratio(parts: Array, whole: Array) -> Array:
    return np.divide(parts, whole, out=np.zeros_like(parts), where=whole > 0)
