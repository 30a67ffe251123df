"""One run: a contender on an instance, in a process of its own that is killed when its time is up."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.instances import Instance
from benchmarks.objective import SAME, refuted

ROOT = Path(__file__).resolve().parents[1]
START = 120  # seconds to load the joint and to warm up
JUDGING = 600
REFUTED = "its bound is refuted by a better protocol"
GRACE = 5, 0.1  # seconds, and share of the limit, for whoever stops by himself


@dataclass
class Row:
    """A line of the table; `over` says that the clock ran out, so that it took more than `seconds`."""

    instance: str
    group: str
    contender: str
    epsilon: float
    seconds: float | None = None
    over: bool = False
    utility: float | None = None
    bound: float | None = None
    gap: float | None = None
    behind: float | None = None
    level: float | None = None
    required: str = ""
    reached: str = ""
    faults: str = ""
    note: str = ""
    picture: str = ""
    line: str = ""
    x: float | None = None
    target: float = 0.0
    trace: list[list[float]] = field(default_factory=list)

    @property
    def valid(self) -> bool:
        """Whether there is a protocol without fault."""
        return self.utility is not None and not self.faults


def run(instance: Instance, contender: str, seconds: float, adult: Path | None) -> Row:
    """Start the worker, listen, and stop it when its time is up."""
    row = Row(instance.name, instance.group, contender, float(instance.notion.epsilon), target=instance.gap)
    if instance.curve:
        row.picture, row.line, row.x = instance.curve.picture, instance.curve.line, instance.curve.x
    command = [sys.executable, "-m", "benchmarks.worker", instance.name, contender, str(seconds)]
    with _process(command + ([str(adult)] if adult else [])) as lines:
        for event, limit in (("ready", START), ("solved", GRACE[0] + (1 + GRACE[1]) * seconds), ("judged", JUDGING)):
            try:
                said = lines.get(timeout=limit)
            except queue.Empty:
                row.note = "stopped at its time limit" if event == "solved" else f"stopped before it was {event}"
                row.over, row.seconds = event == "solved", limit if event == "solved" else row.seconds
                return row
            if said.pop("event") != event:
                row.note = said["note"]
                return row
            said["faults"] = "; ".join(said.get("faults", ()))
            vars(row).update(said)
    return row


@contextmanager
def _process(command: Sequence[str]) -> Iterator[queue.Queue[dict[str, Any]]]:
    """The lines that a process says, as they come; it and its children are gone at the end."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=os.environ | {"PYTHONPATH": path}
    )
    lines: queue.Queue[dict[str, Any]] = queue.Queue()

    def listen() -> None:
        for line in process.stdout or ():
            with suppress(ValueError):  # a library may print
                lines.put(json.loads(line))
        lines.put({"event": "failed", "note": f"the process ended with status {process.wait()}"})

    threading.Thread(target=listen, daemon=True).start()
    try:
        yield lines
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def compare(instance: Instance, rows: Sequence[Row]) -> None:
    """Fill in what needs the others: distance to the best, refuted bounds, and what was required of the last."""
    best = [row.utility for row in rows if row.valid and row.utility is not None]
    best += [instance.known] if instance.known is not None else []
    for row in rows:
        if row.utility is not None and best:
            row.behind = max(0.0, max(best) - row.utility)
        if refuted(row.bound, best) and REFUTED not in row.faults:
            row.faults = "; ".join(part for part in (row.faults, REFUTED) if part)
    for row in rows:
        if row.contender == instance.contenders[-1]:
            row.required, row.reached = str(instance.need), reached(instance, row, rows)


def reached(instance: Instance, row: Row, rows: Sequence[Row]) -> str:
    """Yes, with the ratio if one is asked for; or what is missing."""
    need, missing, shown = instance.need, [], "yes"
    if row.seconds is None or not row.valid:
        return "no"
    if need.seconds is not None and row.seconds > need.seconds:
        missing.append(f"{row.seconds:.3g} s")
    if need.gap is not None and not (row.gap is not None and row.gap <= need.gap):
        missing.append("no bound" if row.gap is None else f"gap {row.gap:.1e}")
    rivals = [r for r in rows if r.contender == need.than and r.seconds]
    for rival in rivals:
        ratio = (rival.seconds or 0) / row.seconds
        shown = f"{'yes' if ratio >= (need.faster or 0) else 'at least'}, {'>' if rival.over else ''}{ratio:,.0f} ×"
        if ratio < (need.faster or 0) and not rival.over:
            missing.append(f"{ratio:,.0f} ×")
        if rival.valid and abs((rival.utility or 0) - (row.utility or 0)) > SAME:
            missing.append(f"{rival.contender} says {rival.utility:.9g}")
    if need.faster and not rivals:
        shown += f" ({need.than} was not measured)"
    return ("no: " + ", ".join(missing)) if missing else shown if str(need) else ""
