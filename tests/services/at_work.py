"""A service that follows Kafka, at work in a thread of the test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from infra.settings import Settings

STOP_SECONDS_MAX = 30


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
