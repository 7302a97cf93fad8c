"""A service that follows Kafka, or a thread of the API, at work while a test looks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TypeVar

from infra.settings import Settings
from services.api.store.background import Background

STOP_SECONDS_MAX = 30
Work = TypeVar("Work", bound=Background)


@contextmanager
def at_work(follow: Callable[[Settings, Event], None], settings: Settings) -> Iterator[None]:
    """It works as long as the block does."""
    stop = Event()
    running = Thread(target=follow, args=(settings, stop))
    running.start()
    try:
        yield
    finally:
        stop.set()
        running.join(STOP_SECONDS_MAX)


@contextmanager
def running(work: Work) -> Iterator[Work]:
    """A thread of the API; it works as long as the block does."""
    work.start()
    try:
        yield work
    finally:
        work.stop()
        work.join()
