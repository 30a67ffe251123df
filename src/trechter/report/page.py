"""`report.html`, for the steward: one page that loads nothing, runs nothing, and discloses the joint."""

from __future__ import annotations

from importlib.resources import files

from trechter.report.facts import Facts
from trechter.report.html import document, element
from trechter.report.release import Release
from trechter.report.sections import SECTIONS
from trechter.report.text import visible


def render(release: Release) -> str:
    """The page."""
    facts = Facts(release)
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    main = element("main", *(part(facts) for part in SECTIONS))
    return document(f"Report on {visible(release.file)}", style, main, scheme="light dark")
