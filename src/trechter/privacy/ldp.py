"""ε-local differential privacy: `P(y|s) ≤ e^ε P(y|s')` for every output y and secrets s, s'."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trechter.model.letters import Letters
from trechter.privacy.notion import Conditions, PlainNotion, check_size, given


class LDP(PlainNotion):
    """No output is more than e^ε times as likely under one secret value as under another."""

    name = "ldp"

    def conditions(self, letters: Letters) -> Conditions:
        """P(y|s) ≤ e^ε P(y|s') for every ordered pair."""
        return ldp_conditions(letters.protected(self.spec.protect))


def ldp_conditions(table: NDArray[Any]) -> Conditions:
    """F and G from p(s, i)."""
    each = given(table)
    check_size(len(each) * (len(each) - 1), table.shape[1])
    pairs = np.array(list(permutations(range(len(each)), 2)), np.intp).reshape(-1, 2)
    return each[pairs[:, 0]], each[pairs[:, 1]]
