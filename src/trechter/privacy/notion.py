"""A privacy notion: conditions `F·w ≤ e^ε G·w` on single rows w of a protocol, so a cone; and the level a protocol has.

F and G are measures on letters, one row a condition, in whatever numbers the letters are given (floats or Fractions).
The cone at ε is {w ≥ 0 : (F − e^ε G) w ≤ 0}; the level of Q is the largest ln(F·w / G·w) over its rows w.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trechter.errors import TooLargeError
from trechter.exact import epsilon_from, exp_bounds
from trechter.geometry import Cone
from trechter.model.joint import Joint
from trechter.model.letters import Letters, letters
from trechter.model.protocol import Protocol, check_pair
from trechter.model.spec import Spec

Conditions = tuple[NDArray[Any], NDArray[Any]]
MOST_CELLS = 200_000_000  # of F, and of G: 1.6 GB each


@dataclass(frozen=True, init=False)
class Notion(ABC):
    """A notion at a level."""

    spec: Spec

    @abstractmethod
    def conditions(self, letters: Letters) -> Conditions:
        """F and G."""

    @abstractmethod
    def at(self, eps: Any) -> Self:
        """The same notion at another level."""

    @abstractmethod
    def level(self, protocol: Protocol, joint: Joint) -> float:
        """The smallest ε for which the notion holds, as a float; `certify` decides."""

    @property
    def epsilon(self) -> Fraction | None:
        """The level, exactly; None is ∞."""
        return self.spec.epsilon

    def cone(self, joint: Joint, reads: str = "x", exact: bool = False) -> Cone:
        """The row cone; in exact mode e^ε is replaced by a rational just below it, so the cone is inside the true one."""
        F, G = self.conditions(letters(joint, reads, exact))
        if self.epsilon is None:
            return Cone(G[:0])
        if exact:
            return Cone(F - exp_bounds(self.epsilon)[0] * G)
        return Cone(math.exp(-self.spec.exponent) * F - G)

    def __repr__(self) -> str:
        return str(self.spec)


@dataclass(frozen=True, init=False, repr=False)
class PlainNotion(Notion):
    """A notion for the joint as counted; ε is an int, text, Decimal, Fraction or float (its exact binary value)."""

    name: ClassVar[str]

    def __init__(self, eps: Any, *, protect: str = "s") -> None:
        object.__setattr__(self, "spec", Spec(self.name, epsilon_from(eps), protect))

    def at(self, eps: Any) -> Self:
        """The same notion at another level."""
        return type(self)(eps, protect=self.spec.protect)

    def level(self, protocol: Protocol, joint: Joint) -> float:
        """The smallest ε for which the notion holds, as a float; `certify` decides."""
        check_pair(protocol, joint)
        F, G = self.conditions(letters(joint, protocol.reads))
        return float(np.log(protocol.ratios(F, G).max(initial=1.0)))


def check_size(conditions: int, letters: int) -> None:
    """Refuse conditions that would not fit into memory."""
    if conditions * letters > MOST_CELLS:
        raise TooLargeError(
            f"{conditions:,} conditions on {letters:,} letters are too many to write down; put values into bins, "
            "or release fewer attributes"
        )


def given(table: NDArray[Any]) -> NDArray[Any]:
    """p(i | s) from numbers proportional to p(s, i); values s of probability zero ask for nothing and are left out."""
    sums = table.sum(axis=1)
    kept = table[sums > 0]
    if table.dtype == object:
        return np.array([[Fraction(v, sum(row)) for v in row] for row in kept.tolist()], object).reshape(kept.shape)
    return np.asarray(kept / sums[sums > 0][:, None])


def marginal(table: NDArray[Any]) -> NDArray[Any]:
    """p(i), as a table of one row."""
    return given(table.sum(axis=0, keepdims=True))
