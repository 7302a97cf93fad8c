"""The world clock in the control topic, for whoever needs to know what time it is in the world."""

from confluent_kafka import Message

from contracts import CLOCKS, encode, key
from contracts.consumer import reader
from generators.clock import ClockState, WorldClock
from generators.parameters import Parameters
from generators.publisher import Publisher
from generators.resume import OtherWorld

PARAMETERS_HEADER = "parameters"

decode = reader("simulator")


class Beacon:
    """Announces the clock; header `parameters` says of which world."""

    def __init__(self, publisher: Publisher, parameters: Parameters) -> None:
        self._publisher = publisher
        self._parameters = parameters

    def announce(self, clock: WorldClock, state: ClockState) -> None:
        event = clock.event(self._parameters.seed, state)
        self._publisher.send(
            CLOCKS.name,
            partition=0,
            key=key(CLOCKS, event),
            value=encode(CLOCKS, event),
            published_ms=clock.wall_ms,  # about the world, not of it
            headers=[(PARAMETERS_HEADER, self._parameters.text().encode())],
        )

    def flush(self) -> None:
        self._publisher.flush()


def shown_ms(message: Message, parameters: Parameters, parameters_found: bytes) -> int:
    """World time as last announced. Raises OtherWorld."""
    expected, found = parameters.differences(parameters_found.decode())
    if expected:
        raise OtherWorld(expected, found)
    value = decode(message.value() or b"").value
    return int(value["world_at"].timestamp() * 1000)
