"""The loop of the world, tick by tick, at either pace."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from generators.confirmations import Confirmations, Nothing
from generators.disk_guard import DiskGuard
from generators.pacer import Pacer
from generators.publisher import Publisher
from generators.resume import Logged
from generators.snapshot import SNAPSHOT_TICKS, Snapshots
from generators.ticks import TICKS_PER_DAY, to_tick_start_ms
from generators.world import World

NOTHING = Nothing()

log = logging.getLogger("simulator")


class Progress(NamedTuple):
    """The world's next tick, and the records published since the program started."""

    tick: int
    records: int

    @property
    def days(self) -> int:
        """Whole days since the world began."""
        return self.tick // TICKS_PER_DAY

    @property
    def world_ms(self) -> int:
        return to_tick_start_ms(self.tick)


Report = Callable[[Progress], None]
"""Called with the progress at the end of every tick."""


def run(
    world: World,
    logged: Logged,
    pacer: Pacer,
    publisher: Publisher,
    snapshots: Snapshots,
    disk_guard: DiskGuard,
    report: Report,
    until_tick: int | None = None,
    confirmations: Confirmations = NOTHING,
) -> None:
    """Publish the records that the log lacks, up to `until_tick` or until stopped.

    Raises PublishingFailed; raises OtherWorld if the log holds another world.
    """
    published = 0
    while until_tick is None or world.next_tick < until_tick:
        tick = world.next_tick
        if not disk_guard.has_room():
            publisher.flush()
            pacer.stand()
            if not disk_guard.wait():
                return
        if not pacer.wait(to_tick_start_ms(tick)):
            return
        if tick and tick % SNAPSHOT_TICKS == 0:
            snapshots.save(world.dump_state())
        for publication in logged.select_missing(world.tick(confirmations.take_due(tick))):
            if not pacer.wait(publication.published_ms):
                return
            publisher.publish(publication)
            published += 1
        publisher.check()
        report(Progress(world.next_tick, published))


def create_daily_report() -> Report:
    """A report that logs a line a day."""
    began = time.monotonic()

    def report(at: Progress) -> None:
        if at.records and at.tick % TICKS_PER_DAY == 0:
            log.info(
                "world time %s; %s records published since the start of the program, %s/s",
                f"{datetime.fromtimestamp(at.world_ms / 1000, UTC):%Y-%m-%d %H:%M}",
                f"{at.records:,}",
                f"{at.records / max(time.monotonic() - began, 0.001):,.0f}",
            )

    return report
