"""What an audit found, as an object for machines and as lines for people."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from trechter.alphabet import Attribute
from trechter.audit.evidence import Claim
from trechter.audit.worst import Worst
from trechter.exact import log_up
from trechter.model.joint import Joint
from trechter.report.numbers import at_least, at_most, number, odds, odds_down, odds_up, share
from trechter.report.text import listing, named, statements
from trechter.workflow.audit_matrix import MatrixAudit
from trechter.workflow.audit_tables import TablesAudit

FEW = 12  # secret values whose odds are spelled out
SHOWN = 3  # outputs that are named together


def matrix_found(found: MatrixAudit) -> dict[str, Any]:
    """A matrix for machines."""
    secrets = statements(found.joint.secret)
    levels = {
        name: {
            "level": _finite(log_up(worst.ratio)),
            "level_exact": None if worst.ratio is None else str(worst.ratio),
            "output": None if worst.output is None else found.matrix.outputs[worst.output],
            "secrets": [secrets[s] for s in worst.who],
            "known": _known(found.joint, worst.known),
        }
        for name, worst in found.worst.items()
    }
    b, n = found.matrix.weights.shape
    facts: dict[str, Any] = {"audited": "matrix", "outputs": b, "inputs": n, "reads": found.matrix.reads}
    facts |= {"transposed": found.matrix.transposed, "notes": list(found.notes), "levels": levels}
    facts |= {} if found.verdict is None else found.verdict.notion.to_json() | {"holds": found.holds}
    leaked, outputs = found.leakage, found.matrix.outputs
    facts["leakage"] = {"information": leaked.information, "maximal": leaked.maximal, "bayes_gain": leaked.bayes_gain}
    facts["posteriors"] = [
        {
            "secret": secrets[s],
            "prior": float(m.prior),
            "least": float(m.least),
            "least_at": outputs[m.least_at],
            "most": float(m.most),
            "most_at": outputs[m.most_at],
        }
        for s, m in enumerate(found.movements)
        if m is not None
    ]
    return facts | {"utility": found.utility, "entropy": found.entropy}


def matrix_story(found: MatrixAudit) -> str:
    """A matrix in words."""
    b, n = found.matrix.weights.shape
    letters = "values" if found.matrix.reads == "x" else "pairs of the secret and a value"
    lines = [f"A matrix of {b} outputs and {n} {letters}.", *(f"Note: {note}." for note in found.notes)]
    lines += ["", *_worst_lines(found)]
    if None in {worst.ratio for worst in found.worst.values()}:
        lines.append("∞: an output that is impossible with some secret. If a 0 was rounded, write out more decimals.")
    lines += ["", "One output moves the odds of", *_odds_lines(found)]
    lines += ["", *_leak_lines(found)]
    if found.verdict is not None:
        word = "holds" if found.holds else "does NOT hold"
        lines += ["", f"{found.verdict.notion} {word}: the level is {at_most(found.verdict.level, 9)} (rounded up)."]
    return "\n".join(lines)


def tables_found(found: TablesAudit) -> dict[str, Any]:
    """Two tables for machines."""
    facts: dict[str, Any] = {"audited": "rows", "rows": found.joint.rows, "outputs": len(found.outputs)}
    facts |= {"confidence": found.confidence, "notes": list(found.notes)}
    facts["empirical"] = {name: _finite(log_up(ratio)) for name, ratio in found.empirical.items()}
    facts["at_least"] = {
        name: {"level": found.at_least[name], "level_exact": str(claim.bound)} | _claim_found(found, claim)
        for name, claim in found.claims.items()
    }
    attack = found.attack
    facts["attack"] = {
        "rows": attack.rows,
        "right": attack.right,
        "interval": list(attack.interval),
        "right_by_mode": attack.right_by_mode,
        "interval_by_mode": list(attack.interval_by_mode),
    }
    facts |= {} if found.notion is None else found.notion.to_json() | {"holds": found.holds}
    return facts | ({} if found.exact is None else {"matrix": matrix_found(found.exact)})


def tables_story(found: TablesAudit) -> str:
    """Two tables in words."""
    n, sure = found.joint.rows, f"{100 * found.confidence:g}%"
    lines = [f"{n:,} rows, {len(found.outputs)} different outputs.", *(f"Note: {note}." for note in found.notes)]
    lines += ["", f"{'notion':<7} {'at least':>9} {'in these rows':>14}", *(_claim_line(found, name) for name in found.claims)]
    lines.append(f"(at least: each with {sure} confidence; in these rows: no proof)")
    if None in found.empirical.values():
        lines.append("∞: an output that never occurs with some secret. It may only be rare: a sample cannot prove ∞.")
    lines += [*_evidence_lines(found), "", *_attack_lines(found)]
    if found.exact is not None:
        return "\n".join([*lines, "", matrix_story(found.exact)])
    if found.notion is not None:
        lines += ["", _tables_verdict(found)]
    return "\n".join(lines)


def _worst_lines(found: MatrixAudit) -> list[str]:
    """Each level with its place; notions that agree share a line."""
    names: dict[Worst, str] = {}
    for name, worst in found.worst.items():
        names[worst] = f"{names[worst]}, {name.upper()}" if worst in names else name.upper()
    return [
        line
        for worst, said in names.items()
        for line in (f"{said}: level {at_most(log_up(worst.ratio), 6)}", f"  at {_place(found, worst)}")
    ]


def _place(found: MatrixAudit, worst: Worst) -> str:
    if worst.output is None:
        return "no output: none says anything"
    output, known = found.matrix.outputs[worst.output], _known(found.joint, worst.known)
    where = "".join(f", where {fact}" for fact in known)
    return f"output {named(output)}: {' against '.join(_group(found.joint, (s,)) for s in worst.who)}{where}"


def _odds_lines(found: MatrixAudit) -> list[str]:
    secrets, outputs = statements(found.joint.secret), found.matrix.outputs
    known = [(secrets[s], m) for s, m in enumerate(found.movements) if m is not None]
    rarest = sorted(known, key=lambda pair: pair[1].prior)
    lines = [
        f"  {name}: from {odds(float(m.prior))} to at most {odds_up(float(m.most))} (output {named(outputs[m.most_at])}), "
        f"at least {odds_down(float(m.least))} (output {named(outputs[m.least_at])})"
        for name, m in rarest[:FEW]
    ]
    return lines + ([f"  … and {len(known) - FEW} more values"] if len(known) > FEW else [])


def _leak_lines(found: MatrixAudit) -> list[str]:
    leaked = found.leakage
    mode = float(leaked.priors.max())
    kept = f" ({share(found.utility / found.entropy)})" if found.entropy > 0 else ""
    return [
        f"The best guess of the secret is right {share(mode)} of the time, with an output {share(mode * leaked.bayes_gain)}.",
        f"I(S;Y) is {number(leaked.information)} nats; maximal leakage {number(leaked.maximal)} nats.",
        f"I(X;Y), what it is worth, is {number(found.utility)} of {number(found.entropy)} nats{kept}.",
    ]


def _claim_line(found: TablesAudit, name: str) -> str:
    level = log_up(found.empirical[name])
    return f"{name.upper():<7} {at_least(found.at_least[name]):>9} {number(level):>14}"


def _evidence_lines(found: TablesAudit) -> list[str]:
    """The comparisons that the claims rest on, each once."""
    names: dict[Claim, str] = {}
    for name, claim in found.claims.items():
        if claim.bound > 1:
            same = replace(claim, bound=Fraction(1))
            names[same] = f"{names[same]}, {name.upper()}" if same in names else name.upper()
    return [line for claim, said in names.items() for line in ("", f"{said}: {_evidence(found, claim)}")]


def _evidence(found: TablesAudit, claim: Claim) -> str:
    outputs, (k, n, l, m) = [named(found.outputs[y]) for y in claim.outputs], claim.seen
    more = f" (and {len(outputs) - SHOWN} more)" if len(outputs) > SHOWN else ""
    known = "".join(f", where {fact}" for fact in _known(found.joint, claim.known))
    over, under = (_group(found.joint, side) for side in (claim.over, claim.under))
    came = f"came in {k:,} of {n:,} rows with {over}, in {l:,} of {m:,} with {under}{known}"
    return f"output {listing(outputs[:SHOWN])}{more} {came}."


def _group(joint: Joint, secrets: tuple[int, ...]) -> str:
    return statements(joint.secret)[secrets[0]] if len(secrets) == 1 else "any other secret"


def _attack_lines(found: TablesAudit) -> list[str]:
    attack = found.attack
    with_it, without = (share(k / max(attack.rows, 1)) for k in (attack.right, attack.right_by_mode))
    (a, b), (c, d) = attack.interval, attack.interval_by_mode
    return [
        f"Guessing the secret in {attack.rows:,} rows, after learning from the others:",
        f"  from the output         {with_it:>6} right ({share(a)} to {share(b)})",
        f"  always the most common  {without:>6} right ({share(c)} to {share(d)})",
    ]


def _tables_verdict(found: TablesAudit) -> str:
    assert found.notion is not None
    least = f"with {100 * found.confidence:g}% confidence the level is at least {at_least(found.at_least[found.notion.name])}"
    if found.holds is False:
        return f"{found.notion} does NOT hold: {least}."
    return f"These rows do not refute {found.notion}: {least}. That it holds, only the matrix could prove."


def _claim_found(found: TablesAudit, claim: Claim) -> dict[str, Any]:
    secrets = statements(found.joint.secret)
    over, under = ([secrets[s] for s in side] for side in (claim.over, claim.under))
    outputs = [found.outputs[y] for y in claim.outputs]
    return {"outputs": outputs, "over": over, "under": under, "known": _known(found.joint, claim.known), "seen": claim.seen}


def _known(joint: Joint, known: Iterable[tuple[int, int]]) -> list[str]:
    """Known attributes in words."""
    attributes: tuple[Attribute, ...] = joint.release
    return [f"{attributes[j].name} = {attributes[j].labels[v]}" for j, v in known]


def _finite(level: float) -> float | str:
    return level if math.isfinite(level) else "inf"
