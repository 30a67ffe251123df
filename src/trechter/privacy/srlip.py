"""Side-channel resistant ε-LIP: `e^-ε ≤ P(y|s,x^J)/P(y|x^J) ≤ e^ε` for every J and x^J."""

from __future__ import annotations

from trechter.model.letters import Letters
from trechter.privacy.lip import lip_conditions
from trechter.privacy.notion import Conditions, PlainNotion
from trechter.privacy.slices import sliced


class SRLIP(PlainNotion):
    """ε-LIP towards a reader who knows any of the attributes from elsewhere."""

    name = "srlip"

    def conditions(self, letters: Letters) -> Conditions:
        """The conditions of LIP in every slice."""
        return sliced(lip_conditions, letters, self.spec.protect)
