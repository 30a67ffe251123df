"""Optimal protocols: a cone and a measure in, a certified design with its bound out."""

from trechter.optimal.design import design

__all__ = ["design"]
