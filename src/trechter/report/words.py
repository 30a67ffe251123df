"""What was guaranteed, in words: how far the odds of a protected value can move for whoever reads a row, and for which P."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from trechter.model.certificate import Certificate
from trechter.report.facts import Facts, movement
from trechter.report.numbers import at_most, count, number, odds, odds_down, odds_up

MOST = 3  # protected values that are spelled out where there is little room


def guarantee(facts: Facts) -> list[str]:
    """One sentence for each of the rarest protected values."""
    rarest = [v for v in facts.priors.argsort() if facts.priors[v] > 0][:MOST]
    said = [f"Whoever reads a row sees the odds of {facts.protected_values[v]} {moves(facts, v)}" for v in rarest]
    return said + scope(facts.certificate)


def scope(certificate: Certificate) -> list[str]:
    """For which distributions a robust promise holds, in a sentence; none for a plain one."""
    over, known = certificate.notion.over, certificate.facts
    if over is None:
        return []
    formula = known["set"]["formula"].removeprefix("for every P with ")
    where = f"{formula}, where P̂ are the shares that were counted"
    if over.alpha is not None:
        rows, sure = count(known["n"]), f"{float(100 * (1 - over.alpha)):g}%"
        where = f"it is one that the {rows} rows counted do not rule out at {sure} confidence ({formula})"
    whom = "whatever the true distribution P of the secret and the published columns is"
    return [f"This holds {whom}, as long as {where}; the odds then start from the shares in P."]


def sampled(facts: Facts) -> str:
    """What a plain promise comes to if the rows are a sample; empty where that was not asked."""
    found = facts.certificate.facts.get("worst_case")
    if not isinstance(found, dict):
        return ""
    if "unknown" in found:
        return f"What the promise comes to if the rows are a sample of a population was not computed: {found['unknown']}."
    n, level, promised = count(facts.joint.n or 0), float(found["level"]), facts.spec.level_text
    start = f"If the rows are a sample, and the population differs from them as much as {n} rows allow (95% confidence), "
    if found["survives"]:
        return f"{start}the level is at most {at_most(level)}: the promise of {promised} survives that."
    told = "without any limit" if level == float("inf") else f"up to ε = {at_most(level, 3)}"
    return f"{start}the release tells {told} about {facts.protected}, not {promised}. {_enough(found)}".rstrip()


def _enough(found: dict[str, Any]) -> str:
    """With how many rows it would be otherwise."""
    aim = Fraction(found["survives_at"])
    if aim == 0:
        return "What is perfect for a sample is not for a population, however many rows there are."
    if found["rows"] is None:
        return f"Not even ten billion rows like these would bring that down to {number(float(aim))}."
    return f"With about {count(found['rows'])} rows like these it would be at most {number(float(aim))}."


def moves(facts: Facts, v: int) -> str:
    """From which odds to which, as promised; limits are rounded outward."""
    prior, low, high = float(facts.priors[v]), float(facts.promised[v][0]), float(facts.promised[v][1])
    if (low, high) == (0, 1):
        return f"start at {odds(prior)} and move without any limit."
    if movement(prior, low) == movement(prior, high) == 0:
        return f"stay at {odds(prior)}."
    return f"move from {odds(prior)} to at most {most(prior, high)}, and to no less than {least(prior, low)}."


def most(prior: float, p: float) -> str:
    """Odds at most p, or the prior's where nothing moves."""
    return odds(prior) if movement(prior, p) == 0 else odds_up(p)


def least(prior: float, p: float) -> str:
    """Odds at least p, or the prior's where nothing moves."""
    return odds(prior) if movement(prior, p) == 0 else odds_down(p)
