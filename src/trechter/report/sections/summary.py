"""The head of the page: what was released, four figures, and everything that should make its reader hesitate."""

from __future__ import annotations

from trechter.report.facts import Facts
from trechter.report.html import Html, datum, element, join, paragraph, text
from trechter.report.numbers import at_most, number, share
from trechter.report.text import visible


def part(facts: Facts) -> Html:
    """Title, verdict, figures, warnings."""
    what = [datum(facts.published), " published row by row; ", datum(facts.protected), " protected"]
    if facts.spec.protect == "x":
        what = [datum(facts.published), " published row by row, and itself protected"]
    head = [
        paragraph("For the data steward only. This page discloses the distribution of the data: do not publish it.", kind="private"),
        element("h1", "Report on ", datum(visible(facts.release.file))),
        paragraph(*what, kind="what"),
    ]
    return element("header", *head, Html(facts.certificate.badge()), _figures(facts), _warnings(facts))


def _figures(facts: Facts) -> Html:
    level, limit, leak = facts.certificate.level, facts.spec.level_text, facts.leakage
    before = float(leak.priors.max())
    kept = facts.information / facts.entropy if facts.entropy > 0 else 1.0
    tiles = [
        ("privacy level ε, measured", at_most(level), f"of {'∞ (no limit)' if limit == 'inf' else limit} promised"),
        ("information kept", share(kept), f"{number(facts.information)} of {number(facts.entropy)} nats"),
        ("best guess of the secret", share(before * leak.bayes_gain), f"right with the release; {share(before)} without"),
        ("rows released", f"{int(facts.drawn.sum()):,}", f"{len(facts.output_shares):,} different outputs"),
    ]
    boxes = [
        element("div", element("dt", name), element("dd", element("b", value), element("small", note)))
        for name, value, note in tiles
    ]
    return element("dl", *boxes, class_="figures")


def _warnings(facts: Facts) -> Html:
    found = warnings(facts)
    if not found:
        return paragraph("Nothing out of the ordinary.", kind="calm")
    items = [element("li", element("strong", title), " ", what) for title, what in found]
    return element("div", element("h2", "Before you give it away"), element("ul", *items), class_="warnings", role="note")


def warnings(facts: Facts) -> list[tuple[str, Html]]:
    """What is out of the ordinary, each with what to do about it."""
    known, found = facts.certificate.facts, []
    if not facts.certificate.holds:
        found.append(("The promise does not hold.", text("Do not give this release away.")))
    if facts.spec.epsilon is None:
        found.append(("No limit was asked for (ε = ∞).", text("Nothing is promised about what readers learn of the secret.")))
    if not known.get("secure", False):
        source = str(known.get("random", "of unknown origin"))
        found.append(
            (
                "Insecure randomness.",
                text(f"The random source is {source}: whoever can replay it can undo the randomisation. Do not give it away."),
            )
        )
    if known.get("schema") != "declared":
        found.append(
            (
                "The values were learned from the data.",
                text(
                    "Which values appear in protocol.json and in the codebook can itself tell readers that such a row "
                    "exists; no certificate covers that. Declare a schema: “trechter schema INPUT” drafts one to edit."
                ),
            )
        )
    if known.get("order") == "keep":
        found.append(
            (
                "The order of rows was kept.",
                text(
                    "If the table was sorted or grouped by the secret, or if readers know who stands in which row, "
                    "the order gives away what the values do not."
                ),
            )
        )
    if facts.release.result.status != "optimal":
        gap = at_most(facts.release.result.gap, 2)
        found.append(("The design stopped early.", text(f"It is certified, but up to {gap} nats below the best possible one.")))
    if facts.release.dropped:
        names = [join(datum(visible(name)), ", ") for name in facts.release.dropped[:-1]]
        last = datum(visible(facts.release.dropped[-1]))
        found.append(("Columns left out of the release:", join(*names, last, ".")))
    return found
