"""The speed of a replay of inventory beside the running shop, and its effect on the shop."""

import asyncio
import time
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from infra.kafka import create_admin, read_end_offsets
from infra.processes import find_drivers, list_descendants, run_supervisor
from infra.settings import Settings
from infra.wait import wait_for, wait_until
from ops.bench import history
from ops.bench.arrivals import Sample, compute_percentile_ms, describe_failures, run_arrivals
from ops.bench.broker import run_broker
from ops.bench.client import Client
from ops.bench.figures import Figure, Yardstick, aim_at_least, aim_at_most
from ops.bench.freshness import PROBES_PER_SECOND, STOCK, probe
from ops.bench.memory import GB, count_bytes
from ops.bench.scale import Scale
from ops.bench.shops import MORNING, SPINE, ReceiptRate, run_shop
from ops.generations.folders import find_checkpoint
from ops.generations.lifecycle import prune_generation
from ops.generations.record import Generation
from ops.replay import candidates
from pipelines.common.pipeline import load
from pipelines.engine.throttle import pause_others

RECEIPTS_PER_SECOND = 100.0
LOOK_SECONDS, SLICE_SECONDS = 0.5, 2.0
START_SECONDS_MAX, REPLAY_SECONDS_MAX = 120.0, 400.0
STOCK_MS_MAX = 3_000

INVENTORY = load(SPINE)


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    own = speed_up(settings)
    with run_broker(own):
        history.fill(own, scale.beside_days)
        with run_supervisor(own, own.data_dir / "pipelines.log") as pid:
            alone = Reading(own, 1, pid).follow()
    yield Figure(
        "replay with nothing beside it",
        alone.rate,
        "records/s",
        note=f"{alone.records:,} records, by a process that has just been started, from its first "
        "batch on. Only the broker runs.",
    )
    with run_shop(own) as shop:
        pid = shop.find_pid("pipelines")
        asyncio.run(measure_stock(own, "warm", asyncio.sleep(scale.live_seconds)))
        counted = ReceiptRate(own)
        with run_candidate(own) as (made, budget):
            beside = Reading(own, made.number, pid)
            samples = asyncio.run(measure_stock(own, "beside", asyncio.to_thread(beside.follow)))
        receipts = counted()
        with run_candidate(own) as (made, _):
            pause_others(own, made)
            paused = Reading(own, made.number, pid).follow()
    same = "the same with nothing beside it"
    yield Figure(
        "replay beside the shop",
        beside.rate,
        "records/s",
        yardstick=Yardstick(same, alone.rate, aim_at_least(50)),
        note=f"A candidate of inventory, beside {receipts:,.0f} receipts/s, inventory and the API.",
    )
    yield Figure(
        "stock visible meanwhile, p99",
        compute_percentile_ms(samples, 99),
        "ms",
        aim_at_most(STOCK_MS_MAX),
        note=f"{len(samples)} receipts posted, from Spark's start on; half of them within "
        f"{compute_percentile_ms(samples, 50):,.0f} ms." + describe_failures(samples),
    )
    yield Figure(
        "memory of the candidate",
        beside.bytes_max / GB,
        "GB",
        aim_at_most(budget / GB),
        note="The highest while it read. The aim is what it is allotted before it starts.",
    )
    yield Figure(
        "replay, the promoted paused",
        paused.rate,
        "records/s",
        yardstick=Yardstick(same, alone.rate, aim_at_least(90)),
        note="Another candidate, with --pause.",
    )


def speed_up(settings: Settings) -> Settings:
    """Settings of a shop of the default world, which goes on faster than it began."""
    usual = settings.simulator_receipts_per_second
    speed = settings.simulator_speed * MORNING * RECEIPTS_PER_SECOND / usual
    return settings.model_copy(
        update={
            "data_dir": settings.data_dir / "beside",
            "simulator_speed": speed,
            "pipelines": SPINE,
        }
    )


@dataclass
class Reading:
    """The catching up of a generation, observed from outside."""

    settings: Settings
    number: int
    supervisor: int
    """The process that starts the generation's process."""
    records: int = 0
    """Records to read at the first check."""
    seconds: float = 0.0
    """Seconds from its first batch until it had read them."""
    bytes_max: int = 0
    """Memory of its processes in bytes, shared pages counted once."""

    @property
    def rate(self) -> float:
        return self.records / self.seconds

    def follow(self) -> "Reading":
        """Wait until the generation has read all records."""
        topics = [topic.name for topic in INVENTORY.inputs]
        self.records = sum(read_end_offsets(create_admin(self.settings), topics).values())
        kept = find_checkpoint(self.settings, SPINE, self.number)
        wait_until(
            lambda: kept.find_newest_begun() >= 0,
            "the generation begins to read",
            START_SECONDS_MAX,
        )
        began = time.monotonic()

        def has_read_all() -> bool:
            self.bytes_max = max(self.bytes_max, self._count_bytes())
            return sum(kept.read_committed().values()) >= self.records

        if not wait_for(has_read_all, REPLAY_SECONDS_MAX, LOOK_SECONDS):
            raise TimeoutError(
                f"Generation {self.number} should have read {self.records:,} records within "
                f"{REPLAY_SECONDS_MAX:g} s, but has read {sum(kept.read_committed().values()):,}"
            )
        self.seconds = time.monotonic() - began
        return self

    def _count_bytes(self) -> int:
        driver = find_drivers(self.supervisor).get(f"{SPINE}/{self.number}")
        return sum(map(count_bytes, [driver, *list_descendants(driver.pid)])) if driver else 0


@contextmanager
def run_candidate(settings: Settings) -> Iterator[tuple[Generation, int]]:
    """A generation that reads everything again, and the bytes of memory that it is allotted."""
    started = candidates.start(settings, INVENTORY)
    try:
        yield started.generation, started.plan.memory_bytes
    finally:
        prune_generation(settings, started.generation)


async def measure_stock(
    settings: Settings, name: str, until_done: Awaitable[object]
) -> Sequence[Sample]:
    """How long receipts take to become visible in the stock, repeatedly until the work is done."""
    client, samples = Client(settings), list[Sample]()
    waiting = asyncio.ensure_future(until_done)
    while not waiting.done():
        slice_ = f"{name}-{len(samples)}"
        probes = await run_arrivals(
            partial(probe, client, [STOCK], slice_), PROBES_PER_SECOND, SLICE_SECONDS
        )
        samples += [each.stock for each in probes]
    await waiting
    return samples
