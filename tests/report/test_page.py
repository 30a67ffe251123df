"""The steward's page: well-formed, closed to the outside, escaped, and saying what an independent calculation says."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.releases import CASES, SALT, case, counts, made

from trechter.model.joint import Joint
from trechter.privacy import LDP, LIP
from trechter.report import page
from trechter.report.text import LONGEST, visible

VOID = {"meta"}
SECTIONS = ["promise", "certificate", "utility", "columns", "protocol", "limits"]


class Reader(HTMLParser):
    """Collects tags with the names of their attributes, the text, and what attributes say; insists on balance."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text, self.said, self.ids = [], [], [], [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, *sorted(name for name, _ in attributes)))
        self.said += [value for _, value in attributes]
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        raise AssertionError(f"<{tag}/> is closed in itself")

    def handle_comment(self, data):
        raise AssertionError("a comment")

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)


def words(release) -> str:
    """All text of a page."""
    return " ".join("".join(Reader(page.render(release)).text).split())


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_a_closed_page_of_all_sections(name):
    content = page.render(case(name))
    reader = Reader(content)
    assert [i for i in reader.ids if i in SECTIONS] == SECTIONS
    assert not re.search(r"https?:|url\(|@import|javascript:", content)
    assert not {"script", "link", "img", "iframe", "a", "object", "base"} & {tag for tag, *_ in reader.tags}
    assert not [a for _, *names in reader.tags for a in names if a.startswith("on") or a in ("src", "href", "srcset")]
    assert "default-src 'none'; style-src 'unsafe-inline'" in reader.said
    assert "nan" not in "".join(reader.text).lower().split()
    assert SALT not in content


@pytest.mark.parametrize("name", ["wide", "wide mixed"])
def test_large_alphabets_stay_small_and_say_what_is_left_out(name):
    content = page.render(case(name))
    assert len(content) < 100_000
    assert "280 other values" in content
    assert re.search(r"The 24 most frequent of \d+ outputs are shown", content)


HOSTILE = st.text(max_size=80) | st.sampled_from(
    [
        "<script>alert(1)</script>",
        "\"'><b>",
        "&lt;",
        "\u202eevil",
        "a\nb\r\tc\0",
        "|`*_",
        "]]>",
        "<!--",
        "</style>",
        "{{x}}",
        "\u2067x",
    ]
)
NAMES = st.lists(HOSTILE, min_size=2, max_size=2, unique_by=visible)


def hostile(secret: str, released: str, labels: list[str], more: list[str], note: str):
    joint = Joint(counts(3, 2, 2), secret=(secret, labels), release={released: more})
    release = made(joint, LIP("0.2"), dropped=(note,))
    facts = release.certificate.with_facts(random=note, schema=note, order=note, counts=note)
    return replace(release, file=note, certificate=facts)


@settings(max_examples=60)
@given(NAMES, NAMES, NAMES, HOSTILE.filter(bool))
def test_text_from_the_data_is_text_on_the_page(columns, labels, more, note):
    secret, released = columns
    tame = Reader(page.render(hostile("secret", "released", ["a", "b"], ["c", "d"], "note")))
    wild = Reader(page.render(hostile(secret, released, labels, more, note)))
    assert wild.tags == tame.tags
    shown = "".join(wild.text)
    for label in [*labels, *more]:
        assert visible(label)[: LONGEST - 3] in shown
    for name in (secret, released, note):
        assert visible(name) in shown


@given(st.text())
def test_nothing_unseen_is_left(text):
    shown = visible(text)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    shown.encode("utf-8")
    assert visible(shown) == shown


def exact_posteriors(release) -> dict[str, list[Fraction]]:
    """P(s|y) by secret value, in fractions, from the integers that were certified."""
    joint, protocol = release.joint, release.result.protocol
    found = {label: [] for label in joint.secret[0].labels}
    for row in protocol.weights:
        together = [sum(int(w) * int(n) for w, n in zip(row, line, strict=True)) for line in joint.counts]
        for label, part in zip(found, together, strict=True):
            if sum(together):
                found[label].append(Fraction(part, sum(together)))
    return found


def as_probability(odds: str) -> Fraction:
    left, right = (Fraction(part.replace(",", "")) for part in odds.split(" : "))
    return left / (left + right)


ODDS = r"([\d.,]+ : [\d.,]*\d)"
PROMISE = (
    rf"illness = (\w+) move from {ODDS} to at most {ODDS}, and to no less than {ODDS}\. Measured: from {ODDS} to {ODDS}\."
)


