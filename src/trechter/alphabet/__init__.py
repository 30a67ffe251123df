"""Typed values, the attributes that list them, and schemas with their policies."""

from trechter.alphabet.attribute import Attribute
from trechter.alphabet.schema import Schema
from trechter.alphabet.values import Bin, Value

__all__ = ["Attribute", "Bin", "Schema", "Value"]
