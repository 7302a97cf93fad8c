"""Registers this API as a reader: it announces the generations that it could serve now.

A promotion waits until every registered reader has loaded the candidate. Each process announces
itself under a name that it keeps over restarts. The announcement is a heartbeat too: a promotion
does not wait for a reader that has been silent for a while.
"""

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from confluent_kafka import Producer

from contracts import READERS, Row, encode, encode_key
from infra.kafka import send
from services.api.store.background import Background
from services.clock import get_wall_ms

LOOK_SECONDS = 0.1
ANNOUNCE_SECONDS = 5.0
"""The longest pause between two announcements."""
SEND_SECONDS_MAX = 5.0

Announce = Callable[[Row], None]


class Loaded(NamedTuple):
    """A generation that the API could serve now."""

    pipeline: str
    number: int
    served: bool


class Registration(Background):
    """A thread that announces the loaded generations: after each change, and regularly."""

    def __init__(
        self, name: str, loaded: Callable[[], tuple[Loaded, ...]], announce: Announce
    ) -> None:
        super().__init__("registration")
        self._name = name
        self._loaded = loaded
        self._announce = announce
        self._announced: tuple[Loaded, ...] | None = None
        self._due = 0.0

    def run_once(self) -> None:
        now = self._loaded()
        if now != self._announced or monotonic() >= self._due:
            self._announce(
                {
                    "reader": self._name,
                    "loaded": [each._asdict() for each in now],
                    "written_at": get_wall_ms(),
                }
            )
            self._announced, self._due = now, monotonic() + ANNOUNCE_SECONDS
        self.clear_trouble()
        self.stopping.wait(LOOK_SECONDS)


def create_announcer(client: Producer) -> Announce:
    """A function that publishes an announcement in the control topic; it raises NotDelivered."""

    def announce(row: Row) -> None:
        record = encode_key(READERS, row), encode(READERS, row)
        send(client, READERS.name, *record, seconds_max=SEND_SECONDS_MAX)

    return announce
