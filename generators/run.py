"""The world goes on, tick by tick, at one pace or the other."""

import logging
import time
from datetime import UTC, datetime

from generators.pacer import Pacer
from generators.publisher import Publisher
from generators.resume import Logged
from generators.room import Room
from generators.snapshot import SNAPSHOT_TICKS, Snapshots
from generators.ticks import TICKS_PER_DAY, tick_start_ms
from generators.world import World

log = logging.getLogger("simulator")


def run(
    world: World,
    logged: Logged,
    pacer: Pacer,
    publisher: Publisher,
    snapshots: Snapshots,
    room: Room,
    until_tick: int | None = None,
) -> None:
    """Publish what the log does not hold yet, until that tick or until told to stop.

    Raises PublishingFailed, and OtherWorld where the log is another world's.
    """
    published, began = 0, time.monotonic()
    while until_tick is None or world.next_tick < until_tick:
        tick = world.next_tick
        if not room.left():
            publisher.flush()
            pacer.stand()
            if not room.wait():
                return
        if not pacer.wait(tick_start_ms(tick)):
            return
        if tick and tick % SNAPSHOT_TICKS == 0:
            snapshots.save(world.state())
        if published and tick % TICKS_PER_DAY == 0:
            _report(tick, published, time.monotonic() - began)
        for publication in logged.missing(world.tick()):
            if not pacer.wait(publication.published_ms):
                return
            publisher.publish(publication)
            published += 1
        publisher.check()


def _report(tick: int, published: int, seconds: float) -> None:
    now = datetime.fromtimestamp(tick_start_ms(tick) / 1000, UTC)
    log.info(
        "it is %s in the world; published %s records since the start of the program, %s/s",
        f"{now:%Y-%m-%d %H:%M}",
        f"{published:,}",
        f"{published / max(seconds, 0.001):,.0f}",
    )