@pytest.mark.parametrize("notion", [LIP("0.3"), LIP("0.01"), LDP("0.7"), LIP(2)])
@pytest.mark.parametrize("seed", range(4))
def test_the_odds_in_words_are_true(notion, seed):
    table = counts(seed, 3, 4) * [[1], [40], [3]]
    release = made(Joint(table, secret=("illness", ["no", "yes", "unknown"]), release={"job": list("abcd")}), notion)
    found = re.findall(PROMISE, words(release))
    assert {name for name, *_ in found} == {"no", "yes", "unknown"}
    truth, epsilon = exact_posteriors(release), float(notion.epsilon)
    for name, *odds in found:
        prior, most, least, low, high = map(as_probability, odds)
        assert least <= low <= min(truth[name]) <= max(truth[name]) <= high <= most
        assert float(low) == pytest.approx(min(truth[name]), rel=0.01)
        assert float(high) == pytest.approx(max(truth[name]), rel=0.01)
        moved = float(most / prior if isinstance(notion, LIP) else most / (1 - most) / (prior / (1 - prior)))
        assert moved <= np.exp(epsilon) * 1.02


def test_perfect_privacy_moves_nothing():
    shown = words(case("perfect"))
    assert re.search(rf"S = 0 stay at {ODDS}\. Measured: they do\.", shown)
    assert "ε = 0 is perfect privacy" in shown


def test_no_limit_is_called_no_limit():
    shown = words(case("identity"))
    assert "No limit was asked for (ε = ∞)." in shown
    assert "and move without any limit." in shown
    assert "to at most" not in shown.split("The certificate")[0]


def test_the_many_secrets_that_move_most_are_shown():
    joint = Joint(counts(8, 40, 3), secret=("street", [f"street {i}" for i in range(40)]), release={"job": list("abc")})
    shown = words(made(joint, LIP("0.5")))
    assert shown.count("Measured: from") == 12
    assert "The 12 values whose odds move most are shown, of 40 that occur." in shown


def test_each_of_several_secrets_has_its_level():
    release = case("secrets")
    shown = re.search(r"Each secret alone ?illness: ([\d.]+); age: ([\d.]+)", words(release))
    for text, level in zip(shown.groups(), release.certificate.facts["levels"].values(), strict=True):
        assert 0 <= float(text) - level < 1e-4


REMARKS = {
    "Insecure randomness.": {"secure": False},
    "The values were learned from the data.": {"schema": "inferred"},
    "The order of rows was kept.": {"order": "keep"},
}


@pytest.mark.parametrize("title", REMARKS)
def test_what_is_out_of_the_ordinary_is_remarked_and_nothing_else(title):
    release = case("one")
    assert "Nothing out of the ordinary." in words(release)
    shown = words(replace(release, certificate=release.certificate.with_facts(**REMARKS[title])))
    assert [t for t in REMARKS if t in shown] == [title]
    assert "Nothing out of the ordinary." not in shown


def test_left_out_columns_are_named():
    assert "Columns left out of the release: name and address." in words(case("typed"))


def test_a_wrong_sampler_is_noticed_and_a_right_one_is_not():
    joint = Joint(counts(2, 2, 4) * 100)
    release = made(joint, LIP("0.1"))
    assert "as chance would have it" in words(release)
    drawn = release.drawn.copy()
    moved = drawn.max() // 20
    drawn[drawn.argmax()] -= moved
    drawn[drawn.argmin()] += moved
    assert "more than chance explains" in words(replace(release, drawn=drawn))


def test_commands_to_check_it_again():
    shown = words(case("one"))
    assert "trechter verify protocol.json --counts steward/counts.csv" in shown
    assert "python steward/verify.py protocol.json steward/counts.csv" in shown


def test_what_the_design_made_large_is_named():
    assert "best possible I(T;Y)" in words(case("task"))
    assert "best possible I(X;Y)" in words(case("one"))


def test_a_weighted_table_says_so():
    table = counts(1, 3, 3)
    joint = Joint([[Fraction(int(v), 3) for v in row] for row in table], rows=int(table.sum()), effective=42.0)
    release = replace(made(Joint(table), LIP("0.3")), joint=joint)
    assert "weighted; worth 42 unweighted ones" in words(release)
    assert "drawn one by one and unweighted" in words(release)


def test_weighted_rows_are_thin_by_what_they_are_worth():
    """120 rows that are worth fewer: a cell is thin below 5 rows, whatever the weights add up to."""
    table = [[6, 40, 14], [16, 4, 40]]
    for scale, effective, thin in (
        (1, 120, 1),
        (1000, 120, 1),
        (Fraction(1, 1000), 120, 1),
        (1000, 60, 2),
        (1, 100, 1),
        (1, 99, 2),
    ):
        joint = Joint([[Fraction(v) * scale for v in row] for row in table], rows=120, effective=float(effective))
        release = replace(made(Joint(table), LIP("0.3")), joint=joint)
        assert release.thin_cells == thin
    release = replace(made(Joint(table), LIP("0.3")), joint=Joint([[0.1, 0.2], [0.3, 0.4]]))
    assert release.thin_cells == 0


def test_thin_counts_side_channels_and_unchanged_rows_are_remarked():
    thin = Joint([[3, 40, 50], [60, 4, 50]], release={"job": list("abc")})
    assert "2 of the combinations that occur were counted fewer than five times" in words(made(thin, LIP("0.3")))
    assert "Side channels." in words(case("typed"))
    assert "Side channels." not in words(case("two"))
    assert "Rows are published as they are" in words(case("identity"))
