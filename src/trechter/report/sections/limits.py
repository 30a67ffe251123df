"""The threat model: what the certificate does not say."""

from __future__ import annotations

from trechter.report.facts import Facts
from trechter.report.html import Html, element, join, listed, paragraph, section
from trechter.report.numbers import count, share


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
    side = facts.spec.name.startswith("sr")
    known = (
        "The promise covers readers who know some published columns already; it does not cover other columns."
        if side
        else "A reader who already knows a published column of a row can learn more from the rest; SRLIP and SRLDP are made for that."
    )
    found = [
        ("Identity.", "That a person is in the table is not hidden, and unusual rows may be recognised."),
        ("Readers who know more.", known),
        ("Linked rows.", "Each row is protected by itself. Several rows of one person, or of people with the same secret, tell more."),
        (
            "Repeated releases.",
            "Two releases of the same rows can together tell what neither tells alone, and their levels do not simply add up. "
            "Certify their composition before you give away a second one.",
        ),
        ("A wrong joint.", _joint(facts)),
        ("Timing and access.", "Who runs the program, when, for how long and what else that machine gives away."),
        ("The steward's folder.", "steward/ holds the counts themselves. Keep it apart from what you publish."),
    ]
    if facts.spec.protect == "s":
        published = "These columns are published to be read; where a value does not move the secret, it is shown as it is."
        found.insert(1, ("The published columns.", published))
    return found


def _joint(facts: Facts) -> str:
    said = "The promise is about the shares in this table. Where the population differs from it, the levels differ too."
    n = facts.joint.n
    if n is None:
        return said
    occurring = facts.priors[facts.priors > 0]
    s = int(facts.priors.tolist().index(occurring.min()))
    return f"{said} The rarest protected value, {facts.protected_values[s]}, rests on {count(n * occurring.min())} rows ({share(float(occurring.min()))})."
