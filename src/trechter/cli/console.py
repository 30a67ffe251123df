"""What the command line says and how it ends: results on standard output, everything else on standard error.

Exit codes: 0 done, 1 the answer is no, 2 the input or the request is wrong, 3 interrupted, 4 internal or solver failure.
"""

from __future__ import annotations

import io
import json
import math
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from types import FrameType
from typing import Any

import click
from rich.console import Console
from rich.status import Status

from trechter.errors import NotPrivateError, RequestError, TrechterError
from trechter.workflow.publish import RELEASING

BARS, MOST_BARS = "▁▂▃▄▅▆▇█", 16
DONE, NO, WRONG, INTERRUPTED, FAILED = range(5)


class Outcome(Exception):  # noqa: N818 - it is not an error: it carries a command's answer to the one place that prints
    """What a command found: an exit code, an object for machines, and lines for people."""

    def __init__(self, data: dict[str, Any], text: str, code: int = DONE) -> None:
        self.data, self.text, self.code = data, text, code


def run(command: Callable[[], Any], as_json: bool) -> int:
    """Run a command to its end, print what it found, and say how it ended."""
    signal.signal(signal.SIGTERM, _terminate)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", category=UserWarning)
        try:
            command()
            return DONE
        except Outcome as outcome:
            return _print(json.dumps(outcome.data) if as_json else outcome.text, outcome.code)
        except BaseException as error:
            code, message = _ending(error)
            if code is None:
                raise
            if as_json:
                _print(json.dumps({"error": message, "exit": code}), code)
            note(f"error: {message}", style="bold red" if code in (WRONG, FAILED) else "yellow")
            return code


def _print(text: str, code: int) -> int:
    """Print an answer; the exit code says whether it got through."""
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        print(text, flush=True)
        return code
    except (OSError, ValueError) as error:
        _abandon("stdout")
        if isinstance(error, BrokenPipeError):
            return code
        note(f"error: the command ended with {code}, but its answer could not be printed: {error}")
        return FAILED


def _abandon(stream: str) -> None:
    """Nothing may be left in the buffer: the interpreter would fail once more when it ends, and choose another exit code."""
    setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _ending(error: BaseException) -> tuple[int | None, str]:
    match error:
        case KeyboardInterrupt() | click.Abort():
            return INTERRUPTED, "interrupted; nothing half-written is left"
        case NotPrivateError():
            return NO, str(error)
        case RequestError():
            return WRONG, str(error)
        case click.exceptions.NoArgsIsHelpError():
            return WRONG, f"nothing was asked\n{error.format_message()}"
        case click.ClickException():
            return WRONG, error.format_message()
        case TrechterError():
            return FAILED, str(error)
        case SystemExit() | GeneratorExit():
            return None, ""
    traceback.print_exception(error)  # a panic of a library written in Rust is no Exception, and its exit code would be 1
    return FAILED, f"internal error: {error!r}; please report it"


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is being done now; silent when nobody watches."""
    with nullcontext() if quiet or not errors.is_terminal else Status("reading", console=errors) as status:
        yield partial(_enter, status)


def _enter(status: Status | None, stage: str) -> None:
    if stage == RELEASING:  # it takes milliseconds, and whoever is told of an interrupt must not find a release
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if status is not None:
        status.update(stage)


def watch(tell: Callable[[str], None]) -> Callable[[dict[str, Any]], None]:
    """The progress of a design as a stage: the gap now, and as bars how it fell."""
    heights: list[float] = []

    def hear(known: dict[str, Any]) -> None:
        heights.append(math.log10(max(known["gap"], 1e-12)))
        shown = f"gap {known['gap']:.1e} after {known['seconds']:.0f} s {_bars(heights)}"
        tell(f"designing: {shown} (Ctrl-C takes the best so far)")

    return hear


def _bars(heights: list[float]) -> str:
    """One bar for each of at most so many heights, from the lowest to the highest."""
    kept = heights[:: -(-len(heights) // MOST_BARS)]
    low, high = min(heights), max(heights)
    return "".join(BARS[round((h - low) / max(high - low, 1e-9) * (len(BARS) - 1))] for h in kept)


def note(text: str, style: str | None = None) -> None:
    """A remark on standard error; where that cannot be written, the exit code alone has to speak."""
    try:
        errors.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
    except (OSError, ValueError):
        _abandon("stderr")


class Errors(Console):
    """Standard error; that nobody reads it is no reason to end, least of all with the 1 that rich would choose."""

    def on_broken_pipe(self) -> None:
        """Say nothing more."""
        _abandon("stderr")


errors = Errors(stderr=True)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    note(f"warning: {message}", style="yellow")


def _terminate(signum: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def wide(text: str) -> str:
    """The text wrapped to the terminal, if there is one."""
    if sys.stdout is None or not sys.stdout.isatty():  # None: it was closed by whoever started us
        return text
    console = Console()
    with console.capture() as capture:
        console.print(text, markup=False, highlight=False)
    return capture.get().rstrip("\n")
