"""Markdown in which text from the data stays text: no table cell ends early, no markup begins, no address becomes a link."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trechter.report.text import visible

MARKUP = re.compile(r"[\\`*_{}\[\]|~$#!]")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "://": "&#58;//", "@": "&#64;", "www.": "www&#46;"}
ENDS = re.compile(r"^\s+|\s+$")
ENTITY = re.compile("|".join(map(re.escape, ENTITIES)), re.IGNORECASE)


def escaped(text: str) -> str:
    """Text as Markdown; white space at its ends, which would be lost, is spelled out."""
    shown = ENTITY.sub(lambda m: ENTITIES[m[0].lower()], MARKUP.sub(r"\\\g<0>", visible(text)))
    return ENDS.sub(lambda m: "".join("␠" if c == " " else f"⟨U+{ord(c):04X}⟩" for c in m[0]), shown)


def datum(text: str) -> str:
    """Text from the data; one that is empty says so."""
    return escaped(text) if text else "(empty)"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
