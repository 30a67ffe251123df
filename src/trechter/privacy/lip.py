"""ε-local information privacy: `e^-ε ≤ P(y|s)/P(y) ≤ e^ε` for every output y and secret s."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.model.letters import Letters
from trechter.privacy.notion import Conditions, PlainNotion, check_size, given, marginal


class LIP(PlainNotion):
    """Whoever sees y changes the probability of each secret value by at most a factor e^ε."""

    name = "lip"

    def conditions(self, letters: Letters) -> Conditions:
        """P(y|s) ≤ e^ε P(y) and P(y) ≤ e^ε P(y|s)."""
        return lip_conditions(letters.protected(self.spec.protect))


def lip_conditions(table: NDArray[Any]) -> Conditions:
    """F and G from p(s, i)."""
    each = given(table)
    check_size(2 * len(each), table.shape[1])
    every = np.repeat(marginal(table), len(each), axis=0)
    return np.vstack([each, every]), np.vstack([every, each])
