"""Unary encodings: bit x' of the output is 1 with probability p if x' = x and q if not, each drawn by itself.

    optimised (OUE)      p = 1/2,  q = 1/(E + 1)
    symmetric (SUE)      p + q = 1,  q = 1/(√E + 1)         basic one-time RAPPOR
    free                 either, or both

with E = e^α = p(1 − q) / (q(1 − p)), on which alone the level depends: a set y obeys F·w_y ≤ e^ε G·w_y, for distributions
F and G, iff 1 + k F(y) ≤ e^ε (1 + k G(y)), k = e^α − 1. The worst y has every x with F(x) > e^ε G(x), so the level is kept
up to

    k = (e^ε − 1) / Σ_x max(F(x) − e^ε G(x), 0)

and for every k if there is no such x. At α = ∞ OUE says x or nothing, each half of the time; SUE says x.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from trechter.errors import RequestError
from trechter.exact import as_fraction
from trechter.measures import Measure
from trechter.mechanisms.calibration import NOISE, most_certified
from trechter.mechanisms.record import record
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.model.result import Result
from trechter.model.unary import UnaryProtocol
from trechter.optimal.design import check_request
from trechter.privacy import Notion
from trechter.privacy.notion import Conditions

MOST = 1e200  # a k beyond this is as good as ∞
SPARE = 64  # binary places beyond the smallest of p, q, 1 − p and 1 − q
Family = Callable[[Fraction | None], tuple[Fraction, Fraction]]  # k (None is ∞) to p and q
HALF = Fraction(1, 2)


def oue(joint: Joint, notion: Notion, *, measure: Measure | None = None) -> Result:
    """Optimised unary encoding at the largest α that keeps the promise."""
    return _calibrated("oue", with_p(HALF), joint, notion, measure)


def sue(joint: Joint, notion: Notion, *, measure: Measure | None = None) -> Result:
    """Symmetric unary encoding at the largest α that keeps the promise."""
    return _calibrated("sue", symmetric, joint, notion, measure)


def unary(joint: Joint, notion: Notion, *, p: Any = None, q: Any = None, measure: Measure | None = None) -> Result:
    """Unary encoding with p, q or both given. The other one is calibrated; of both the certificate says the truth."""
    check_request(joint, notion, measure)
    start, given = time.perf_counter(), {"p": p, "q": q}
    shares = {name: _probability(name, share) for name, share in given.items() if share is not None}
    match shares:
        case {"p": p, "q": q}:
            return record("unary", encoding(joint, p, q), joint, notion, measure, start)
        case {"p": p}:
            return _calibrated("unary", with_p(p), joint, notion, measure)
        case {"q": q}:
            return _calibrated("unary", with_q(q), joint, notion, measure)
    raise RequestError("give p, q or both; tr.oue has p = 1/2, and tr.sue has p + q = 1")


def with_p(p: Fraction) -> Family:
    """q = p / (1 + k(1 − p))."""
    _check_free("p", p)
    return lambda k: (p, Fraction(0) if k is None else p / (1 + k * (1 - p)))


def with_q(q: Fraction) -> Family:
    """1 − p = (1 − q) / (1 + kq)."""
    _check_free("q", q)
    return lambda k: (Fraction(1) if k is None else 1 - (1 - q) / (1 + k * q), q)


def symmetric(k: Fraction | None) -> tuple[Fraction, Fraction]:
    """q = 1 / (1 + √(1 + k)) = 1 − p."""
    q = Fraction(0) if k is None else 1 / (1 + Fraction(math.sqrt(1 + k)))
    return 1 - q, q


def encoding(joint: Joint, p: Fraction, q: Fraction) -> UnaryProtocol:
    """p and q as integers over a power of two, with many digits of the smallest of p, q, 1 − p and 1 − q."""
    small = min(share for share in (p, q, 1 - p, 1 - q, Fraction(1)) if share)
    places = SPARE + small.denominator.bit_length() - small.numerator.bit_length()
    return UnaryProtocol(round(p * (1 << places)), round(q * (1 << places)), places, joint.secret, joint.release)


def reach(joint: Joint, notion: Notion) -> float:
    """The largest k that keeps the promise, in floats."""
    if notion.epsilon is None:
        return math.inf
    (F, G), room = _binding(joint, notion), math.expm1(notion.spec.exponent)
    excess = (F - G) - room * G
    slopes = np.where(excess > NOISE * F, excess, 0).sum(axis=1)
    with np.errstate(over="ignore"):
        edges = np.divide(room, slopes, out=np.full(len(slopes), np.inf), where=slopes > 0)
    most = float(edges.min(initial=np.inf))
    return most if most < MOST else math.inf


def _binding(joint: Joint, notion: Notion) -> Conditions:
    """F and G of all conditions; where x itself is protected, of the one that binds.

    That is P(y|x) ≤ e^ε P(y|x') for any two values, or P(y) ≤ e^ε P(y|x) for the rarest x. Slices ask for no more.
    """
    if notion.spec.protect == "s":
        return notion.conditions(letters(joint, "x"))
    p = joint.p_x
    rarest, *others = sorted(np.flatnonzero(p).tolist(), key=p.__getitem__)[:2]
    each = (np.arange(len(p)) == np.array([[x] for x in (rarest, *others)])).astype(float)
    F = each[1:] if notion.spec.name.endswith("ldp") else p[None]
    return F[: len(others)], each[: len(others)]


def _calibrated(name: str, family: Family, joint: Joint, notion: Notion, measure: Measure | None) -> Result:
    """The encoding at the largest k that is certified."""
    check_request(joint, notion, measure)
    start = time.perf_counter()

    def make(k: float) -> UnaryProtocol:
        return encoding(joint, *family(None if math.isinf(k) else Fraction(k)))

    protocol, k = most_certified(make, joint, notion, reach(joint, notion))
    return record(name, protocol, joint, notion, measure, start, alpha=math.log1p(k))


def _probability(name: str, share: Any) -> Fraction:
    """A probability, exactly as given."""
    try:
        found = as_fraction(share)
    except ValueError:
        found = Fraction(-1)
    if not 0 <= found <= 1:
        raise RequestError(f"{name} = {share!r} is no probability; give a number from 0 to 1, for example {name}='1/4'")
    return found


def _check_free(name: str, share: Fraction) -> None:
    if share in (0, 1):
        raise RequestError(
            f"{name} = {share} leaves nothing to calibrate, the level is the same whatever the other is; "
            "give a number between 0 and 1, or p and q"
        )
