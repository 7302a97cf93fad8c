"""What it costs to live: CPU of a batch beside a yardstick query's, and of the default shop."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import count
from statistics import median

import psutil
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.settings import Settings
from infra.supervisor import orphans
from pipelines.common.clock import wall_now
from pipelines.common.generation import State, make_outputs, new
from pipelines.common.pipeline import load
from pipelines.common.run import engine, start
from pipelines.common.session import session
from pipelines.common.watermark import MARGIN, Pace, horizon
from tests.bench import yardstick
from tests.bench.arrivals import milliseconds
from tests.bench.figures import Figure, at_most
from tests.bench.freshness import STOCK, probed
from tests.bench.memory import GB, taken
from tests.bench.scale import Scale
from tests.bench.shops import running
from tests.processes import engines
from tests.waiting import wait_until

FIRST_NUMBER = 2_001
"""Of the generations that are measured; the shop's own has number 1."""
RATIO_AIMS = {"inventory": 1.2, "fraud": 1.5, "analytics": 1.5, "visits": 1.5}
FIRST_BATCH_SECONDS_MAX = 300


@dataclass(frozen=True)
class Cost:
    """What a batch costs."""

    cpu_seconds: float
    """Of Java and of Spark's Python workers."""
    wall_ms: float
    batches: int


def measure(where: Settings, scale: Scale) -> Iterator[Figure]:
    own = where.model_copy(update={"data_dir": where.data_dir / "live"})
    with running(own):
        time_passes(scale.age_seconds)
        yield from shop(own, scale)
        yield from batches(own, scale)


def shop(where: Settings, scale: Scale) -> Iterator[Figure]:
    """The default shop as it is."""
    found = orphans.find(where.data_dir)
    [java] = {one.pid: one for root in found for one in engines(root.pid)}.values()
    before, began = cpu_seconds(java), time.monotonic()
    time_passes(scale.batch_seconds)
    cores = (cpu_seconds(java) - before) / (time.monotonic() - began)
    note = f"Java of all four pipelines, {scale.age_seconds:g} s after the start."
    yield Figure("the default shop's Spark", cores, "cores", at_most(0.4), note=note)
    probes, rate = asyncio.run(probed(where, replace(scale, warm_seconds=1), [STOCK]))
    seen = [probe.stock for probe in probes]
    note = f"{len(probes)} receipts posted beside {rate:,.0f} receipts/s."
    yield Figure("visible in it, p50", milliseconds(seen, 50), "ms", at_most(400))
    yield Figure("visible in it, p99", milliseconds(seen, 99), "ms", at_most(1_000), note=note)
    yield Figure("its memory", sum(map(taken, found)) / GB, "GB", at_most(3))


def batches(where: Settings, scale: Scale) -> Iterator[Figure]:
    """A batch of each pipeline beside the yardstick's, in one Java, on the shop's log."""
    spark = session(where, "bench")
    try:
        first = cost(spark, partial(sized, where=where), scale)
        found = {
            name: cost(spark, partial(live, where=where, name=name), scale)
            for name in where.pipeline_names
        }
        last = cost(spark, partial(sized, where=where), scale)
    finally:
        engine(spark).kill()
    bare = (first.cpu_seconds + last.cpu_seconds) / 2
    yield Figure(
        "batch of the yardstick query, CPU",
        1000 * last.cpu_seconds,
        "ms",
        note=f"The least of the kind: one topic, deduplicated, summed, written; {last.wall_ms:.0f}"
        f" ms by the clock. Before the pipelines, while Java was young: "
        f"{1000 * first.cpu_seconds:.0f} ms. They are held beside the mean.",
    )
    for name, each in found.items():
        note = f"{1000 * each.cpu_seconds:.0f} ms of CPU, {each.wall_ms:.0f} by the clock; "
        note += f"{each.batches} batches."
        aim = at_most(RATIO_AIMS.get(name, 1.5))
        yield Figure(f"batch of {name}, × yardstick", each.cpu_seconds / bare, "×", aim, note=note)


def cost(
    spark: SparkSession, started: Callable[[SparkSession], StreamingQuery], scale: Scale
) -> Cost:
    """What a batch of the query costs, once Java knows it."""
    query = started(spark.newSession())
    wait_until(lambda: batch(query) >= 0, "a first batch", FIRST_BATCH_SECONDS_MAX)
    time_passes(scale.batch_seconds)
    java = psutil.Process(engine(spark).pid)
    before, first = cpu_seconds(java), batch(query)
    time_passes(scale.batch_seconds)
    spent, done = cpu_seconds(java) - before, batch(query) - first
    walls = [one.durationMs["triggerExecution"] for one in query.recentProgress]
    query.stop()
    return Cost(spent / max(done, 1), median(walls), done)


def batch(query: StreamingQuery) -> int:
    """The number of the last finished batch; -1 before the first."""
    if (failed := query.exception()) is not None:
        raise failed
    last = query.lastProgress
    return -1 if last is None else last.batchId


def sized(spark: SparkSession, where: Settings) -> StreamingQuery:
    return yardstick.start(spark, where, where.data_dir / "yardstick")


NUMBERS = count(FIRST_NUMBER)


def live(spark: SparkSession, where: Settings, name: str) -> StreamingQuery:
    """A generation of the pipeline's that reads as a live one, as often as the yardstick does."""
    every = timedelta(seconds=yardstick.SECONDS_PER_BATCH)
    pipeline = replace(load(name), every=every)
    generation = new(pipeline, "0" * 64, wall_now(), next(NUMBERS), State.CATCHING_UP)
    make_outputs(where, pipeline, generation)
    now = Pace(True, horizon(pipeline.reads) + MARGIN, None)
    return start(spark, where, pipeline, generation, now)


def cpu_seconds(java: psutil.Process) -> float:
    """Of the process and of its Python workers, those that have ended included."""
    times = [one.cpu_times() for one in (java, *java.children(recursive=True))]
    return sum(one.user + one.system + one.children_user + one.children_system for one in times)


def time_passes(seconds: float) -> None:
    """What is measured is what happens meanwhile."""
    until = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= until, "time passes", seconds + 30)
