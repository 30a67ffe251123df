"""What the reader of a release does: shares of the values of X from what was released, and how sure they are."""

from trechter.estimation.inversion import Linear, coefficients, identified, linear
from trechter.estimation.likelihood import most_likely
from trechter.estimation.ranges import ranges

__all__ = ["Linear", "coefficients", "identified", "linear", "most_likely", "ranges"]
