"""What a release consists of, for those who describe it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trechter.measures import entropy
from trechter.model.certificate import Certificate
from trechter.model.joint import Joint
from trechter.model.result import Result

THIN = 5  # rows; a share that rests on fewer may be far from the population's
NOISE = 1e-9


@dataclass(frozen=True, eq=False)
class Release:
    """A joint, the design for it, the certificate as it is published, and how often each output was drawn."""

    joint: Joint
    result: Result
    certificate: Certificate
    drawn: NDArray[np.int64]
    file: str
    dropped: tuple[str, ...] = ()

    @property
    def thin_cells(self) -> int:
        """How many combinations of secret and data occur, but fewer than five times; weighted rows count as n in all."""
        p, n = self.joint.p, self.joint.n
        return int(((p > 0) & (p * n < THIN * (1 - NOISE))).sum()) if n is not None else 0

    @property
    def tells_counts(self) -> bool:
        """Whether the weights are made of the counts: of several outputs nothing else is exactly independent of the secret."""
        several = len(self.result.protocol.columns()[0].codes) > 1
        return several and self.certificate.level_exact == 1 and self.result.solver != "identity"

    @property
    def information(self) -> float:
        """What an unprotected release would say, in nats: H(X), or I(T;X) for a task."""
        joint = self.joint
        if joint.task is None:
            return entropy(joint.p_x)
        table = joint.p_task.sum(axis=0)
        return entropy(table.sum(axis=0)) + entropy(table.sum(axis=1)) - entropy(table.ravel())
