"""A service that follows Kafka, or a thread of the API, at work while a test looks, or dying."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, TypeVar

import pytest
from confluent_kafka import Producer

from contracts import Contract, Row, encode
from infra.kafka import create_producer
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


class Died(BaseException):
    """The end of a service, anywhere."""


@dataclass
class Life:
    """How many rows the service encodes before it dies at the next; after that it lives on."""

    rows_left: int = 0
    producers: list[Producer] = field(default_factory=list)
    """Those of the dead too. To let go of one in the midst of a transaction would close it, which a
    process that dies does not; and librdkafka has aborted a test's process over it."""

    def create_producer(self, *asked: Any, **overrides: Any) -> Producer:
        self.producers.append(create_producer(*asked, **overrides))
        return self.producers[-1]

    def encode(self, contract: Contract, row: Row) -> bytes:
        self.rows_left -= 1
        if not self.rows_left:
            raise Died
        return encode(contract, row)


def limit_life(monkeypatch: pytest.MonkeyPatch, module: str) -> Life:
    """Let the service die by the rows that its module encodes."""
    life = Life()
    monkeypatch.setattr(f"{module}.encode", life.encode)
    monkeypatch.setattr(f"{module}.create_producer", life.create_producer)
    return life
