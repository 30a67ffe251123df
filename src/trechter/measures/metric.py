"""A metric as it is found: its value, and the standard error of what was drawn at random to find it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """`error` is one standard error; 0 where the value is a formula or an integral, and nothing was drawn."""

    name: str
    value: float
    error: float = 0.0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.6g}" + (f" ± {self.error:.1g}" if self.error else "")
