"""The protocol itself: what each output says, how often it was drawn, and from which values it comes."""

from __future__ import annotations

import numpy as np

from trechter.finish.explain import SHOWN, SURE
from trechter.model.heatmap import heat_html
from trechter.model.protocol import Protocol
from trechter.model.sparse import SparseProtocol
from trechter.report.charts import stack
from trechter.report.facts import Array, Facts, foremost, movement
from trechter.report.html import Html, Part, datum, element, join, paragraph, section, table
from trechter.report.numbers import count, number, share

MOST = 24
NAMED = 4
UNLIKELY = 1e-6  # chance explains nothing that is less probable


def part(facts: Facts) -> Html:
    """The outputs in words, then the heat map."""
    shown = foremost(facts.output_shares, MOST)
    total = len(facts.output_shares)
    heat = heat_html(_numbered(facts), facts.inputs, facts.protocol.products, facts.masses)
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
        element("div", Html(heat), class_="wide", tabindex="0"),
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
    values, odds = facts.told.of(y)
    if odds[0] > SURE:
        value = facts.values[values[0]]
        return join("certainly this value") if value == facts.outputs[y] else join("certainly ", datum(value))
    odds = odds[odds >= SHOWN]
    rest = len(odds) - NAMED
    more = f"; {rest} that are not named have {share(float(odds[NAMED:].sum()))}" if rest > 0 else ""
    return join(
        f"one of {'these ' if rest <= 0 else ''}{len(odds)} values, with these odds{more}", stack(odds[:NAMED].tolist())
    )


def _effect(facts: Facts, y: int) -> Html:
    """The secret value whose odds this output moves most."""
    prior, posterior = facts.joint.p_s, facts.secret_given[y]
    moves = [movement(float(p), float(v)) for p, v in zip(prior, posterior, strict=True)]
    s = max(range(len(moves)), key=lambda i: (round(moves[i], 9), -prior[i]))
    if moves[s] < 1e-9:
        return join("not at all")
    return join(datum(facts.secret_names[s]), f" {share(float(prior[s]))} → {share(float(posterior[s]))}")


def deviations(facts: Facts) -> Array | None:
    """Drawn minus expected, in standard deviations given the rows; None if the rows drawn from are not those counted."""
    whole = facts.joint.counts.dtype != object and facts.joint.rows == facts.drawn.sum()
    if not whole:
        return None
    n = facts.masses * facts.drawn.sum()
    spread = np.sqrt(np.maximum(variance(facts.protocol, n), 0))
    off = facts.drawn - facts.output_shares * facts.drawn.sum()
    fixed = np.where(abs(off) > 1e-3, np.copysign(np.inf, off), 0.0)  # where nothing is random nothing may be off
    return np.where(spread > 1e-6, off / np.where(spread > 1e-6, spread, 1), fixed)


def variance(protocol: Protocol, n: Array) -> Array:
    """Σ_i n_i Q[y,i] (1 − Q[y,i]) of every output."""
    if not isinstance(protocol, SparseProtocol):
        return np.asarray((protocol.matrix * (1 - protocol.matrix)) @ n)
    sparse, whole = protocol.sparse, float(1 << protocol.bits)
    base, own = sparse.background / whole, sparse.weight / whole
    common = base**2 * (n * np.where(sparse.named, 1.0, float(sparse.times)) ** 2).sum()
    listed = n[sparse.letter] * own * (2 * base[sparse.output] + own)
    return np.asarray(protocol.products(n[None])[0] - common - np.bincount(sparse.output, listed, sparse.outputs))


def chance(facts: Facts) -> float:
    """A bound on the probability that any output is off by as much as the worst of them is.

    For k independent draws of mean μ and variance σ² the tail beyond t = |k − μ| is at most exp(−t²/2(σ² + t/3)) (Bernstein)
    and at most e^(k−μ) (μ/k)^k (Chernoff). The first serves frequent outputs, the second rare ones, of which a large alphabet
    has thousands: one row where a hundredth was expected is ten standard deviations, and nothing special.
    """
    n = facts.masses * facts.drawn.sum()
    mean, k = facts.output_shares * facts.drawn.sum(), facts.drawn
    off, spread = abs(k - mean), np.maximum(variance(facts.protocol, n), 0)
    bernstein = np.divide(off**2, 2 * (spread + off / 3), out=np.zeros_like(off), where=off > 0)
    ratio = np.divide(k, mean, out=np.ones_like(mean), where=(k > 0) & (mean > 0))
    chernoff = mean - k + k * np.log(ratio)
    return float(2 * len(k) * np.exp(-np.maximum(bernstein, chernoff).max()))


def _sampling(facts: Facts) -> str:
    scores = deviations(facts)
    if scores is None:
        return "Rows are drawn one by one and unweighted, while the expectation is weighted: the two need not agree."
    worst = float(abs(scores).max())
    verdict = (
        "as chance would have it"
        if np.isfinite(worst) and chance(facts) > UNLIKELY
        else "more than chance explains: do not give this release away before that is understood"
    )
    return f"Deviation is in standard deviations. The largest over all outputs is {number(worst, 2)}: {verdict}."


def _signed(score: float) -> str:
    return "0" if abs(score) < 0.05 else f"{score:+.1f}".replace("-", "−")
