"""Processes that work through a list: one process for each item, so that it can be stopped whatever it is doing.

A library in another language does not hear Ctrl-C; a process of its own can be killed. What a process found comes back
through a pipe, and only this process, which sees interrupts, writes files.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from trechter.errors import SolverError, TrechterError

Item = TypeVar("Item")
PRELOADED = ["trechter.workflow.workers", "trechter.optimal"]  # loaded once, not once in each process


def work_through(items: Sequence[Item], work: Callable[[Item], Any], at_once: int, done: Callable[[Item, Any], None]) -> None:
    """Call `work(item)` in processes of their own, so many at once, and `done(item, result)` here as each ends."""
    waiting, running = list(reversed(items)), dict[Connection, tuple[BaseProcess, Item]]()
    context = _context()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                item = waiting.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_serve, args=(work, item, theirs), daemon=True)
                process.start()
                theirs.close()  # or its end would not be seen here
                running[ours] = process, item
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                process, item = running[ready]
                result = _receive(ready, process)
                del running[ready]
                done(item, result)
    finally:
        for process, _ in running.values():
            process.kill()
        for connection, (process, _) in running.items():
            process.join()
            connection.close()


def _context() -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


def _receive(connection: Connection, process: BaseProcess) -> Any:
    """What a process sent before it ended; an error that it met is raised here."""
    try:
        failed, found = connection.recv()
    except EOFError:
        process.join()
        reason = "the memory may have been too small" if process.exitcode == -9 else "without a word"
        raise SolverError(f"a process of the computation ended with {process.exitcode}, {reason}; run it again") from None
    connection.close()
    process.join()
    if failed:
        raise found
    return found


def _serve(work: Callable[[Any], Any], item: Any, connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one answers it for all
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        answer = (False, work(item))
    except TrechterError as error:
        answer = (True, error)
    except Exception as error:
        answer = (True, SolverError(f"{item}: {type(error).__name__}: {error}"))
    connection.send(answer)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
