"""Text from the data, made fit to be shown: what cannot be seen, or could rearrange its neighbours, is spelled out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trechter.alphabet import Attribute

# Controls, zero widths, marks and overrides of writing direction, line separators, a byte order mark, halves of a character.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff]")
LONGEST = 60


def visible(text: str) -> str:
    """The text with everything that has no shape of its own spelled out."""
    return UNSEEN.sub(_spelled, text)


def clip(text: str, most: int = LONGEST) -> str:
    """The text, or its beginning if it is long."""
    return text if len(text) <= most else text[: most - 1] + "…"


def named(value: str) -> str:
    """A value's label on a page; quotes make one visible that is empty or has space at its ends."""
    return clip(visible(value if value == value.strip() and value else f"“{value}”"))


def labels(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """The values of several attributes together, in C order, as they are named on a page."""
    found = [""]
    for j, attribute in enumerate(attributes):
        found = [before + (" · " if j else "") + named(label) for before in found for label in attribute.labels]
    return tuple(found)


def statements(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """The same, each with the name of its column."""
    found = [""]
    for j, attribute in enumerate(attributes):
        name = (", " if j else "") + visible(attribute.name)
        found = [f"{before}{name} = {named(label)}" for before in found for label in attribute.labels]
    return tuple(found)


def listing(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\ufffd" if 0xD800 <= code < 0xE000 else f"⟨U+{code:04X}⟩"
