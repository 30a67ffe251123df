"""What the reader of a release does: shares of the values of X from what was released, and how sure they are."""

from trechter.estimate.unary import Shares, unary_shares

__all__ = ["Shares", "unary_shares"]
