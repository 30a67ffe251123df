"""Small pictures: shares before and after as bars, and ranges of odds on a scale of log-odds.

They are drawn in percent of their width, so they fit any screen and paper. On a log-odds scale multiplying the odds by a
factor is a step of the same length everywhere, and that is what a promise limits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from trechter.report.html import Html, element, text
from trechter.report.numbers import odds, share

MARKS = [m * 10**k for k in range(7) for m in (1, 3)]  # odds that may stand at the axis, and their inverses
NARROWEST = math.log(4)
APART = 0.2  # of the width, so that the numbers at the axis do not touch on a narrow screen


def bars(before: float, after: float | None, scale: float) -> Html:
    """Two bars, one above the other."""
    said = f"before {share(before)}" + ("" if after is None else f", after {share(after)}")
    drawn = [_bar("before", before / scale, 1)] + ([] if after is None else [_bar("after", after / scale, 9)])
    return element("svg", *drawn, class_="bars", role="img", aria_label=said, height=16)


def stack(parts: list[float]) -> Html:
    """The shares of a mixture, side by side."""
    starts = [sum(parts[:i]) for i in range(len(parts))]
    full = element("rect", class_="rest", width="100%", height=8, y=2)
    drawn = [
        element(
            "rect", class_="after", opacity=f"{1 / (1 + 0.8 * i):.2f}", x=_percent(start), width=_percent(part), height=8, y=2
        )
        for i, (start, part) in enumerate(zip(starts, parts, strict=True))
    ]
    return element("svg", full, *drawn, class_="stack", aria_hidden="true", height=12)


def meter(value: float, said: str, mark: float | None = None) -> Html:
    """How full something is, from 0 to 1, perhaps with a mark on it."""
    full = element("rect", class_="rest", width="100%", height=10, y=3)
    parts = [full, element("rect", class_="after", width=_percent(value), height=10, y=3)]
    if mark is not None:
        parts.append(_tick(_percent(mark), 0, 16))
    return element("svg", *parts, class_="meter", role="img", aria_label=said, height=16)


@dataclass(frozen=True)
class OddsScale:
    """A stretch of log-odds."""

    low: float
    high: float

    @classmethod
    def over(cls, probabilities: Iterable[float]) -> OddsScale:
        """Room for these probabilities; 0 and 1 lie beyond both ends."""
        found = [_logit(p) for p in probabilities if 0 < p < 1] or [0.0]
        low, high = min(found), max(found)
        pad = max(0.06 * (high - low), (NARROWEST - (high - low)) / 2, 0.1)
        return cls(low - pad, high + pad)

    def place(self, p: float) -> float:
        """Where a probability lies, from 0 to 1."""
        if p <= 0 or p >= 1:
            return 0.0 if p <= 0 else 1.0
        return min(1.0, max(0.0, (_logit(p) - self.low) / (self.high - self.low)))

    def strip(self, prior: float, promised: tuple[float, float], measured: tuple[float, float], said: str) -> Html:
        """The range that was promised, within it the one that is reached, and where it all starts."""
        line = element("rect", class_="rest", width="100%", height=2, y=10)
        marks = [line, self._band("promised", promised, 3, 16), self._band("after", measured, 8, 6)]
        return element(
            "svg", *marks, _tick(_percent(self.place(prior)), 0, 22), class_="strip", role="img", aria_label=said, height=22
        )

    def axis(self) -> Html:
        """A few round odds below the strips."""
        ticks = [element("text", odds(p), x=_percent(self.place(p)), y=12, text_anchor=self._anchor(p)) for p in self.ticks()]
        return element("svg", *ticks, class_="axis", aria_hidden="true", height=16)

    def ticks(self) -> list[float]:
        """The probabilities at the axis."""
        round_odds = sorted({*(1 / m for m in MARKS), *MARKS, *((0.5, 2) if self.high - self.low < 3 else ())})
        inside = [r / (1 + r) for r in round_odds if self.low <= math.log(r) <= self.high]
        kept: list[float] = []
        for p in inside:
            if not kept or self.place(p) - self.place(kept[-1]) >= APART:
                kept.append(p)
        return kept

    def _anchor(self, p: float) -> str:
        place = self.place(p)
        return "start" if place < 0.08 else "end" if place > 0.92 else "middle"

    def _band(self, kind: str, ends: tuple[float, float], y: int, height: int) -> Html:
        low, high = map(self.place, ends)
        width = max(high - low, 0.002)
        return element("rect", class_=kind, x=_percent(min(low, 1 - width)), width=_percent(width), y=y, height=height)


def key(*pairs: tuple[str, str]) -> Html:
    """What the colours stand for."""
    items = [Html(f'<span class="key {kind}"></span>{text(meaning)} ') for kind, meaning in pairs]
    return element("p", *items, class_="keys")


def _bar(kind: str, part: float, y: int) -> Html:
    return element("rect", class_=kind, width=_percent(part), height=6, y=y)


def _tick(x: str, y: int, height: int) -> Html:
    return element("rect", class_="tick", x=x, width=2, y=y, height=height)


def _percent(part: float) -> str:
    return f"{100 * min(1.0, max(0.0, part)):.4g}%"


def _logit(p: float) -> float:
    return math.log(p) - math.log1p(-p)
