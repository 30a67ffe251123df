"""An uncertainty set F: the distributions of (S, X) that the counts do not rule out, and the worst of them.

F is convex and contains P̂. Its support function `δ*(v) = max { P·v : P ∈ F }` is what every robust question comes down to;
every file here has its dual in one scalar, from which the worst P follows. Cells are all pairs (s, x), in C order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trechter.model.joint import Joint
from trechter.model.over import Over, Region
from trechter.sets.events import Events, Worst
from trechter.sets.ratio import SMOOTH, Search, worst_by_levels

Array = NDArray[np.float64]
USUAL = "0.05"


@dataclass(frozen=True, init=False, repr=False)
class UncertaintySet(ABC):
    """A kind of set, and how large: by the level 1 − alpha that it has, 0.95 unless said otherwise, or by its radius."""

    name: ClassVar[str]
    search: ClassVar[Search] = SMOOTH
    over: Over

    def __init__(self, *, alpha: Any = None, radius: Any = None) -> None:
        usual = USUAL if alpha is None and radius is None else alpha
        object.__setattr__(self, "over", Over.of(self.name, usual, radius))

    def around(self, joint: Joint) -> Around:
        """The set around a joint's counts."""
        return Around(self, self.over.around(joint))

    @abstractmethod
    def support(self, around: Around, v: Array) -> Array:
        """For each row of v a P ∈ F with the largest P·v."""

    def worst(self, around: Around, events: Events, rows: Array, factor: float) -> Worst:
        """For each row w and pair of events the P ∈ F with the largest P(w|A) − factor·P(w|B)."""
        return worst_by_levels(around.support, around.p, events, rows, factor, self.search)

    def __repr__(self) -> str:
        size = (
            f"alpha={float(self.over.alpha):g}" if self.over.alpha is not None else f"radius={float(self.over.radius or 0):g}"
        )
        return f"{type(self).__name__}({size})"


@dataclass(frozen=True, eq=False)
class Around:
    """A set around counts, in floats; the judge has its own numbers."""

    kind: UncertaintySet
    region: Region

    @cached_property
    def p(self) -> Array:
        """P̂."""
        counts = self.region.counts
        total = sum(counts)
        return np.array([n / total for n in counts])

    @cached_property
    def radius(self) -> float:
        """The radius."""
        return float(self.region.radius)

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Bounds of every cell."""
        return np.array([float(v) for v in self.region.low]), np.array([float(v) for v in self.region.high])

    def support(self, v: Array) -> Array:
        """For each row of v a P ∈ F with the largest P·v."""
        return self.kind.support(self, v)

    def worst(self, events: Events, rows: Array, factor: float) -> Worst:
        """For each row w (over cells) and pair of events the P ∈ F with the largest P(w|A) − factor·P(w|B)."""
        if not len(events):  # a secret of one value
            nothing = np.empty((len(rows), 0))
            return Worst(nothing[:, :, None], nothing[:, :, None], nothing)
        return self.kind.worst(self, events, rows, factor)
