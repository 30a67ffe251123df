"""Calibration: the most that a family of protocols may say at a level.

GRR, Conditional Reporting and a scaled PRAM matrix are blends `Q_k = (k A + B) / (k + |B|)`, k = e^α − 1, where every column
of A sums to 1 and every column of B to |B|. A condition F·w ≤ e^ε G·w on each of their rows is linear in k:

    k (F·A_y − e^ε G·A_y) ≤ e^ε G·B_y − F·B_y

so a level is kept on an interval of k, in closed form, for every notion. It starts at 0 if B is private; B of Conditional
Reporting is not for SRLIP, and then the interval may be empty.

The interval is a float's. What is delivered are integers, at the largest k tried that the judge accepts. Over a set of
distributions each P has such an interval: the judge alone knows where they all end, and α is halved between yes and no.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.audit.certify import keeps
from trechter.errors import RequestError, SolverError, TooLargeError
from trechter.mechanisms.record import promised
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.model.protocol import Protocol
from trechter.model.spec import VAST as EXPONENT
from trechter.privacy import Notion, Robust

Array = NDArray[np.float64]
Make = Callable[[float], Protocol]  # the protocol at k, in exact integers
Products = Callable[[Array], tuple[Array, Array]]  # of conditions with A and B
NOISE = 1e-13  # relative float error of a difference of conditions: less is 0
ULP = 1e-16
STEPS = 14  # steps back from the edge of an interval, each eight times the last
VAST = 1e36  # a k that is as good as ∞, but for float noise
HALVINGS = 200
STARTS = 8  # places where the promise may be kept, over a set of distributions
CLOSE = 1e-7  # of α, there
MOST_OUTPUTS = 1100  # a set of ten values has 1024


@dataclass(frozen=True, eq=False)
class Blend:
    """F and G of every condition (rows) against A and B of every output (columns), and the protocol at k."""

    over: tuple[Array, Array]
    under: tuple[Array, Array]
    protocol: Make

    @classmethod
    def of(cls, joint: Joint, notion: Notion, reads: str, products: Products, make: Make) -> Blend:
        """The blend whose products of conditions with A and B are these."""
        F, G = notion.conditions(letters(joint, reads))
        return cls(products(F), products(G), make)

    def reach(self, epsilon: float) -> tuple[float, float]:
        """The interval of k at whose ends the level is ε; empty if the first is larger."""
        if epsilon == math.inf:
            return 0.0, math.inf
        (FA, FB), (GA, GB), k = self.over, self.under, math.expm1(epsilon)
        slope, room = (FA - GA) - k * GA, (GB - FB) + k * GB
        slope = np.where(np.abs(slope) > NOISE * FA, slope, 0)
        room = np.where(np.abs(room) > NOISE * FB, room, 0)
        with np.errstate(over="ignore"):  # at ε = 700 the edge may be beyond all floats
            edge = np.divide(room, slope, out=np.where(room >= 0, np.inf, -np.inf), where=slope != 0)
        least = np.max(edge, where=slope < 0, initial=0.0)
        return float(least), float(np.min(edge, where=slope >= 0, initial=np.inf))

    def level(self, k: float) -> float:
        """The level at k, in floats."""
        (FA, FB), (GA, GB) = self.over, self.under
        rest = 1 / (1 + k)
        over, under = (1 - rest) * FA + rest * FB, (1 - rest) * GA + rest * GB
        ratios = np.divide(over, under, out=np.where(over > 0, np.inf, 1.0), where=under > 0)
        return float(np.log(ratios.max(initial=1.0)))

    def lowest(self) -> float:
        """The least level of all k: below it the interval is empty."""
        low, high = 0.0, min(self.level(0.0), self.level(math.inf), EXPONENT)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            least, most = self.reach(middle)
            low, high = (low, middle) if least <= most else (middle, high)
        return high


def calibrated(name: str, blend: Blend, joint: Joint, notion: Notion) -> tuple[Protocol, dict[str, Any]]:
    """The protocol at the largest k that is certified, and its α."""
    least, most = blend.reach(math.inf if notion.epsilon is None else notion.spec.exponent)
    if least > most:
        top = max(blend.level(0.0), blend.level(math.inf))
        raise RequestError(
            f"{name} cannot reach {notion}: whatever its α, its level is between {blend.lowest():.6g} and {top:.6g}; "
            "ask for a level in between, or mix it with a constant: tr.pram(result.protocol.matrix, joint, notion)"
        )
    protocol, k = most_certified(blend.protocol, joint, notion, most, least)
    low = {"least_alpha": math.log1p(least)} if least > 0 else {}
    return protocol, {"alpha": math.log1p(k), **low}


def most_certified(make: Make, joint: Joint, notion: Notion, most: float, least: float = 0.0) -> tuple[Any, float]:
    """The protocol at the largest k tried, from `most` down to `least`, that keeps the promise."""
    for k in _halved(make, joint, notion, most, least) if isinstance(notion, Robust) else _tried(most, least):
        protocol = promised(make(k), joint, notion)
        if protocol.certificate.holds:
            return protocol, k
    raise SolverError(f"no integers near the mechanism's floats keep {notion}; its ε may be too small for them")


def _halved(make: Make, joint: Joint, notion: Notion, most: float, least: float) -> Iterator[float]:
    """Where the promise is kept for all distributions of a set: at the edge, or as near to it as α is looked for."""

    def kept(k: float) -> bool:
        protocol = _listed(make(k), notion)
        return keeps(protocol.integers, protocol.reads, joint, notion.spec)

    if kept(most):
        yield most
        return
    low, high = math.log1p(least), min(math.log1p(most), math.log(VAST))
    starts = (low + (high - low) * step / STARTS for step in range(STARTS))
    start = next((alpha for alpha in starts if kept(math.expm1(alpha))), None)
    if start is None:
        raise RequestError(
            f"no α was found at which this keeps {notion}: what it says at α = 0 depends on the distribution too"
        )
    low = start
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (middle, high) if kept(math.expm1(middle)) else (low, middle)
    yield from (math.expm1(low - step) for step in (0, CLOSE, 10 * CLOSE) if low >= step)


def _listed(protocol: Any, notion: Notion) -> Any:
    """The protocol, if its outputs are few enough to be judged many times."""
    outputs = len(protocol.outputs) if getattr(protocol, "listed", True) else math.inf
    if outputs > MOST_OUTPUTS:
        raise TooLargeError(
            f"a mechanism of so many outputs is not calibrated to {notion}; there may be {MOST_OUTPUTS}. Merge values, use "
            "grr, or tr.design"
        )
    return protocol


def _tried(most: float, least: float) -> Iterator[float]:
    """From the edge inwards: first by what floats cannot tell apart, then further."""
    yield most
    for step in range(STEPS):
        k = most * (1 - ULP * 8**step) if math.isfinite(most) else VAST / 8**step
        if k > least:
            yield k
    yield least
