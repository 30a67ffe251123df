"""The record of a mechanism: the same as a design's, without a bound; its certificate says whether the promise is kept."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

from trechter.audit import certify
from trechter.measures import Measure, MutualInformation
from trechter.model.joint import Joint
from trechter.model.result import Result
from trechter.privacy import Notion


def record(
    name: str, protocol: Any, joint: Joint, notion: Notion, measure: Measure | None, start: float, **stats: Any
) -> Result:
    """What a protocol is worth, and whether it keeps the promise; no bound is known."""
    checked = promised(protocol, joint, notion)
    measure = MutualInformation() if measure is None else measure
    bound = -math.inf if measure.less_is_better else math.inf
    seconds = time.perf_counter() - start
    utility = measure.utility(joint, checked)
    return Result(checked, utility, bound, "heuristic", name, seconds, checked.certificate, measure, stats)


def promised(protocol: Any, joint: Joint, notion: Notion) -> Any:
    """The protocol with the promise and the verdict on it, whichever it is."""
    promising = replace(protocol, promise=notion.spec, certificate=None)
    return promising.certified(certify(promising, joint))
