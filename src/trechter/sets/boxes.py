"""Boxes: F = {P : low ≤ P ≤ high}, each cell within its Clopper–Pearson interval at α/k.

δ*(v) = min_θ θ + Σ [high (v−θ)₊ − low (θ−v)₊]:     what the lower bounds leave goes to the largest v first
"""

from __future__ import annotations

import numpy as np

from trechter.sets.ratio import FLAT
from trechter.sets.uncertainty import Around, Array, UncertaintySet


class Boxes(UncertaintySet):
    """All P with every cell in its own interval; its level holds for any number of rows."""

    name = "boxes"
    search = FLAT

    def support(self, around: Around, v: Array) -> Array:
        """Every cell has its least, and those of the largest v their most, as far as it goes."""
        low, high = around.box
        order = np.argsort(-v, axis=1, kind="stable")
        room = (high - low)[order]
        left = 1 - low.sum()
        given = np.clip(left - (room.cumsum(axis=1) - room), 0, room)
        worst = np.empty_like(given)
        np.put_along_axis(worst, order, given, axis=1)
        return np.asarray(worst + low)
