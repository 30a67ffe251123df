"""`report.html`, for the steward: one page that loads nothing, runs nothing, and discloses the joint."""

from __future__ import annotations

from importlib.resources import files

from trechter.report.facts import Facts
from trechter.report.html import Html, element, join
from trechter.report.release import Release
from trechter.report.sections import SECTIONS
from trechter.report.text import visible

# The browser is told to load nothing at all, so the page cannot, whatever is in it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(release: Release) -> str:
    """The page."""
    facts = Facts(release)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"Report on {visible(release.file)}"),
        element("style", Html(files(__package__).joinpath("style.css").read_text(encoding="utf-8"))),
    )
    body = element("body", element("main", *(part(facts) for part in SECTIONS)))
    return join(Html("<!DOCTYPE html>\n"), element("html", head, body, lang="en"), Html("\n"))
