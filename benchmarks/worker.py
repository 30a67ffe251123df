"""One contender on one instance, in a process of its own: `python -m benchmarks.worker INSTANCE CONTENDER SECONDS [ADULT]`.

It prints one JSON object a line: ready, when the clock starts; then solved; then judged. What fails ends with `failed`.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.contenders import Answer, DoesNotApplyError, Solve, load
from benchmarks.instances import Instance, catalogue
from benchmarks.objective import judge

import trechter as tr

QUICK = 0.2  # seconds; what takes less is repeated
REPEATS = 31
MOST = 1.5  # seconds of repeating
MEMORY = 0.8  # of the machine's, so that a contender that wants more fails alone


def main() -> None:
    """Run, and say how it went."""
    name, contender, seconds, *path = sys.argv[1:]
    try:
        _limit_memory()
        instance = next(i for i in catalogue(Path(path[0]) if path else None) if i.name == name)
        measure(instance, load(contender), float(seconds))
    except ImportError as error:
        say(event="failed", note=f"not available: {error}")
    except DoesNotApplyError as error:
        say(event="failed", note=f"does not apply: {error}")
    except MemoryError:
        say(event="failed", note="out of memory")
    except Exception as error:  # whatever a contender dies of is a line of the table
        say(event="failed", note=f"{type(error).__name__}: {error}")


def measure(instance: Instance, solve: Solve, seconds: float) -> None:
    """The time of a solve, or the median of several; then the verdict."""
    joint = instance.joint()
    _warm(lambda small: solve(small, instance.notion, 5.0, 1e-6), joint)
    say(event="ready")
    times: list[float] = []
    while not times or (times[0] < QUICK and len(times) < REPEATS and sum(times) < MOST):
        start = time.perf_counter()
        answer = solve(joint, instance.notion, seconds, instance.gap)
        times.append(time.perf_counter() - start)
    note = answer.note + (f"; median of {len(times)}" if len(times) > 1 else "")
    say(event="solved", seconds=statistics.median(times), bound=answer.bound, note=note, trace=answer.trace)
    say(event="judged", **vars(judge(joint, instance.notion, answer)))


def _warm(solve: Callable[[tr.Joint], Answer], joint: tr.Joint) -> None:
    """A tiny problem first: imports and compilation are nobody's time."""
    shape = min(joint.shape[0], 3), *(2 for _ in joint.shape[2:]), 3
    solve(tr.Joint(np.random.default_rng(0).integers(1, 9, shape)))


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    most = int(MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def say(**what: Any) -> None:
    """One line of JSON."""
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
