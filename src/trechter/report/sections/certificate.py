"""The certificate: what was decided, about what, and how anyone who holds the counts can decide it again."""

from __future__ import annotations

from trechter.model.certificate import Certificate
from trechter.model.spec import Spec
from trechter.report.facts import Facts
from trechter.report.html import Html, Part, datum, element, join, paragraph, section
from trechter.report.numbers import at_most, count, number, quotient
from trechter.report.text import visible
from trechter.report.words import scope

TITLES = {
    "lip": "local information privacy",
    "ldp": "local differential privacy",
    "srlip": "side-channel resistant local information privacy",
    "srldp": "side-channel resistant local differential privacy",
}
ORIGINS = {
    "declared": "declared before the data was looked at",
    "inferred": "learned from the data (see the remarks above)",
}
ORDERS = {"shuffle": "shuffled", "keep": "kept as it was (see the remarks above)"}
COMMAND = "trechter verify protocol.json --counts steward/counts.csv"
SCRIPT = "python steward/verify.py protocol.json steward/counts.csv"
EXACTLY = (
    "Decided in exact integer arithmetic, from the definition of the notion, for the very integers that rows were drawn from."
)
PROVED = (
    "Proved for every distribution of the set, in integers and rigorous bounds, from the definition of the notion, for the "
    "very integers that rows were drawn from."
)


def part(facts: Facts) -> Html:
    """Facts in two columns, then the commands."""
    rows = [element("div", element("dt", name), element("dd", what)) for name, what in _lines(facts) if what]
    return section(
        "certificate",
        "The certificate",
        paragraph(EXACTLY if facts.spec.over is None else PROVED),
        element("dl", *rows, class_="facts"),
        element("h3", "Check it again"),
        *_again(facts),
    )


def _again(facts: Facts) -> list[Html]:
    """The commands that decide anew; the script knows no sets of distributions."""
    code = [element("pre", element("code", command)) for command in (COMMAND, SCRIPT)]
    if facts.spec.over is not None:
        return [paragraph("In the folder of the release, this exits with 0 if the promise holds:"), code[0]]
    return [
        paragraph(
            "In the folder of the release, either of these exits with 0 if the promise holds and with 1 if it does not:"
        ),
        *code,
        paragraph("The second is one short script that needs nothing but Python; it is there to be read.", kind="note"),
    ]


def _lines(facts: Facts) -> list[tuple[str, Part]]:
    certificate, known, plain = facts.certificate, facts.certificate.facts, facts.spec.over is None
    return [
        ("Verdict", "holds" if certificate.holds else "does not hold"),
        ("Notion", _notion(facts)),
        ("ε promised", "∞" if certificate.notion.epsilon is None else str(certificate.notion.epsilon)),
        ("Holds for", " ".join(scope(certificate))),
        ("Level measured" if plain else "Level, worst case", f"{at_most(certificate.level, 8)} (rounded up)"),
        ("e^level, exactly" if plain else "e^level, at most", _exact(certificate)),
        ("Each secret alone", _separate(certificate)),
        ("With earlier releases", _ledger(certificate)),
        ("Protocol", _hash(certificate.protocol)),
        ("Counts", _hash(str(known.get("counts", "")), " (salted; the salt is in steward/certificate.json)")),
        ("Rows counted", _rows(facts)),
        ("Declared values", ORIGINS.get(str(known.get("schema")), "of unknown origin")),
        ("Random source", datum(visible(str(known.get("random", "unknown"))))),
        ("Order of rows", ORDERS.get(str(known.get("order")), "unknown")),
    ]


def _notion(facts: Facts) -> Html:
    spec = facts.certificate.notion
    return join(f"{spec.name.upper()}, {TITLES[spec.name]}, of ", datum(facts.protected))


def _exact(certificate: Certificate) -> str:
    exact = quotient(certificate.level_exact)
    if "…" not in exact or certificate.level_exact is None:
        return exact
    return f"{exact}, about {number(float(certificate.level_exact), 6)}; in full in steward/certificate.json"


def _separate(certificate: Certificate) -> Html | None:
    levels = certificate.facts.get("levels")
    if not isinstance(levels, dict):
        return None
    parts = [join(datum(visible(name)), f": {at_most(level, 6)}") for name, level in levels.items()]
    return join(*(join(part, "; ") for part in parts[:-1]), parts[-1])


def _ledger(certificate: Certificate) -> str | None:
    found = certificate.facts.get("ledger")
    if not isinstance(found, dict):
        return None
    limit = Spec.from_json(found["limit"])
    return f"entry {found['entry']} of the ledger; everything in it comes to {at_most(found['level'], 8)}, limit {limit}"


def _hash(digest: str, note: str = "") -> Html | None:
    return join("SHA-256 ", element("code", digest), note) if digest else None


def _rows(facts: Facts) -> str:
    rows, n = facts.joint.rows, facts.joint.n
    if rows is None or n is None:
        return "unknown (weights or probabilities were given)"
    return count(rows) if rows == n else f"{count(rows)}, weighted; worth {count(n)} unweighted ones"
