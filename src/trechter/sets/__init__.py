"""Uncertainty sets around counts: one file a set, each with its support function; a new one is registered here."""

from trechter.model.over import Over
from trechter.sets.boxes import Boxes
from trechter.sets.chi_square import ChiSquare
from trechter.sets.events import Events, Worst
from trechter.sets.kullback_leibler import KullbackLeibler
from trechter.sets.total_variation import TotalVariation
from trechter.sets.uncertainty import Around, UncertaintySet

KINDS: dict[str, type[UncertaintySet]] = {kind.name: kind for kind in (ChiSquare, TotalVariation, KullbackLeibler, Boxes)}


def set_from(over: Over) -> UncertaintySet:
    """The set that a plain description names."""
    return KINDS[over.name](alpha=over.alpha, radius=over.radius)


__all__ = [
    "KINDS",
    "Around",
    "Boxes",
    "ChiSquare",
    "Events",
    "KullbackLeibler",
    "TotalVariation",
    "UncertaintySet",
    "Worst",
    "set_from",
]
