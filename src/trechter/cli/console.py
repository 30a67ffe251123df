"""What the command line says and how it ends: results on standard output, everything else on standard error.

Exit codes: 0 done, 1 the answer is no, 2 the input or the request is wrong, 3 interrupted, 4 internal or solver failure.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click
from rich.console import Console
from rich.status import Status

from trechter.errors import NotPrivateError, RequestError, TrechterError

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
            return _print(json.dumps(outcome.data, ensure_ascii=False) if as_json else outcome.text, outcome.code)
        except BaseException as error:
            code, message = _ending(error)
            if code is None:
                raise
            if as_json:
                _print(json.dumps({"error": message, "exit": code}, ensure_ascii=False), code)
            errors.print(f"error: {message}", style="bold red" if code in (WRONG, FAILED) else "yellow", **PLAIN)
            return code


def _print(text: str, code: int) -> int:
    """Print an answer; the exit code says whether it got through."""
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        print(text, flush=True)
        return code
    except (OSError, AttributeError, ValueError) as error:
        # Nothing may be left in the buffer: the interpreter would fail once more when it ends.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        if isinstance(error, BrokenPipeError):
            return code
        note(f"error: the command ended with {code}, but its answer could not be printed: {error}")
        return FAILED


def _ending(error: BaseException) -> tuple[int | None, str]:
    match error:
        case KeyboardInterrupt() | click.Abort():
            return INTERRUPTED, "interrupted; nothing was written"
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
        case Exception():
            traceback.print_exception(error)
            return FAILED, f"internal error: {error!r}; please report it"
    return None, ""


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is being done now; silent when nobody watches."""
    if quiet or not errors.is_terminal:
        yield lambda stage: None
        return
    with Status("reading", console=errors) as status:
        yield status.update


def note(text: str) -> None:
    """A remark on standard error."""
    errors.print(text, **PLAIN)


PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "soft_wrap": True}
errors = Console(stderr=True)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    errors.print(f"warning: {message}", style="yellow", **PLAIN)


def _terminate(signum: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def wide(text: str) -> str:
    """The text wrapped to the terminal, if there is one."""
    if not sys.stdout.isatty():
        return text
    console = Console()
    with console.capture() as capture:
        console.print(text, markup=False, highlight=False)
    return capture.get().rstrip("\n")
