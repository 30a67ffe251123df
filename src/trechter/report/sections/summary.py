"""The head of the page: what was released, four figures, and everything that should make its reader hesitate."""

from __future__ import annotations

from trechter.report.facts import Facts
from trechter.report.html import Html, datum, element, join, listed, paragraph
from trechter.report.numbers import at_most, number, share
from trechter.report.text import listing, visible
from trechter.report.words import sampled

PRIVATE = "For the data steward only. This page discloses the distribution of the data: do not publish it."
UNLIMITED = "Nothing is promised about what readers learn of the secret."
INSECURE = "The random source is {}: whoever can replay it can undo the randomisation. Do not give this release away."
LEARNED = (
    "Which values appear in protocol.json and in the codebook can itself tell readers that such a row exists, and no "
    "certificate covers that. Declare a schema: “trechter schema INPUT” drafts one to edit."
)
KEPT = (
    "If the table was sorted or grouped by the secret, or if readers know who stands in which row, the order gives away "
    "what the values do not."
)
UNCHANGED = "for these counts that is within the promise, which is about the secret alone."
SIDE = (
    "A reader who knows one of the published columns of a row from elsewhere can learn more than was promised: the level "
    "towards such readers is {}. The notions srlip and srldp promise it."
)
EXACT = (
    "Privacy is perfect: independence holds exactly for these counts, so the weights are made of them. With the number of "
    "rows, readers can compute every count. If a count says who is meant, keep protocol.json and the codebook to yourself."
)
WHOLE = (
    " Where the rows are the whole population that readers think of, the promise is as it stands. Else --robust 0.05 designs "
    "a release that keeps it for every distribution that the rows do not rule out."
)
THIN = (
    "{} of the combinations that occur were counted fewer than five times. The certificate is about these counts; the "
    "population that they stand for may differ, and then the level does too. Bin or merge values, or count more rows."
)


def part(facts: Facts) -> Html:
    """Title, verdict, figures, warnings."""
    what = [datum(facts.published), " published row by row; ", datum(facts.protected), " protected"]
    if facts.spec.protect == "x":
        what = [datum(facts.published), " published row by row, and itself protected"]
    head = [
        paragraph(PRIVATE, kind="private"),
        element("h1", "Report on ", datum(visible(facts.release.file))),
        paragraph(*what, kind="what"),
    ]
    return element("header", *head, Html(facts.certificate.badge()), _figures(facts), _warnings(facts))


def _figures(facts: Facts) -> Html:
    level, limit, leak = facts.certificate.level, facts.spec.level_text, facts.leakage
    before = float(leak.priors.max())
    kept = facts.information / facts.entropy if facts.entropy > 0 else 1.0
    how = "measured" if facts.spec.over is None else "worst case"
    tiles = [
        (f"privacy level ε, {how}", at_most(level), f"of {'∞ (no limit)' if limit == 'inf' else limit} promised"),
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
    found = [(title, what) for applies, title, what in _remarks(facts) if applies]
    if not found:
        return paragraph("Nothing out of the ordinary.", kind="calm")
    items = listed([join(element("strong", title), " ", what) for title, what in found])
    return element("div", element("h2", "Before you give it away"), items, class_="warnings", role="note")


def _remarks(facts: Facts) -> list[tuple[bool, str, str]]:
    """What may be out of the ordinary: whether it is, its name, and what follows."""
    known, result, dropped = facts.certificate.facts, facts.release.result, facts.release.dropped
    source, gap = known.get("random", "of unknown origin"), f"{at_most(result.gap, 2)} {result.measure.unit}".strip()
    rare, m = facts.release.thin_cells, len(facts.joint.release)
    plain, sample = facts.spec.over is None, known.get("worst_case", {})
    told = sampled(facts) + WHOLE * ("level" in sample)
    side = facts.leakage.levels[f"sr{facts.spec.name}"] if m > 1 and facts.spec.name in ("lip", "ldp") else 0.0
    return [
        (not facts.certificate.holds, "The promise does not hold.", "Do not give this release away."),
        (facts.spec.epsilon is None, "No limit was asked for (ε = ∞).", UNLIMITED),
        (not known.get("secure", False), "Insecure randomness.", INSECURE.format(visible(str(source)))),
        (known.get("schema") != "declared", "The values were learned from the data.", LEARNED),
        (result.solver == "identity", "Rows are published as they are:", UNCHANGED),
        (facts.spec.epsilon is not None and side > facts.spec.epsilon, "Side channels.", SIDE.format(at_most(side))),
        (facts.release.tells_counts, "protocol.json discloses the counts.", EXACT),
        (bool(sample) and not sample.get("survives"), "The rows may be a sample.", told),
        (rare > 0 and plain, "Thin counts.", THIN.format(f"{rare:,}")),
        (known.get("order") == "keep", "The order of rows was kept.", KEPT),
        (result.status != "optimal", "It may not be the best.", f"It is certified, but may be {gap} from the best."),
        (bool(dropped), "Columns left out of the release:", listing([visible(name) for name in dropped]) + "."),
    ]
