"""The readers' codebook: Markdown that cannot be broken by values, and nothing in it that only the steward may know."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.report.releases import CASES, SALT, case, counts, made

from trechter.audit import certify
from trechter.model.joint import Joint
from trechter.model.outputs import Mixture, show
from trechter.privacy import LIP
from trechter.report import codebook
from trechter.report.markdown import datum
from trechter.report.text import visible


def tokens(markdown: str):
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return [t for block in parser.parse(markdown) for t in (block, *(block.children or []))]


def tables(markdown: str) -> list[list[list[str]]]:
    """Rows of cells as a reader sees them."""
    found: list[list[list[str]]] = []
    inside = False
    for token in tokens(markdown):
        match token.type:
            case "table_open":
                found.append([])
            case "tr_open":
                found[-1].append([])
            case "th_open" | "td_open":
                inside = True
                found[-1][-1].append("")
            case "th_close" | "td_close":
                inside = False
            case "text" | "text_special" | "entity" if inside:
                found[-1][-1][-1] += token.content
    return found


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_tidy_markdown(name):
    text = codebook.render(case(name))
    kinds = {t.type for t in tokens(text)}
    assert not {"html_inline", "html_block", "link_open", "image", "s_open"} & kinds
    for table in tables(text):
        assert len({len(row) for row in table}) == 1
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)


@pytest.mark.parametrize("name", CASES)
def test_it_tells_nothing_about_the_joint(name):
    release = case(name)
    text, certificate = codebook.render(release), release.certificate
    numbers = [SALT, repr(certificate.level), f"{certificate.level:.4f}", f"{certificate.level:.6g}"]
    if certificate.level_exact is not None and certificate.level_exact.denominator > 1:
        numbers += [str(certificate.level_exact), str(certificate.level_exact.numerator)]
    promised = {str(certificate.notion.epsilon), certificate.notion.level_text, "0", "1"}
    if certificate.level and f"{certificate.level:.4g}" not in promised:
        numbers = [n for n in numbers if n not in promised]
        assert not [n for n in numbers if n in text]
    said = re.sub(r"```.*?```", "", text.replace(str(len(release.drawn)), ""), flags=re.DOTALL)
    for count in release.joint.counts.sum(axis=tuple(range(1, release.joint.counts.ndim))).tolist():
        where = text.replace(str(len(release.drawn)), "") if count else said  # lines of code have a 0 of their own
        assert not re.search(rf"(?<![\d.]){count}(?![\d.%])", where)


@pytest.mark.parametrize("name", ["one", "two", "noisy", "reads", "rare"])
def test_it_does_not_change_with_the_secret(name):
    """Another P(s|x) with the same P(x), level, salt, draws and n: not a letter differs."""
    release = case(name)
    table = release.joint.counts
    other = np.roll(table, 1, axis=0)
    joint = Joint(other, secret=release.joint.secret, release=release.joint.release)
    assert not np.array_equal(joint.p_s, release.joint.p_s)
    protocol = release.result.protocol
    if protocol.reads == "sx":
        blocks = protocol.integers.reshape(len(protocol.outputs), len(table), -1)
        protocol = replace(protocol, integers=np.roll(blocks, 1, axis=1).reshape(len(protocol.outputs), -1))
    judged = certify(protocol, joint, LIP(9))
    certificate = replace(release.certificate, level=judged.level, level_exact=judged.level_exact)
    certificate = certificate.with_facts(salt="00" * 16, n=7, counts="11" * 32)
    changed = replace(
        release,
        joint=joint,
        certificate=certificate,
        drawn=release.drawn[::-1],
        result=replace(release.result, protocol=protocol),
    )
    assert codebook.render(changed) == codebook.render(release)


@pytest.mark.parametrize("name", ["one", "two", "typed", "perfect", "secrets", "task", "rare"])
def test_each_output_is_explained_with_its_odds(name):
    protocol = case(name).result.protocol
    rows = tables(codebook.render(case(name)))[1][1:]
    assert [cell for cell, _ in rows] == [visible(show(o)) for o in protocol.outputs]
    for output, (_, meaning) in zip(protocol.outputs, rows, strict=True):
        if isinstance(output, Mixture) and len(output.values) > 1:
            assert meaning.startswith(f"one of these {len(output.values)} values, with these odds: ")
            shown = [float(p) for p in re.findall(r" <?([\d.]+)%", meaning.split(": ", 1)[1])]
            assert shown == pytest.approx([100 * p for p in output.odds], abs=0.06)
        else:
            assert meaning.endswith(", for certain")


def test_values_that_are_true_or_drawn_are_told_apart():
    assert "Every value is the true one, or the bin that it lies in." in codebook.render(case("identity"))
    assert "A value may be the true one or another" in codebook.render(case("noisy"))


def test_the_example_is_that_of_the_promise():
    text = codebook.render(case("secrets"))  # LDP(1)
    found = re.search(r"odds are 1 : 9\. Whoever .* to at most 1 : ([\d.]+), and to no less than 1 : ([\d.]+)\.", text)
    most, least = (1 / Fraction(part) for part in found.groups())
    assert np.e / 9 <= float(most) < 1.01 * np.e / 9
    assert 0.99 / np.e / 9 < float(least) <= 1 / np.e / 9


def unspelled(text: str) -> str:
    return re.sub("␠", " ", re.sub(r"⟨U\+(....)⟩", lambda m: chr(int(m[1], 16)), text))


HOSTILE = st.text(max_size=40) | st.sampled_from(
    [
        "<script>",
        "a|b",
        "`x`",
        "a\nb",
        "| --- |",
        "http://x.y",
        "www.x.y",
        "a@b.c",
        "[x](y)",
        "**b**",
        "\\",
        "&amp;",
        "$x$",
        "#",
        "~~s~~",
    ]
)


@settings(max_examples=150)
@given(HOSTILE)
def test_values_come_back_from_a_table_as_they_were(value):
    text = f"| head | next |\n| --- | --- |\n| {datum(value)} | end |\n"
    assert not {"html_inline", "link_open", "em_open", "strong_open", "code_inline", "s_open"} & {t.type for t in tokens(text)}
    cell, end = tables(text)[0][1]
    assert end == "end"
    shown = visible(value)
    assert unspelled(cell) == (unspelled(shown) or "(empty)")
    assert "://" not in datum(value)


@settings(max_examples=25)
@given(st.lists(HOSTILE, min_size=3, max_size=3, unique_by=visible), HOSTILE)
def test_hostile_labels_do_not_break_the_document(labels, name):
    joint = Joint(counts(3, 2, 3), release={name: labels})
    tame = made(Joint(counts(3, 2, 3), release={"name": ["a", "b", "c"]}), LIP("0.2"))
    blocks = [t.type for t in tokens(codebook.render(tame)) if t.block]
    assert [t.type for t in tokens(codebook.render(made(joint, LIP("0.2")))) if t.block] == blocks


def test_the_snippet_for_the_hash_runs(tmp_path):
    release = case("typed")
    release.result.protocol.save(tmp_path / "protocol.json")
    release.certificate.save(tmp_path / "certificate.json")
    snippet = re.search(r"```python\n(import hashlib.*?)```", codebook.render(release), re.DOTALL)[1]

    def run() -> str:
        return subprocess.run([sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert run() == "True\n"
    assert release.certificate.protocol in codebook.render(release)
    content = json.loads((tmp_path / "protocol.json").read_text(encoding="utf-8"))
    content["weights"][0][0] = str(int(content["weights"][0][0]) + 1)
    (tmp_path / "protocol.json").write_text(json.dumps(content), encoding="utf-8")
    assert run() == "False\n"
