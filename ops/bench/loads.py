"""A shop without the simulator, under a load that the bench makes, and what all of it takes."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from contracts import RECEIPTS
from infra.processes import find_engines
from infra.settings import Settings
from infra.supervisor import orphans
from infra.wait import repeat_in_thread
from ops.bench.batch_cost import let_time_pass, measure_cpu, read_cpu_seconds, sum_since
from ops.bench.memory import GB, count_bytes
from ops.bench.pipeline_costs import count_receipts, count_shelves, measure_topics
from ops.bench.receipts import Log, Spread, create_receipt
from ops.bench.scale import Scale
from ops.bench.shops import Shop, run_shop
from services.clock import get_wall_ms

REST_SECONDS = 0.5
NUMBERS = count(1)


@dataclass(frozen=True)
class Load:
    """Receipts that come all the time."""

    per_second: float
    spread: Spread


@dataclass(frozen=True)
class Moment:
    """What a shop has done so far."""

    seconds: float
    receipts: int
    log_bytes: int
    spark: Mapping[int, float]
    """CPU seconds of Java and of Spark's Python workers, by process id."""
    rest: Mapping[int, float]
    """CPU seconds of all other processes, by process id."""


@dataclass(frozen=True)
class Use:
    """What a shop took under a load."""

    load: Load
    per_second: float
    """Receipts per second that there were."""
    spark_cores: float
    """Java and Python workers of the pipelines."""
    rest_cores: float
    """All other processes: broker, API, quarantine, the pipelines' own Python."""
    memory_gb: float
    log_bytes_per_receipt: float
    receipts: int
    """Receipts of this load that had come by then, all of which the shop remembers."""
    shelves: int
    """Shelves that they took from."""

    @property
    def cores(self) -> float:
        return self.spark_cores + self.rest_cores

    @property
    def lines_per_second(self) -> float:
        return self.per_second * self.load.spread.lines


def measure_loads(
    settings: Settings, name: str, loads: Sequence[Load], scale: Scale
) -> Iterator[Use]:
    """A new shop of that name, under one load after the other."""
    own = settings.model_copy(update={"data_dir": settings.data_dir / name, "world": "own"})
    with run_shop(own) as shop:
        for load in loads:
            yield measure_load(shop, load, scale)


def measure_load(shop: Shop, load: Load, scale: Scale) -> Use:
    log, first = Log(shop.settings), next(NUMBERS)
    with repeat_in_thread(lambda: publish_some(log, load), REST_SECONDS):
        let_time_pass(scale.compile_seconds)
        return measure_use(shop, load, scale.live_seconds, first)


def publish_some(log: Log, load: Load) -> None:
    """The receipts of one rest, issued now."""
    now_ms = get_wall_ms()
    for number in (next(NUMBERS) for _ in range(round(load.per_second * REST_SECONDS))):
        event = {**create_receipt(number, spread=load.spread), "event_time": now_ms}
        log.append(RECEIPTS, event["store_id"], event)
    log.flush()


def measure_use(shop: Shop, load: Load, seconds: float, first: int) -> Use:
    """What the shop takes within so many seconds. The load's receipts come after the first one."""
    before = look(shop)
    let_time_pass(seconds)
    after = look(shop)
    took, receipts = after.seconds - before.seconds, after.receipts - before.receipts
    numbers = range(first + 1, next(NUMBERS))
    return Use(
        load,
        receipts / took,
        spark_cores=sum_since(before.spark, after.spark) / took,
        rest_cores=sum_since(before.rest, after.rest) / took,
        memory_gb=sum(map(count_bytes, orphans.find(shop.settings.data_dir))) / GB,
        log_bytes_per_receipt=(after.log_bytes - before.log_bytes) / receipts,
        receipts=len(numbers),
        shelves=count_shelves(numbers, load.spread),
    )


def look(shop: Shop) -> Moment:
    settings = shop.settings
    [java] = find_engines(shop.find_pid("pipelines"))
    spark, everything = measure_cpu(java), read_cpu_seconds(orphans.find(settings.data_dir))
    return Moment(
        time.monotonic(),
        count_receipts(settings),
        measure_topics(settings, RECEIPTS.name),
        spark,
        {pid: seconds for pid, seconds in everything.items() if pid not in spark},
    )
