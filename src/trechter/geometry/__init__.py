"""Cones and their extreme rays; knows nothing of privacy."""

from trechter.geometry.cone import Cone
from trechter.geometry.rays import extreme_rays

__all__ = ["Cone", "extreme_rays"]
