"""The papers' product of one protocol for each attribute, at its best split of ε: its level may exceed ε, and is judged."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Answer, DoesNotApplyError
from experiments.funnel.papers_product import best_papers_product

import trechter as tr


def solve(joint: tr.Joint, notion: Any, seconds: float, gap: float) -> Answer:
    """The product of most I(X;Y) among the splits that are tried."""
    if notion.name != "srlip" or len(joint.release) < 2:
        raise DoesNotApplyError("the papers' product is for SRLIP and several attributes")
    found = best_papers_product(joint, notion.epsilon)
    split = " + ".join(str(e) for e in found.epsilons)
    return Answer(found.protocol, found.utility, None, f"true level {found.level:.6f}, split {split}")
