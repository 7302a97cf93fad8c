"""The simulator as a program: resume the world, publish its history, then run it live.

python -m generators.simulator [--backfill-days N] [--stop-after-backfill]
"""

import argparse
import gc
import logging
import sys
from collections.abc import Callable
from functools import partial
from threading import Event as Signal

from generators.clock import ClockPublisher, find_announced, read_announced_ms, to_speed_milli
from generators.inputs import Inputs, Journal
from generators.parameters import Parameters, create_parameters
from generators.publisher import Publisher
from generators.resume import (
    SEQUENCE,
    SNAPSHOT_TICKS,
    Logged,
    Snapshots,
    find_last_published,
    is_numbered,
    parse_published,
)
from generators.run import DiskGuard, Paced, Progress, Unpaced, run
from generators.stopping import work_until_stopped
from generators.ticks import START_MS, TICKS_PER_DAY, to_tick_start_ms
from generators.world import TOPICS, World
from infra.clock import get_wall_ms
from infra.disk import find_shortage
from infra.errors import UserError
from infra.kafka import KafkaDown, create_producer, is_answering
from infra.lock import LockHeld, lock_folder
from infra.settings import SIMULATOR, Settings
from ops.control.world_clock import ClockState, WorldClock

BACKFILL_LINGER_MS = 50  # large batches: no reader waits for a single record
GARBAGE_OBJECTS = 100_000

log = logging.getLogger("simulator")


def simulate(
    settings: Settings,
    stop: Signal,
    *,
    backfill_days: int = 0,
    live: bool = True,
    report: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Publish the world until `stop` is set.

    Backfill publishes the world's first days as fast as possible and skips what the log holds
    already. Raises UserError where a person is needed.
    """
    home = settings.data_dir
    advice = "See what runs: make status · stop it: make down"
    held = LockHeld("simulator", f"publish the world of {home}", advice)
    with lock_folder(home / SIMULATOR, held):
        _simulate(settings, stop, backfill_days, live, report)


def _simulate(
    settings: Settings,
    stop: Signal,
    backfill_days: int,
    live: bool,
    report: Callable[[Progress], None],
) -> None:
    if backfill_days and settings.refill == "orders":
        raise UserError(
            "A backfill needs a world whose shelves are filled by vans, found orders: the supplier "
            "does not answer so fast. Begin anew: make reset, then the backfill; or let time pass "
            "faster: SIMULATOR_SPEED=600 make up"
        )
    wanted = create_parameters(settings)
    logged, past_ms = _read_back(settings, wanted)
    disk_guard = DiskGuard(stop, partial(find_shortage, settings))
    snapshots = Snapshots(settings.data_dir / SIMULATOR, wanted.render())
    world = _resume_world(wanted, logged, snapshots)
    journal = Journal(settings.data_dir / SIMULATOR, wanted.render())
    inputs = Inputs(settings, wanted, journal, logged.newest_ms)
    client = create_producer(settings)
    clock_publisher = ClockPublisher(Publisher(client), wanted.render().encode(), wanted.seed)
    speed = to_speed_milli(settings.simulator_speed)

    def stand(world_ms: int) -> None:
        clock_publisher.announce(WorldClock(world_ms, get_wall_ms(), speed), ClockState.STOPPED)

    stand(past_ms)
    if backfill_days:
        history = Publisher(
            create_producer(settings, linger_ms=BACKFILL_LINGER_MS), beats_held_max=SNAPSHOT_TICKS
        )
        until_tick = backfill_days * TICKS_PER_DAY
        fast = Unpaced(stop)
        run(world, logged, fast, history, snapshots, disk_guard, report, until_tick, inputs)
        past_ms = max(past_ms, to_tick_start_ms(world.next_tick))
        history.flush()
        stand(past_ms)
    if live and not stop.is_set():
        pacer = Paced(stop, past_ms, speed, get_wall_ms, clock_publisher.announce)
        publisher = Publisher(client, get_wall_ms)
        run(world, logged, pacer, publisher, snapshots, disk_guard, report, inputs=inputs)
        pacer.stand()
    clock_publisher.flush()


def _read_back(settings: Settings, wanted: Parameters) -> tuple[Logged, int]:
    """The world's records in the log, and the newest world time there."""
    if not is_answering(settings):
        raise KafkaDown(settings.bootstrap_servers)
    ends = find_last_published(settings, [topic.name for topic in TOPICS], SEQUENCE, is_numbered)
    logged = Logged({partition: parse_published(message) for partition, message in ends.items()})
    announced = find_announced(settings)
    past_ms = announced and read_announced_ms(announced, wanted, logged.newest_ms)
    return logged, max(START_MS, past_ms or 0, logged.newest_ms)


def _resume_world(wanted: Parameters, logged: Logged, snapshots: Snapshots) -> World:
    world = snapshots.find_newest(logged) or World(wanted)
    logged.skip(world.counts)
    log.info("the world %s goes on at tick %d", wanted.render(), world.next_tick)
    return world


def collect_garbage_rarely() -> None:
    """Collect rarely: a simulating process makes many small objects and no cycles."""
    gc.set_threshold(GARBAGE_OBJECTS)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m generators.simulator")
    backfill = "publish the first N days of the world as fast as possible, then go on in real time"
    parser.add_argument("--backfill-days", type=int, default=0, metavar="N", help=backfill)
    stopping = "stop after the backfill"
    parser.add_argument("--stop-after-backfill", action="store_true", help=stopping)
    options = parser.parse_args()
    collect_garbage_rarely()
    days, live = options.backfill_days, not options.stop_after_backfill
    return work_until_stopped("simulator", partial(simulate, backfill_days=days, live=live))


if __name__ == "__main__":
    sys.exit(main())
