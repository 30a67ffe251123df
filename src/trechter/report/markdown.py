"""Markdown in which text from the data stays text: no table cell ends early, no markup begins, no address becomes a link."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trechter.report.text import visible

MARKUP = re.compile(r"[\\`*_{}\[\]|~$#!]")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "://": "&#58;//", "@": "&#64;", "www.": "www&#46;"}
ENTITY = re.compile("|".join(map(re.escape, ENTITIES)), re.IGNORECASE)


def escaped(text: str) -> str:
    """Text as Markdown; space at its ends, which would be lost, is spelled out."""
    shown = ENTITY.sub(lambda m: ENTITIES[m[0].lower()], MARKUP.sub(r"\\\g<0>", visible(text)))
    inner = shown.strip(" ")
    ends = len(shown) - len(shown.lstrip(" ")), len(shown) - len(shown.rstrip(" "))
    return "␠" * len(shown) if not inner else "␠" * ends[0] + inner + "␠" * ends[1]


def datum(text: str) -> str:
    """Text from the data; one that is empty says so."""
    return escaped(text) if text else "(empty)"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
