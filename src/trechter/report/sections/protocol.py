"""The protocol itself: what each output says, how often it was drawn, and from which values it comes."""

from __future__ import annotations

import numpy as np

from trechter.finish.explain import SHOWN, SURE
from trechter.model.heatmap import protocol_html
from trechter.report.charts import stack
from trechter.report.facts import Facts, foremost, movement
from trechter.report.html import Html, Part, datum, element, join, paragraph, section, table
from trechter.report.numbers import count, number, share

MOST = 24
NAMED = 4


def part(facts: Facts) -> Html:
    """The outputs in words, then the heat map."""
    shown = foremost(facts.output_shares, MOST)
    total = len(facts.output_shares)
    matrix = facts.protocol.matrix
    letters = "value" if facts.protocol.reads == "x" else "pair of a secret and a value"
    return section(
        "protocol",
        "The protocol",
        paragraph(f"A row becomes {_one_of(total)}, drawn at random by the odds of its own {letters}."),
        element("h3", "Outputs"),
        _left_out(facts, shown),
        table(["", "output", "moves the secret most", "expected", "drawn", "deviation"], _rows(facts, shown), "outputs"),
        paragraph(_sampling(facts), kind="note"),
        element("h3", "Heat map"),
        paragraph(f"Of 100 rows with the {letters} at the top, so many get the output at the left.", kind="note"),
        element("div", Html(protocol_html(_numbered(facts), facts.inputs, matrix, facts.masses)), class_="wide", tabindex="0"),
    )


def _numbered(facts: Facts) -> list[str]:
    return [f"{y + 1}. {name}" for y, name in enumerate(facts.outputs)]


def _one_of(total: int) -> str:
    return "the only output there is" if total == 1 else f"one of {total:,} outputs"


def _left_out(facts: Facts, shown: list[int]) -> Html | None:
    total = len(facts.output_shares)
    if len(shown) == total:
        return None
    covered = share(float(facts.output_shares[shown].sum()))
    return paragraph(
        f"The {len(shown)} most frequent of {total:,} outputs are shown; they cover {covered} of rows.", kind="note"
    )


def _rows(facts: Facts, shown: list[int]) -> list[list[Part]]:
    n, scores = facts.drawn.sum(), deviations(facts)
    rows: list[list[Part]] = [
        [
            f"{y + 1}.",
            join(element("strong", datum(facts.outputs[y])), " ", element("small", _meaning(facts, y))),
            _effect(facts, y),
            count(n * facts.output_shares[y]),
            count(facts.drawn[y]),
            "–" if scores is None else _signed(scores[y]),
        ]
        for y in shown
    ]
    rest = [y for y in range(len(facts.output_shares)) if y not in set(shown)]
    if rest:
        expected, drawn = count(n * facts.output_shares[rest].sum()), count(facts.drawn[rest].sum())
        rows.append(["", f"{len(rest):,} other outputs", None, expected, drawn, None])
    return rows


def _meaning(facts: Facts, y: int) -> Html:
    odds = facts.odds[y]
    order = [int(x) for x in np.argsort(-odds, kind="stable") if odds[x] >= SHOWN]
    if odds[order[0]] > SURE:
        same = facts.values[order[0]] == facts.outputs[y]
        return join("certainly this value") if same else join("certainly ", datum(facts.values[order[0]]))
    rest = len(order) - NAMED
    more = f"; {rest} that are not named have {share(float(odds[order[NAMED:]].sum()))}" if rest > 0 else ""
    return join(
        f"one of {'these ' if rest <= 0 else ''}{len(order)} values, with these odds{more}",
        stack(odds[order[:NAMED]].tolist()),
    )


def _effect(facts: Facts, y: int) -> Html:
    """The secret value whose odds this output moves most."""
    prior, posterior = facts.joint.p_s, facts.secret_given[y]
    moves = [movement(float(p), float(v)) for p, v in zip(prior, posterior, strict=True)]
    s = max(range(len(moves)), key=lambda i: (round(moves[i], 9), -prior[i]))
    if moves[s] < 1e-9:
        return join("not at all")
    return join(datum(facts.secret_names[s]), f" {share(float(prior[s]))} → {share(float(posterior[s]))}")


def deviations(facts: Facts) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """Drawn minus expected, in standard deviations given the rows; None if the rows drawn from are not those counted."""
    whole = facts.joint.counts.dtype != object and facts.joint.rows == facts.drawn.sum()
    if not whole:
        return None
    Q, n = facts.protocol.matrix, facts.masses * facts.drawn.sum()
    spread = np.sqrt((Q * (1 - Q)) @ n)
    off = facts.drawn - Q @ n
    fixed = np.where(abs(off) > 1e-3, np.copysign(np.inf, off), 0.0)  # where nothing is random nothing may be off
    return np.where(spread > 1e-6, off / np.where(spread > 1e-6, spread, 1), fixed)


def _sampling(facts: Facts) -> str:
    scores = deviations(facts)
    if scores is None:
        return "Rows are drawn one by one and unweighted, while the expectation is weighted: the two need not agree."
    worst = float(abs(scores).max())
    verdict = (
        "as chance would have it"
        if worst < 5
        else "more than chance explains: do not give this release away before that is understood"
    )
    return f"Deviation is in standard deviations. The largest over all outputs is {number(worst, 2)}: {verdict}."


def _signed(score: float) -> str:
    return "0" if abs(score) < 0.05 else f"{score:+.1f}".replace("-", "−")
