"""Elements of a page. Whatever is put into one is escaped, unless an element made it: text from data cannot become markup."""

from __future__ import annotations

import html
import re

from trechter.report.text import visible

VOID = ("meta",)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
ODDS = re.compile(r"([\d.,]+ : [\d.,]*\d)")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Part = str | None


def text(content: str) -> Html:
    """Text as markup."""
    return Html(html.escape(visible(content)))


def element(tag: str, *parts: Part, **attributes: str | float) -> Html:
    """An element; attribute names are written with `_` for `-`, and with one more at their end if Python owns them."""
    given = {k.rstrip("_").replace("_", "-"): str(v) for k, v in attributes.items() if v != ""}
    inside = "".join(f' {k}="{text(v)}"' for k, v in given.items())
    return Html(f"<{tag}{inside}>" if tag in VOID else f"<{tag}{inside}>{join(*parts)}</{tag}>")


def join(*parts: Part) -> Html:
    """One piece of markup after the other."""
    return Html("".join(p if isinstance(p, Html) else text(p) for p in parts if p))


def datum(content: str) -> Html:
    """Text from the data; its writing direction stays its own."""
    return element("bdi", content)


def unbroken(sentence: str) -> Html:
    """Text in which odds, such as 1 : 4, stay on one line."""
    return join(*(element("span", p, class_="one") if ODDS.fullmatch(p) else p for p in ODDS.split(sentence)))


def document(title: str, style: str, *parts: Part, scheme: str = "light") -> Html:
    """A page that loads nothing: the browser is told not to, so it cannot, whatever is in it."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content=scheme),
        element("title", title),
        element("style", Html(style)),
    )
    return join(Html("<!DOCTYPE html>\n"), element("html", head, element("body", *parts), lang="en"), Html("\n"))


def section(anchor: str, title: str, *parts: Part) -> Html:
    """A part of the page with its heading."""
    return element("section", element("h2", title), *parts, id=anchor)


def paragraph(*parts: Part, kind: str = "") -> Html:
    """A paragraph."""
    return element("p", *parts, class_=kind) if kind else element("p", *parts)


def table(head: list[str], rows: list[list[Part]], kind: str = "") -> Html:
    """A table that scrolls by itself when the screen is narrow; the first cell of a row is its heading."""
    top = element("tr", *(element("th", title, scope="col") for title in head))
    lines = [
        element("tr", element("th", first, scope="row"), *(element("td", cell) for cell in cells)) for first, *cells in rows
    ]
    inner = element("table", element("thead", top), element("tbody", *lines), class_=kind)
    return element("div", inner, class_="wide", tabindex="0")


def listed(parts: list[Html]) -> Html:
    """A list."""
    return element("ul", *(element("li", part) for part in parts))
