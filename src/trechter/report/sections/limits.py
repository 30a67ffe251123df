"""The threat model: what the certificate does not say."""

from __future__ import annotations

from trechter.report.facts import Facts
from trechter.report.html import Html, element, join, listed, paragraph, section
from trechter.report.numbers import count, share
from trechter.report.words import sampled

PUBLISHED = (
    "The published columns.",
    "They are published to be read: where a value does not move the secret, it is shown as it is.",
)
KNOW_MORE = {
    False: (
        "Readers who know more.",
        "A reader who already knows a published column of a row may learn more from it than is promised here; "
        "SRLIP and SRLDP are made for that.",
    ),
    True: (
        "Readers who know more.",
        "The promise covers readers who already know some published columns of a row, not those who know other columns.",
    ),
}
REPEATED = (
    "Repeated releases.",
    "Two releases of the same rows can together tell what neither tells alone, and their levels do not simply add up. "
    "Keep a ledger (trechter ledger) before you give away a second one: it judges all of them together.",
)


def part(facts: Facts) -> Html:
    """Each limit with what follows from it."""
    items = [join(element("strong", title), " ", what) for title, what in _limits(facts)]
    return section(
        "limits",
        "What this does not protect",
        paragraph("The certificate limits what one row of one release tells about the secret. It says nothing about:"),
        listed(items),
    )


def _limits(facts: Facts) -> list[tuple[str, str]]:
    return [
        ("Identity.", "That a person is in the table is not hidden, and unusual rows may be recognised."),
        *([] if facts.spec.protect == "x" else [PUBLISHED]),
        KNOW_MORE[facts.spec.name.startswith("sr")],
        ("Linked rows.", "Each row is protected by itself. Several rows of people with the same secret can tell more."),
        REPEATED,
        ("A wrong joint.", _joint(facts)),
        ("Timing and access.", "Who runs the program, when, for how long, and what else that machine gives away."),
        ("The steward's folder.", "steward/ holds the counts themselves. Keep it apart from what you publish."),
    ]


def _joint(facts: Facts) -> str:
    said = "The promise is about the shares in this table. Where the population differs from it, the levels differ too."
    if facts.spec.over is not None:
        said = "The promise is for the distributions that the counts do not rule out, and for no others."
    n = facts.joint.n
    if n is None:
        return said
    share_of = min(float(p) for p in facts.priors if p > 0)
    rarest = facts.protected_values[facts.priors.tolist().index(share_of)]
    said = f"{said} {sampled(facts)}".rstrip()
    return f"{said} The rarest protected value, {rarest}, rests on {count(n * share_of)} rows ({share(share_of)})."
