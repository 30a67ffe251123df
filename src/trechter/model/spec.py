"""What a protocol promises, in plain words that any judge can read: a notion's name, ε, what is protected, and for which P."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from trechter.errors import NotionError
from trechter.exact import epsilon_from, epsilon_text
from trechter.model.over import Over

NORMAL = Fraction(1, 10**300)  # beyond this, floats end
VAST = 700.0  # e to this is about the largest float
NAMES = ("ldp", "lip", "srldp", "srlip")


@dataclass(frozen=True)
class Spec:
    """A notion by name, its exact level (None is ∞), whether the secret ("s") or the data itself ("x") is protected, and the
    set of distributions that it is promised for, if not only the one that was counted."""

    name: str
    epsilon: Fraction | None
    protect: str = "s"
    over: Over | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise NotionError(f"unknown notion {self.name!r}; known are {', '.join(NAMES)}")
        if self.epsilon is not None and self.epsilon < 0:
            raise NotionError(f"ε = {self.epsilon} is negative; a privacy level is 0 (perfect privacy) or more")
        if self.protect not in ("s", "x"):
            raise NotionError(f"protect={self.protect!r} is unknown; use 's' (the secret) or 'x' (the data itself)")

    def __repr__(self) -> str:
        suffix = ", protect='x'" if self.protect == "x" else ""
        plain = f"{self.name.upper()}({self.level_text}{suffix})"
        return plain if self.over is None else f"Robust({plain}, over={self.over})"

    @property
    def level_text(self) -> str:
        """ε as people write it: exact if that is short, else as a float, so that a level just above it is seen to be above."""
        if self.epsilon is None:
            return "inf"
        exact = epsilon_text(self.epsilon)
        if self.epsilon != 0 and not NORMAL < self.epsilon < 1 / NORMAL:
            return f"{Decimal(self.epsilon.numerator) / Decimal(self.epsilon.denominator):.5E}"
        short = f"{float(self.epsilon):.6g}"
        return short if Fraction(short) == self.epsilon else exact if len(exact) <= 12 else repr(float(self.epsilon))

    @property
    def exponent(self) -> float:
        """ε for formulas in floats, at most VAST; ∞ is as good as VAST there."""
        return VAST if self.epsilon is None or self.epsilon > VAST else float(self.epsilon)

    def to_json(self) -> dict[str, Any]:
        """JSON form, ε as exact text."""
        plain = {"notion": self.name, "epsilon": epsilon_text(self.epsilon), "protect": self.protect}
        return plain if self.over is None else plain | {"over": self.over.to_json()}

    @classmethod
    def from_json(cls, data: object) -> Spec:
        """Inverse of `to_json`."""
        match data:
            case {"notion": str(name), "epsilon": str(epsilon), **rest}:
                over = Over.from_json(rest["over"]) if rest.get("over") is not None else None
                return cls(name, epsilon_from(epsilon), str(rest.get("protect", "s")), over)
        raise NotionError(f"{data!r} is not a promise: it needs a notion and an epsilon as text")
