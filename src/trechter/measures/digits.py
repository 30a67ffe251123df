"""c(Q): after n rows the aggregator knows the distribution P of X to ½ log n + c(Q) digits.

    I(Y₁…Yₙ; P) = (a − 1)(½ ln n + c) + h(P) + o(1),     c = E ln det J_Q(P) / (2(a − 1)) − ½ ln 2πe,

since the posterior is nearly normal; and P written to d digits of base g has entropy h(P) + (a − 1) d ln g. So c / ln g
counts digits. It is −∞ where Q has a rank below a: then some of P is never learned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trechter.errors import RequestError
from trechter.measures.dirichlet import Dirichlet, Prior
from trechter.measures.fisher import mean_log_det
from trechter.measures.metric import Metric
from trechter.model.protocol import Protocol

DRAWS = 400


@dataclass(frozen=True)
class Digits(Metric):
    """c(Q) in digits of a base, and what follows from it for n rows."""

    base: float = 10.0
    coordinates: int = 1
    prior_entropy: float = 0.0

    def after(self, n: int) -> float:
        """½ log n + c(Q): how many digits of each share are known after n rows."""
        return math.log(_rows(n)) / (2 * math.log(self.base)) + self.value

    def information(self, n: int) -> float:
        """What I(Yⁿ;P) tends to, in nats: below its value for small n, and even below 0."""
        return self.coordinates * self.after(n) * math.log(self.base) + self.prior_entropy

    def sentence(self, n: int) -> str:
        """What is known after n rows, in words."""
        if math.isinf(self.value):
            return "However many rows are released, some of the distribution of X is never learned: Q has no full rank."
        name = "decimal digits" if self.base == 10 else f"digits of base {self.base:g}"
        start = f"½ log n {'−' if self.value < 0 else '+'} {abs(self.value):.2f}"
        return f"After {n:,} rows the aggregator knows each share of X to about {self.after(n):.2f} {name} ({start})."


def digits(protocol: Protocol, *, prior: Prior = 1, base: float = 10, draws: int = DRAWS, seed: int = 0) -> Digits:
    """c(Q) for P ~ Dirichlet(prior), in digits of a base; drawn where Q has more outputs than values that tell apart."""
    if not (isinstance(base, (int, float)) and math.isfinite(base) and base > 1):
        raise RequestError(f"base={base!r}: digits have a base above 1, such as 10, 2 or math.e")
    believed = Dirichlet.of(protocol, prior)
    value, error = mean_log_det(protocol, believed, draws, seed)
    unit, k = math.log(base), believed.a - 1
    c = value / (2 * k) - (1 + math.log(2 * math.pi)) / 2
    return Digits("c(Q)", c / unit, error / (2 * k) / unit, base, k, believed.differential_entropy)


def _rows(n: int) -> int:
    if not isinstance(n, (int, np.integer)) or n < 1:
        raise RequestError(f"n = {n!r}: give the number of rows, an integer of at least 1")
    return n
