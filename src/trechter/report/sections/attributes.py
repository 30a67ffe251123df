"""Each published column before and after: what became of its shares, and of the single row."""

from __future__ import annotations

import numpy as np

from trechter.report.charts import bars, key, meter
from trechter.report.facts import Facts, Seen, foremost
from trechter.report.html import Html, Part, datum, element, join, listed, paragraph, section, table, text
from trechter.report.numbers import number, share
from trechter.report.text import named, visible

MOST = 20

PLAIN = "After: the share of rows that show the value in the release."
MIXED = (
    "After: what the odds that the released rows name add up to; so would a reader estimate the share. The odds were "
    "computed from the shares before, so shares survive by design, up to chance. What is lost is which row had which value:"
)
TRUTH = (
    "Odds on the truth: the probability that a reader of such a row gives to its true value, on average. "
    "The mark is what a reader would give it without the release."
)
CERTAIN = "Certain: how many of such rows get an output that leaves no other value."


def part(facts: Facts) -> Html:
    """A table for each attribute."""
    plain = all(seen.plain for seen in facts.seen)
    return section(
        "columns",
        "Each column before and after",
        key(("before", "share before"), ("after", "share after")),
        listed([text(PLAIN if plain else MIXED), text(TRUTH), text(CERTAIN)]),
        *(_attribute(facts, j, seen) for j, seen in enumerate(facts.seen)),
    )


def _attribute(facts: Facts, j: int, seen: Seen) -> Html:
    before, after = seen.guess
    kept = seen.information / seen.entropy if seen.entropy > 0 else 1.0
    said = (
        f"A row of the release keeps {share(min(kept, 1.0))} of what this column says ({number(seen.information)} of "
        f"{number(seen.entropy)} nats). A reader who names the likeliest value is right in {share(after)} of rows; "
        f"without the release, in {share(before)}."
    )
    head = ["value", "share", "before", "after", "odds on the truth", "certain", "most frequent output of such a row"]
    shown = foremost(seen.before, MOST)
    rows = [_row(facts, j, seen, v, float(seen.before.max())) for v in shown]
    rest = [v for v in range(len(seen.before)) if v not in set(shown)]
    if rest:
        rows.append(_others(seen, rest))
    return element(
        "div",
        element("h3", datum(visible(seen.attribute.name))),
        paragraph(said),
        table(head, rows, "columns"),
        class_="attribute",
    )


def _row(facts: Facts, j: int, seen: Seen, v: int, scale: float) -> list[Part]:
    before, after = float(seen.before[v]), float(seen.after[v])
    name = datum(named(seen.attribute.labels[v]))
    picture = bars(before, after, max(scale, float(seen.after.max())))
    if before == 0:
        return [name, picture, share(before), share(after), "–", "–", "never occurs; drawn as if nothing were known"]
    truth, exact = float(seen.truth[v]), float(seen.exact[v])
    found = join(share(truth), meter(truth, f"{share(truth)}, {share(before)} before", before))
    return [name, picture, share(before), share(after), found, share(exact), _becomes(facts, j, v)]


def _becomes(facts: Facts, j: int, v: int) -> Html:
    """The likeliest output of rows with this value."""
    told = facts.told.about(facts.joint.shape[1:], j)
    y = told.output[told.value == v]
    given = told.share[told.value == v] * facts.output_shares[y]
    most = int(np.argmax(given))
    return join(f"{share(float(given[most] / given.sum()))}: ", datum(facts.outputs[y[most]]))


def _others(seen: Seen, rest: list[int]) -> list[Part]:
    before, after = float(seen.before[rest].sum()), float(seen.after[rest].sum())
    truth, exact = (float(part[rest] @ seen.before[rest]) / before if before else 0.0 for part in (seen.truth, seen.exact))
    return [f"{len(rest)} other values", None, share(before), share(after), share(truth), share(exact), None]
