"""What was guaranteed, in words: how far the odds of a protected value can move for whoever reads a row."""

from __future__ import annotations

from trechter.report.facts import Facts, movement
from trechter.report.numbers import odds, odds_down, odds_up

MOST = 3  # protected values that are spelled out where there is little room


def guarantee(facts: Facts) -> list[str]:
    """One sentence for each of the rarest protected values."""
    rarest = [v for v in facts.priors.argsort() if facts.priors[v] > 0][:MOST]
    return [f"Whoever reads a row sees the odds of {facts.protected_values[v]} {moves(facts, v)}" for v in rarest]


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
