"""Optimal protocols: a cone and a measure in, a certified design with its bound out."""

from trechter.optimal.design import design
from trechter.optimal.frontier import frontier

__all__ = ["design", "frontier"]
