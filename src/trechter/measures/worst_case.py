"""WorstCase(Distortion, F) = max_{P∈F} E_P d(X,Y): a distortion that is promised for every P in F (paper 004, Theorem 2)."""

from __future__ import annotations

from trechter.errors import RequestError, expect
from trechter.measures.distortion import Distortion
from trechter.measures.measure import Array, Measure
from trechter.model.joint import Joint
from trechter.model.letters import letters
from trechter.model.protocol import Protocol
from trechter.sets import UncertaintySet


class WorstCase(Measure):
    """An expected distortion at the worst P of a set around the counts."""

    symbol = "max E d(X,Y)"
    less_is_better = True

    def __init__(self, measure: Distortion, *, over: UncertaintySet) -> None:
        if not isinstance(measure, Distortion):
            raise RequestError(
                f"the worst case of {measure!r} is not known how to optimise; give an expected distortion, tr.Distortion(d)"
            )
        expect(over, UncertaintySet, "tr.ChiSquare(alpha=0.05)")
        self.measure, self.set = measure, over

    def cells(self, joint: Joint) -> Array:
        """d of every cell (s, x) and reading."""
        return self.measure.table(joint)[letters(joint, "sx").x_of]

    def utility(self, joint: Joint, protocol: Protocol) -> float:
        """max_{P∈F} Σ_cells P Σ_y Q[y|cell] d(x, ŷ)."""
        d = self.cells(joint)[:, self.measure.taken_for(joint, protocol)]
        rows = protocol.matrix if protocol.reads == "sx" else protocol.matrix[:, letters(joint, "sx").x_of]
        v = (rows.T * d).sum(axis=1)
        return float((self.set.around(joint).support(v[None])[0] * v).sum())

    def __repr__(self) -> str:
        return f"WorstCase({self.measure!r}, over={self.set!r})"
