"""Wakes requests and streams that wait for a commit."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

Wake = Callable[[], object]


class Commits:
    """All waiters, each in an event loop. Callers limit their number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, Wake] = {}
        self._numbers = 0
        self.requests = 0  # how many waiters are requests; only the event loop may touch it

    def notify(self) -> None:
        """Let every waiter check again. Any thread may call it."""
        with self._lock:
            waiting = tuple(self._waiting.values())
        for wake in waiting:
            with suppress(RuntimeError):  # its loop is closed: the API has stopped
                wake()

    async def wait_until(self, holds: Callable[[], bool], seconds_max: float) -> bool:
        """Check now and after every commit; returns whether the condition held in time."""
        woken = asyncio.Event()
        loop = asyncio.get_running_loop()
        number = self._add(lambda: loop.call_soon_threadsafe(woken.set))
        try:
            async with asyncio.timeout(seconds_max):
                while not holds():
                    await woken.wait()
                    woken.clear()
        except TimeoutError:
            return False
        finally:
            with self._lock:
                del self._waiting[number]
        return True

    def _add(self, wake: Wake) -> int:
        with self._lock:
            self._numbers += 1
            self._waiting[self._numbers] = wake
            return self._numbers
