"""The clock of a world without a simulator: the wall clock, or the imported events' time.

python -m generators.own_clock
"""

import sys
from threading import Event as Signal

from contracts import HEARTBEATS, encode, encode_key
from generators.clock import OWN, PARAMETERS_HEADER, ClockPublisher, find_announced
from generators.publisher import Publisher
from generators.resume import OtherWorld, get_header
from generators.stopping import work_until_stopped
from generators.ticks import HOUR_MS, TICK_MS
from infra.clock import get_wall_ms
from infra.kafka import (
    KafkaDown,
    Outgoing,
    create_admin,
    create_producer,
    is_answering,
    read_newest_ms,
    send_all,
)
from infra.settings import Settings
from ops.control.world_clock import WORLD, ClockState, WorldClock

SEED = 0  # nothing is drawn
REAL_TIME_MILLI = 1_000
SETTLED_MS = 2_000
"""So long after a wall minute, everything published in it is in the log."""


class Timekeeper:
    """Publishes the time of an own world: its clock and its heartbeats."""

    def __init__(self, settings: Settings) -> None:
        self._client = create_producer(settings)
        self._clock_publisher = ClockPublisher(Publisher(self._client), OWN, SEED)

    def run(self) -> None:
        """Announce that world time is wall time from now on."""
        now_ms = get_wall_ms()
        self._announce(WorldClock(now_ms, now_ms, REAL_TIME_MILLI), ClockState.RUNNING)

    def stand(self, world_ms: int) -> None:
        """Announce that world time stands at `world_ms`."""
        self._announce(WorldClock(world_ms, get_wall_ms(), REAL_TIME_MILLI), ClockState.STOPPED)

    def beat(self, world_ms: int) -> None:
        """Publish a heartbeat: the log is complete up to that time. Raises NotDelivered."""
        event = {"event_id": f"own-{world_ms}", "event_time": world_ms, "world": WORLD}
        value = encode(HEARTBEATS, event)
        send_all(
            self._client,
            [Outgoing(HEARTBEATS.name, encode_key(HEARTBEATS, event), value, world_ms)],
        )

    def _announce(self, clock: WorldClock, state: ClockState) -> None:
        self._clock_publisher.announce(clock, state)
        self._clock_publisher.flush()


def read_heartbeat_ms(settings: Settings) -> int | None:
    """World time of the last heartbeat; the log is complete up to it. None before the first."""
    return max(read_newest_ms(create_admin(settings), [HEARTBEATS.name]).values(), default=None)


def keep_time(settings: Settings, stop: Signal) -> None:
    """Publish world time until `stop` is set. Raises OtherWorld, KafkaDown, NotDelivered."""
    if not is_answering(settings):
        raise KafkaDown(settings.bootstrap_servers)
    refuse_other(settings)
    timekeeper, beaten = Timekeeper(settings), read_heartbeat_ms(settings)
    if settings.begins_ms is None:
        timekeeper.run()
        _follow_the_wall(timekeeper, beaten or 0, stop)
        return
    if beaten is None:
        beaten = settings.begins_ms - HOUR_MS  # the hour in which the shop is announced
        timekeeper.beat(beaten)
    timekeeper.stand(max(settings.begins_ms, beaten))
    stop.wait()


def refuse_other(settings: Settings) -> None:
    """Raise OtherWorld if the log holds a simulated world."""
    announced = find_announced(settings)
    parameters = OWN if announced is None else get_header(announced, PARAMETERS_HEADER) or b""
    if parameters != OWN:
        raise OtherWorld("WORLD own", f"one with the parameters {parameters.decode()}")


def _follow_the_wall(timekeeper: Timekeeper, beaten: int, stop: Signal) -> None:
    """Publish a heartbeat after each wall minute."""
    while not stop.is_set():
        over_ms = (get_wall_ms() - SETTLED_MS) // TICK_MS * TICK_MS
        if over_ms > beaten:
            timekeeper.beat(over_ms)
            beaten = over_ms
        stop.wait(max(0, over_ms + TICK_MS + SETTLED_MS - get_wall_ms()) / 1000)


if __name__ == "__main__":
    sys.exit(work_until_stopped("clock", keep_time))
