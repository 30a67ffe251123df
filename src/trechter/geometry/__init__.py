"""Cones and their extreme rays; knows nothing of privacy."""

from trechter.geometry.cone import Cone

__all__ = ["Cone"]
