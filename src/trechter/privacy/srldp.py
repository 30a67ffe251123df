"""Side-channel resistant ε-LDP: `P(y|s,x^J) ≤ e^ε P(y|s',x^J)` for every J and x^J."""

from __future__ import annotations

from trechter.model.letters import Letters
from trechter.privacy.ldp import ldp_conditions
from trechter.privacy.notion import Conditions, PlainNotion
from trechter.privacy.slices import sliced


class SRLDP(PlainNotion):
    """ε-LDP towards a reader who knows any of the attributes from elsewhere."""

    name = "srldp"

    def conditions(self, letters: Letters) -> Conditions:
        """The conditions of LDP in every slice."""
        return sliced(ldp_conditions, letters, self.spec.protect)
