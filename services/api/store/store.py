"""The API's copies of the log, and the threads that keep them up to date."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import partial

from infra.clock import get_wall_ms
from ops.control.world_clock import AnnouncedClock
from ops.generations.record import State
from services.api.problem import Unavailable
from services.api.store.background import Background, render_cause
from services.api.store.control import Control
from services.api.store.freshness import Freshness
from services.api.store.materializers import Materializers, Registration
from services.api.store.mirror import Layout, Mirror
from services.api.store.publisher import Publisher
from services.api.store.snapshots import Snapshots

STOP_SECONDS_MAX = 3.0
"""With the five seconds for open answers, less than a container's grace period."""


class Commits:
    """Wakes requests and streams that wait for a commit. Callers limit their number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[Callable[[], object]] = set()
        self.requests = 0  # how many waiters are requests; only the event loop may touch it

    def notify(self) -> None:
        """Let every waiter check again. Any thread may call it."""
        with self._lock:
            waiting = tuple(self._waiting)
        for wake in waiting:
            with suppress(RuntimeError):  # its loop is closed: the API has stopped
                wake()

    async def wait_until(self, holds: Callable[[], bool], seconds_max: float) -> bool:
        """Check now and after every commit; returns whether the condition held in time."""
        woken = asyncio.Event()
        wake = partial(asyncio.get_running_loop().call_soon_threadsafe, woken.set)
        with self._lock:
            self._waiting.add(wake)
        try:
            async with asyncio.timeout(seconds_max):
                while not holds():
                    await woken.wait()
                    woken.clear()
        except TimeoutError:
            return False
        finally:
            with self._lock:
                self._waiting.discard(wake)
        return True


@dataclass(frozen=True)
class Store:
    """The views, the mirrored topics, the world clock, and the way into the log."""

    control: Control
    generations: Materializers
    commits: Commits
    freshness: Freshness
    publisher: Publisher
    registration: Registration
    mirrors: Mapping[str, Mirror]
    """The mirror of each topic."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when streams have to end."""

    def start(self) -> None:
        for each in self._list_background():
            each.start()

    def stop(self) -> None:
        """Ask every thread to end, and wait for at most STOP_SECONDS_MAX in all.

        A thread that still waits for an absent broker ends with the process. Its file is in the
        state of its last transaction.
        """
        until = time.monotonic() + STOP_SECONDS_MAX

        def compute_seconds_left() -> float:
            return max(0.0, until - time.monotonic())

        # The control thread stops first: it starts materializers.
        self.control.stop()
        self.control.join(compute_seconds_left())
        for each in self._list_background():
            each.stop()
        self.generations.stop(compute_seconds_left)
        for each in self._list_background():
            each.join(compute_seconds_left())

    def end_streams(self) -> None:
        """Let every stream tell its reader that the API stops."""
        self.stopping.set()
        self.commits.notify()

    def is_alive(self) -> bool:
        """Whether every background thread is at work."""
        every = (*self._list_background(), *self.generations.list_all())
        return all(each.is_alive() for each in every)

    def list_failures(self) -> list[str]:
        """Which part fails, and of what error; it tries again, and answers from what it has."""
        every = (*self._list_background(), *self.generations.list_all())
        return [f"{each.name}: {each.trouble}" for each in every if each.is_failing]

    def find_snapshots(self, view: str) -> Snapshots:
        """The snapshots of the view as it is now. Raises Unavailable."""
        materializer = self.generations.find_view(view)
        if materializer is None:
            raise self.create_missing(view)
        if materializer.snapshots is None:
            raise Unavailable(
                "View being loaded",
                f"Expected {view} loaded to a marker, found {materializer.describe_progress()}. "
                "Try again when GET /readyz says ready.",
            )
        return materializer.snapshots

    def open(self, layout: Layout) -> AbstractContextManager[sqlite3.Connection]:
        """One transaction in a mirror. Raises Unavailable before its load."""
        return self.mirrors[layout.topic].open()

    def create_missing(self, view: str) -> Unavailable:
        """The error of a view that no promoted generation carries."""
        refused = self._find_refused(view)
        return Unavailable(
            "View withdrawn" if refused else "View not there yet",
            f"Expected a promoted generation of the pipeline that writes {view}, found "
            f"{refused or 'none'}{render_cause(self.control.trouble)}. See which pipelines run: "
            "make status.",
        )

    def get_world_clock(self) -> AnnouncedClock:
        """The clock of the world. Raises Unavailable while none has been announced."""
        if self.control.world is None:
            raise Unavailable(
                "No world clock",
                "Expected a world clock to tell the time by, found none in "
                "private.control.clock.v1. The simulator announces it: make up.",
            )
        return self.control.world

    def get_world_ms(self) -> int:
        """World time in epoch milliseconds. Raises Unavailable."""
        return self.get_world_clock().world_at(get_wall_ms())

    def find_world_ms(self) -> int | None:
        """World time in epoch milliseconds; None while no clock has been announced."""
        return None if self.control.world is None else self.get_world_ms()

    def _find_refused(self, view: str) -> str | None:
        """The generation of the view that may not be read, and why."""
        for generations in tuple(self.generations.by_pipeline.values()):
            for each in generations.members:
                if view in each.views and each.state is State.INVALID:
                    return f"{each} invalid{render_cause(each.reason)}"
        return None

    def _list_background(self) -> tuple[Background, ...]:
        first = (self.control, self.freshness, self.publisher, self.registration)
        return (*first, *self.mirrors.values())
