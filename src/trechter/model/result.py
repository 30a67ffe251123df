"""What a design or a mechanism gives back: a protocol together with the evidence for it."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any
from typing import Protocol as Shape

from trechter.model.certificate import Certificate
from trechter.model.protocol import Protocol

STATUSES = ("optimal", "gap", "heuristic")


class Scale(Shape):
    """What needs to be known of a measure to speak of its values."""

    @property
    def symbol(self) -> str:
        """Its formula, in short."""

    @property
    def unit(self) -> str:
        """What it counts; empty if it is a pure number."""

    @property
    def less_is_better(self) -> bool:
        """Whether it measures loss."""


@dataclass(frozen=True, eq=False)
class Result:
    """A certified protocol; `utility` is that of its integers, `bound` is what no protocol can pass, `gap` the difference.

    `measure` is what was made as large, or if less is better as small, as possible.
    """

    protocol: Protocol
    utility: float
    bound: float
    status: str
    solver: str
    seconds: float
    certificate: Certificate
    measure: Scale
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """How far from the optimum the utility can be."""
        return abs(self.bound - self.utility)

    def __repr__(self) -> str:
        return (
            f"Result({self.certificate.notion}, utility {self.utility:.9g}, gap {self.gap:.2g}, "
            f"{self.status}, by {self.solver} in {self.seconds:.3g} s)"
        )

    def _repr_html_(self) -> str:
        shown = getattr(self.protocol, "_repr_html_", lambda: "")()
        return f"<p>{html.escape(repr(self))}</p>{shown}"
