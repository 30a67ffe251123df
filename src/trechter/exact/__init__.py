"""Exact arithmetic: numbers as given, bounds of e^ε, integer matrices, rounding. Here floats end."""

from trechter.exact.binomial import limits, lower_limit, upper_limit
from trechter.exact.exponential import at_most_exp, exp_bounds, log_up
from trechter.exact.matrices import product
from trechter.exact.numbers import as_fraction, epsilon_from, epsilon_text
from trechter.exact.rounding import bits_needed, round_columns, round_rays

__all__ = [
    "as_fraction",
    "at_most_exp",
    "bits_needed",
    "epsilon_from",
    "epsilon_text",
    "exp_bounds",
    "limits",
    "log_up",
    "lower_limit",
    "product",
    "round_columns",
    "round_rays",
    "upper_limit",
]
