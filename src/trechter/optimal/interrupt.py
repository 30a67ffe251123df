"""Ctrl-C while a solver runs: the first one asks for what there is now, the second interrupts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from trechter.optimal.problem import Budget


@contextmanager
def stoppable(budget: Budget) -> Iterator[None]:
    """Within, SIGINT stops the solver; not where another handler than Python's own is in charge."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        if budget.stopped.is_set():
            signal.default_int_handler(signum, frame)
        budget.stopped.set()

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
