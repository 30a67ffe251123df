"""A row of a comparison: one protocol at one level, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from trechter.measures import Leakage
from trechter.model.kinds import Plain
from trechter.model.result import Result
from trechter.model.spec import Spec

OPTIMUM = "optimum"
BIT = math.log(2)
LONGEST = 24  # of a name that is shown
LEAKS = ("information", "bayes_gain", "maximal")
ENDS = ("constant", "identity")  # what says nothing and what says all: no competitors


@dataclass(frozen=True, eq=False)
class Row:
    """One protocol at one level; no protocol that reads the same can pass `bound`. Or the reason why there is none."""

    name: str
    notion: Spec
    reads: str | None = None
    result: Result | None = None
    leakage: Leakage | None = None
    bound: float | None = None
    reason: str | None = None

    @property
    def label(self) -> str:
        """Its name; there may be two optima."""
        return f"{self.name} reading s" if self.name == OPTIMUM and self.reads == "sx" else self.name

    @property
    def holds(self) -> bool:
        """Whether it keeps the promise."""
        return self.result is not None and self.result.certificate.holds

    @property
    def status(self) -> str:
        """That of a result; or that there is none."""
        return "unreached" if self.result is None else self.result.status

    @property
    def utility(self) -> float | None:
        """What it is worth."""
        return None if self.result is None else self.result.utility

    @property
    def gap(self) -> float | None:
        """How far it is from what no protocol that reads the same can pass."""
        return None if self.utility is None or self.bound is None else abs(self.bound - self.utility)

    @property
    def level(self) -> float | None:
        """Its level as certified, rounded up."""
        return None if self.result is None else self.result.certificate.level

    @property
    def alpha(self) -> float | None:
        """The α at which a mechanism has that level."""
        return None if self.result is None else self.result.stats.get("alpha")

    def leak(self, name: str) -> float | None:
        """One figure of the leakage."""
        return None if self.leakage is None else float(getattr(self.leakage, name))

    @property
    def outputs(self) -> int | str | None:
        """How many outputs it has; 2^a in words, where nobody lists them."""
        if self.result is None:
            return None
        protocol = self.result.protocol
        if isinstance(protocol, Plain):
            return len(protocol.outputs)
        return f"2^{math.prod(len(attribute) for attribute in protocol.input_attributes)}"

    def to_json(self, whole: float | None) -> dict[str, Any]:
        """For machines; ∞ is text, and what is not known is null."""
        found = self.result
        what: dict[str, Any] = {"name": self.name, "reads": self.reads, "status": self.status}
        what |= {"holds": self.holds, "level": _number(self.level), "alpha": _number(self.alpha), "reason": self.reason}
        worth: dict[str, Any] = {"utility": self.utility, "bound": _number(self.bound), "gap": _number(self.gap)}
        if found is not None and found.measure.unit == "nats":
            worth["bits"] = found.utility / BIT
        worth["share"] = self.share(whole)
        cost = {"outputs": self.outputs, "solver": found and found.solver, "seconds": found and found.seconds}
        return what | worth | {"leakage": self.leakage and {name: _number(self.leak(name)) for name in LEAKS}} | cost

    def share(self, whole: float | None) -> float | None:
        """What it keeps of what x itself is worth."""
        return None if self.utility is None or not whole else min(1.0, self.utility / whole)


def ordered(row: Row, less_is_better: bool) -> tuple[Any, ...]:
    """By utility, the optimum first of equals; then what does not keep the promise; then what there is not."""
    utility = 0.0 if row.utility is None else row.utility if less_is_better else -row.utility
    return row.result is None, not row.holds, utility, row.name != OPTIMUM, row.name


def _number(value: float | None) -> float | str | None:
    if value is None or math.isnan(value):
        return None
    return "inf" if value == math.inf else "-inf" if value == -math.inf else value
