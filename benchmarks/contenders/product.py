"""The papers' product of one protocol for each attribute, at its best split of ε: its level may exceed ε, and is judged."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Answer, DoesNotApplyError

import trechter as tr


def solve(joint: tr.Joint, notion: Any, seconds: float, gap: float) -> Answer:
    """The product of most I(X;Y) among the splits that are tried."""
    if notion.name != "srlip" or len(joint.release) < 2:
        raise DoesNotApplyError("the papers' product is for SRLIP and several attributes")
    found = tr.papers_product(joint, notion)
    split = " + ".join(found.stats["epsilons"])
    return Answer(found.protocol, found.utility, None, f"true level {found.certificate.level:.6f}, split {split}")
