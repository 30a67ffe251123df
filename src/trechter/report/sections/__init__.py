"""The parts of the page, in order. Each file is one part: a function from the facts to markup; a new part is one line here."""

from collections.abc import Callable

from trechter.report.facts import Facts
from trechter.report.html import Html
from trechter.report.sections import attributes, certificate, limits, promise, protocol, summary, utility

SECTIONS: tuple[Callable[[Facts], Html], ...] = (
    summary.part,
    promise.part,
    certificate.part,
    utility.part,
    attributes.part,
    protocol.part,
    limits.part,
)

__all__ = ["SECTIONS"]
