"""Total variation: F = {P : ‖P̂−P‖₁ ≤ ρ}.

δ*(v) = min_θ Σ P̂ max(v, θ) + (ρ/2)(max v − θ):     ρ/2 of the mass moves from the least v to the largest
"""

from __future__ import annotations

import numpy as np

from trechter.sets.ratio import FLAT
from trechter.sets.uncertainty import Around, Array, UncertaintySet


class TotalVariation(UncertaintySet):
    """All P that differ from the counts by at most ρ in all; its level holds for any number of rows."""

    name = "total-variation"
    search = FLAT

    def support(self, around: Around, v: Array) -> Array:
        """Mass moves from the least v to the largest."""
        order = np.argsort(v, axis=1, kind="stable")
        p = around.p[order]
        taken = np.clip(around.radius / 2 - (p.cumsum(axis=1) - p), 0, p)
        moved = p - taken
        moved[:, -1] += taken.sum(axis=1)
        worst = np.empty_like(moved)
        np.put_along_axis(worst, order, moved, axis=1)
        return worst
