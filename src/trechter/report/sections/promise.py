"""What was promised, in odds: for each protected value, how far whoever reads a row can move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trechter.report.charts import OddsScale, key
from trechter.report.facts import Facts, foremost, movement
from trechter.report.html import Html, datum, element, join, listed, paragraph, section, text, unbroken
from trechter.report.numbers import factor
from trechter.report.text import visible
from trechter.report.words import least, most, moves, scope

MOST = 12
Range = tuple[float, float]

MEANINGS = {
    "lip": "LIP(ε): reading a row changes the probability of each protected value, and that of its opposite, by at most {}.",
    "ldp": "LDP(ε): reading a row changes the odds between any two protected values by at most {}, "
    "whatever the reader took them to be before.",
}
PERFECT = (
    "ε = 0 is perfect privacy: the output of a row is independent of what is protected, whatever the reader believed before."
)
SIDE_CHANNEL = (
    "This holds also for a reader who already knows some of the published columns of that row from elsewhere: "
    "the odds that such a reader starts from move within the same limits."
)


def part(facts: Facts) -> Html:
    """A sentence and a strip for each value."""
    occurring = [v for v in range(len(facts.priors)) if facts.priors[v] > 0]
    moved = [max(movement(float(facts.priors[v]), float(p)) for p in facts.measured[v]) for v in occurring]
    shown = sorted((occurring[i] for i in foremost(moved, MOST)), key=lambda v: float(facts.priors[v]))
    return section(
        "promise",
        "What was promised",
        paragraph("Whoever reads a row of ", datum(visible(facts.release.file)), " sees the odds of …", kind="lead"),
        _rows(facts, shown),
        key(
            ("tick", "before reading the row"),
            ("promised", "where the promise lets the odds go"),
            ("after", "where this release takes them, at the extremes over all outputs"),
        ),
        _left_out(facts, len(occurring), len(shown)),
        _terms(facts),
    )


def _rows(facts: Facts, shown: list[int]) -> Html:
    ranges = {v: (_ends(facts.promised[v]), _ends(facts.measured[v])) for v in shown}
    ends = [p for pair in ranges.values() for both in pair for p in both]
    scale = OddsScale.over([*ends, *(float(facts.priors[v]) for v in shown)])
    rows = [_row(facts, v, *ranges[v], scale) for v in shown]
    return element(
        "ul", *rows, element("li", element("div"), scale.axis(), class_="odds", aria_hidden="true"), class_="promises"
    )


def _row(facts: Facts, v: int, promised: Range, measured: Range, scale: OddsScale) -> Html:
    prior, name = float(facts.priors[v]), facts.protected_values[v]
    what = join(element("strong", datum(name)), " ", unbroken(moves(facts, v)))
    reached = element("small", unbroken(_reached(prior, measured)))
    strip = scale.strip(prior, promised, measured, f"{name}: {moves(facts, v)}")
    return element("li", element("div", what, " ", reached), strip, class_="odds")


def _reached(prior: float, measured: Range) -> str:
    low, high = least(prior, measured[0]), most(prior, measured[1])
    return f"Measured: from {low} to {high}." if low != high else "Measured: they do."


def _ends(pair: NDArray[np.float64]) -> Range:
    return float(pair[0]), float(pair[1])


def _left_out(facts: Facts, occurring: int, shown: int) -> Html | None:
    never = len(facts.priors) - occurring
    said = [f"The {shown} values whose odds move most are shown, of {occurring} that occur."] if occurring > shown else []
    said += [f"{never} more never occur in the data, so nothing is said about them."] if never else []
    return paragraph(" ".join(said), kind="note") if said else None


def _terms(facts: Facts) -> Html:
    name, epsilon = facts.spec.name, facts.spec.epsilon
    if epsilon is None:
        return paragraph("No limit was asked for (ε = ∞); the certificate records the level that was measured.")
    found = [
        text(PERFECT if epsilon == 0 else MEANINGS[name.removeprefix("sr")].format(f"e^ε, {factor(facts.spec.exponent)}"))
    ]
    found += map(text, scope(facts.certificate))
    if name.startswith("sr"):
        found.append(text(SIDE_CHANNEL))
    if name.endswith("lip") and epsilon > 0:
        found.append(_other_readers(facts))
    if len(facts.joint.secret) > 1 and facts.spec.protect == "s":
        found.append(text("The combination of the secret columns is protected, and with it each of them by itself."))
    return listed(found)


def _other_readers(facts: Facts) -> Html:
    """LIP speaks of readers who start from the odds of the table; LDP, which follows at twice the level, of all others."""
    plain = facts.spec.over is None
    measured, start = plain and facts.spec.protect == "s", "the odds of the whole table" if plain else "the shares in P"
    level = facts.leakage.levels["ldp"] if measured else 2 * facts.spec.exponent
    return text(
        f"These limits are for readers who start from {start}. Those who start from other odds, because "
        f"they know something about a person, see the odds between any two protected values change by at most {factor(level)}"
        f"{' (measured)' if measured else ''}."
    )
