"""Says which generations this API could serve at once: who promotes one waits for all readers.

Each process says it for itself, under a name that it keeps over restarts. Its word is a sign of
life too: who has said nothing for a while is waited for no more.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any, NamedTuple

from confluent_kafka import Producer

from contracts import READERS, encode, key
from infra.kafka import send
from services.api.background import Background
from services.clock import wall_ms

LOOK_SECONDS = 0.1
SAY_SECONDS = 5.0
"""At the latest after so long it is said again."""
SEND_SECONDS_MAX = 5.0

Tell = Callable[[dict[str, Any]], None]


class Loaded(NamedTuple):
    """A generation that requests could be answered from."""

    pipeline: str
    number: int
    served: bool


class Registering(Background):
    """A thread that says what is loaded when that changes, and again and again."""

    def __init__(self, name: str, loaded: Callable[[], tuple[Loaded, ...]], tell: Tell) -> None:
        super().__init__("registering")
        self._name = name
        self._loaded = loaded
        self._tell = tell
        self._told: tuple[Loaded, ...] | None = None
        self._due = 0.0

    def turn(self) -> None:
        now = self._loaded()
        if now != self._told or monotonic() >= self._due:
            self._tell(
                {
                    "reader": self._name,
                    "loaded": [each._asdict() for each in now],
                    "written_at": wall_ms(),
                }
            )
            self._told, self._due = now, monotonic() + SAY_SECONDS
        self.well()
        self.stopping.wait(LOOK_SECONDS)


def telling(client: Producer) -> Tell:
    """Into the control topic; raises NotDelivered."""

    def tell(row: dict[str, Any]) -> None:
        record = key(READERS, row), encode(READERS, row)
        send(client, READERS.name, *record, seconds_max=SEND_SECONDS_MAX)

    return tell
