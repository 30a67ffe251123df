"""This package: `tr.design`, from the joint to the certified integers."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Answer

import trechter as tr


def solve(joint: tr.Joint, notion: Any, seconds: float, gap: float) -> Answer:
    """The whole design, certificate included."""
    told: list[dict[str, Any]] = []
    result = tr.design(joint, notion, gap=gap, time_limit=seconds, progress=told.append)
    trace = tuple((t["seconds"], t["utility"], t["bound"]) for t in told)
    return Answer(result.protocol, result.utility, result.bound, f"by {result.solver}", trace)
