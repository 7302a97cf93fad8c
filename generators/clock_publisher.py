"""Publishes the world clock in its control topic."""

from confluent_kafka import Message

from contracts import CLOCKS, encode, encode_key
from contracts.consumer import create_reader
from control.world_clock import AnnouncedClock, ClockState, WorldClock, parse_world_ms
from generators.parameters import Parameters
from generators.publisher import Publisher
from generators.resume import OtherWorld

PARAMETERS_HEADER = "parameters"
OWN = b"own"
"""The header's value where the world is not simulated."""

decode = create_reader("simulator")


class ClockPublisher:
    """Announces the clock; the header `parameters` names its world."""

    def __init__(self, publisher: Publisher, parameters: Parameters) -> None:
        self._publisher = publisher
        self._parameters = parameters

    def announce(self, clock: WorldClock, state: ClockState) -> None:
        event = AnnouncedClock(clock, state, self._parameters.seed).to_row()
        self._publisher.send(
            CLOCKS.name,
            partition=0,
            key=encode_key(CLOCKS, event),
            value=encode(CLOCKS, event),
            published_ms=clock.wall_ms,  # wall time: no event of the world
            headers=[(PARAMETERS_HEADER, self._parameters.render().encode())],
        )

    def flush(self) -> None:
        self._publisher.flush()


def read_announced_ms(message: Message, parameters: Parameters, parameters_found: bytes) -> int:
    """World time of an announcement, in milliseconds. Raises OtherWorld for another world's."""
    if parameters_found == OWN:
        raise OtherWorld("WORLD simulated", "one with WORLD own")
    expected, found = parameters.find_differences(parameters_found.decode())
    if expected:
        raise OtherWorld(expected, found)
    return parse_world_ms(decode(message.value() or b"").value)
