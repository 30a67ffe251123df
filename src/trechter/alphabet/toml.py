"""Writing TOML keys and values; the standard library only reads them."""

from __future__ import annotations

import datetime as dt
import re

BARE = re.compile(r"[A-Za-z0-9_-]+")
CONTROL = re.compile(r'[\x00-\x1f\x7f"\\]')
NAMED = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def key(name: str) -> str:
    """A key, quoted if it has to be."""
    return name if BARE.fullmatch(name) else text(name)


def value(item: object) -> str:
    """A text, a truth value, a number or a date."""
    match item:
        case str():
            return text(item)
        case bool():
            return "true" if item else "false"
        case dt.date():
            return item.isoformat()
    return repr(item)


def text(string: str) -> str:
    """A basic string: one line, whatever is in it."""
    return '"' + CONTROL.sub(_escape, string) + '"'


def _escape(match: re.Match[str]) -> str:
    return NAMED.get(match[0], f"\\u{ord(match[0]):04X}")
