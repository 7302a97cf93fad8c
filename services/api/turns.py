"""Turns at Python's lock: what writes the views waits while answers are computed.

An answer gives the lock away several times, for a read of a socket or a row, and on a machine whose
cores are all at work it comes back after milliseconds, if a thread that computes took it. So these
threads look, every few rows, whether an answer is computed, and wait until it is. The lock is one
for the process, and so is the event here.
"""

import asyncio
import selectors
import threading
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any, TypeVar

ROWS_PER_TURN = 50
"""Two milliseconds of work."""
WAIT_SECONDS_MAX = 0.003
"""The longest wait for the answers before a turn: views stay up to date whatever is asked."""

Row = TypeVar("Row")

_unasked = threading.Event()
"""Set while the server waits for requests."""
_unasked.set()


def give_way(rows: Iterable[Row]) -> Iterator[Row]:
    """The same rows, a few at each turn."""
    for number, row in enumerate(rows):
        if number % ROWS_PER_TURN == 0:
            _unasked.wait(WAIT_SECONDS_MAX)
        yield row


def run_server(serving: Coroutine[Any, Any, None]) -> None:
    """Run the server to its end, in a loop that says when it waits for requests."""
    try:
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_Selector())) as runner:
            runner.run(serving)
    finally:
        _unasked.set()


class _Selector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        _unasked.set()
        try:
            return super().select(timeout)
        finally:
            _unasked.clear()
