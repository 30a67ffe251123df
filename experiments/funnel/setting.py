"""The setting of the papers' synthetic experiments (000 §VI, 003 §VII): random joints, four levels, time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

import trechter as tr

T = TypeVar("T")
EPSILONS = ("1/2", "1", "3/2", "2")
JOINTS, QUICK = 10, 3


def uniform_joint(seed: int, *shape: int) -> tr.Joint:
    """Every p(s,x) uniform in [0,1], then rescaled."""
    return tr.Joint(np.random.default_rng(seed).random(shape))


def timed(call: Callable[[], T], times: int = 3, clock: Callable[[], float] = time.perf_counter) -> tuple[T, float]:
    """What a call returns, and the least of the seconds that it took: the rest is other programs' work."""
    seconds = []
    for _ in range(times):
        start = clock()
        found = call()
        seconds.append(clock() - start)
    return found, min(seconds)
