"""The cost of live operation: a batch of each pipeline beside a yardstick query's, and a shop."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from bench import yardstick
from bench.arrivals import describe_failures, milliseconds
from bench.batch_cost import Cost, cost, cpu_by_process, end, spent_since, time_passes
from bench.figures import Figure, at_most
from bench.freshness import RECEIPTS_PER_SECOND, VIEWS, send_probes
from bench.generations import as_often_as_yardstick, create, live_pace
from bench.memory import GB, count_bytes
from bench.reads import measure_reads
from bench.scale import Scale
from bench.shops import Shop, derive_settings, running
from infra.processes import engines
from infra.settings import Settings
from infra.supervisor import orphans
from pipelines.common.generations.folders import find_checkpoint
from pipelines.common.runtime.query import Run, next_pace, start
from pipelines.common.runtime.session import session

SLOW_PROBES_PER_SECOND = 2.0
"""Each waits for every pipeline, some for five seconds. The API limits how many wait at once."""
REPLAYED, REPLAY_SECONDS_MAX = "fraud", 60
CATCH_UP_SECONDS_MAX = 600
RATIO_AIMS = {"inventory": 1.2, "fraud": 1.5, "analytics": 1.5, "visits": 1.5}


@dataclass(frozen=True)
class Kind:
    """A shop in which live batches are measured."""

    name: str
    visible_ms_max: tuple[float, float]
    """Aims for p50 and p99, from published to visible in the stock."""
    cores_max: float | None = None


DEFAULT = Kind("default shop", (400, 1_000), cores_max=0.4)
BUSY = Kind(f"{RECEIPTS_PER_SECOND:g}/s", (600, 1_500))


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    default = settings.model_copy(update={"data_dir": settings.data_dir / "live"})
    with running(default) as shop:
        time_passes(scale.age_seconds)
        yield from measure_shop(shop, scale, DEFAULT)
        yield from batches(default, scale, DEFAULT)
        yield measure_replay(shop)
        yield from by_defaults(default, scale)
    busy = derive_settings(settings, "live-busy", RECEIPTS_PER_SECOND)
    with running(busy) as shop:
        time_passes(scale.warm_seconds)
        yield from measure_shop(shop, scale, BUSY)
        yield from batches(busy, scale, BUSY)


def measure_shop(shop: Shop, scale: Scale, kind: Kind) -> Iterator[Figure]:
    """The shop as it is, with all its pipelines in one Java."""
    settings = shop.settings
    [java] = engines(shop.pid("pipelines"))
    before, made, began = cpu_by_process(java), newest_batches(settings), time.monotonic()
    time_passes(scale.batch_seconds)
    seconds = time.monotonic() - began
    per_minute = {
        name: 60 * (newest - made[name]) / seconds
        for name, newest in newest_batches(settings).items()
    }
    cores = spent_since(before, java) / seconds
    aim = None if kind.cores_max is None else at_most(kind.cores_max)
    shares = ", ".join(f"{name} {each:.0f}" for name, each in per_minute.items())
    note = (
        f"Java and its Python workers, all pipelines; batches a minute: {shares}. "
        f"{1000 * 60 * cores / sum(per_minute.values()):.0f} ms of CPU a batch."
    )
    yield Figure(f"{kind.name}, Spark", cores, "cores", aim, note=note)
    yield from visible(settings, scale, kind)
    short = replace(scale, warm_seconds=1)
    yield from measure_reads(f"{kind.name}, one shelf read", settings, short)
    yield Figure(
        f"{kind.name}, memory",
        sum(map(count_bytes, orphans.find(settings.data_dir))) / GB,
        "GB",
        at_most(3),
    )


def measure_replay(shop: Shop) -> Figure:
    """A replay beside the shop as it is, until its difference is known."""
    began = time.monotonic()
    shop.retail("replay", "start", REPLAYED)
    seconds = time.monotonic() - began
    status = json.loads(shop.retail("replay", "status", REPLAYED, "--json"))
    read = max(generation["read"] for generation in status["generations"])
    shop.retail("replay", "prune", REPLAYED)
    return Figure(
        f"retail replay start {REPLAYED}, beside it",
        seconds,
        "s",
        at_most(REPLAY_SECONDS_MAX),
        note=f"{read:,} records from offset zero, with its difference. Half an hour of the shop "
        "should take no more.",
    )


def visible(settings: Settings, scale: Scale, kind: Kind) -> Iterator[Figure]:
    """Seconds from a receipt's acknowledgement to an answer of each pipeline that holds it."""
    names = [name for name in settings.pipeline_names if name in VIEWS]
    short = replace(scale, warm_seconds=1)
    views = [VIEWS[name] for name in names]
    probes, rate = asyncio.run(send_probes(settings, short, views, SLOW_PROBES_PER_SECOND))
    for name, seen in zip(names, zip(*(probe.seen for probe in probes), strict=True), strict=True):
        p50, p99 = kind.visible_ms_max if name == "inventory" else (None, None)
        note = (
            f"{len(probes)} receipts posted beside {rate:,.0f} receipts/s.{describe_failures(seen)}"
        )
        for percent, aim in ((50, p50), (99, p99)):
            yield Figure(
                f"{kind.name}, {name} p{percent}",
                milliseconds(seen, percent),
                "ms",
                None if aim is None else at_most(aim),
                note=note if percent == 99 else "",
            )


def newest_batches(settings: Settings) -> dict[str, int]:
    """The number of the newest batch of each pipeline's first generation."""
    return {
        name: find_checkpoint(settings, name, 1).newest_begun() for name in settings.pipeline_names
    }


def batches(settings: Settings, scale: Scale, kind: Kind) -> Iterator[Figure]:
    """A batch of each pipeline between two of the yardstick's, in one Java, on the shop's log."""
    spark = session(settings, "bench")
    try:
        bare = [cost(spark, partial(start_sized, settings=settings), scale)]
        yield Figure(
            f"{kind.name}, yardstick's batch, CPU",
            milliseconds_of(bare[0]),
            "ms",
            note="The least of the kind: one topic, deduplicated, summed, written. It is measured "
            f"again after each pipeline; here in a young Java. {bare[0]}",
        )
        for name in settings.pipeline_names:
            found = cost(spark, partial(live, settings=settings, name=name), scale)
            bare.append(cost(spark, partial(start_sized, settings=settings), scale))
            yield beside_yardstick(kind, name, found, bare[-2:])
    finally:
        end(spark)


def beside_yardstick(kind: Kind, name: str, found: Cost, around: Sequence[Cost]) -> Figure:
    """A batch's CPU, in those of the yardstick in the same minutes: just before and just after."""
    before, after = map(milliseconds_of, around)
    return Figure(
        f"{kind.name}, {name}, × yardstick",
        milliseconds_of(found) / ((before + after) / 2),
        "×",
        at_most(RATIO_AIMS.get(name, 1.5)) if kind is DEFAULT else None,
        note=f"{found} The yardstick before and after: {before:.0f} and {after:.0f} ms.",
    )


def milliseconds_of(batch: Cost) -> float:
    return 1000 * batch.cpu_seconds


def by_defaults(settings: Settings, scale: Scale) -> Iterator[Figure]:
    """The yardstick query as it stands, and with Spark's own options; each in a young Java."""
    ours = measure_alone(session(settings, "bench"), partial(start_sized, settings=settings), scale)
    folder = settings.data_dir / "yardstick-by-defaults"
    plain = partial(yardstick.start, settings=settings, folder=folder, ours=False)
    theirs = measure_alone(yardstick.plain_session(settings), plain, scale)
    yield Figure(
        "yardstick, × Spark's defaults",
        ours.cpu_seconds / theirs.cpu_seconds,
        "×",
        at_most(0.5),
        note=f"Ours: {ours} By defaults: {theirs} Both in a Java that had just been started.",
    )


def measure_alone(
    spark: SparkSession, started: Callable[[SparkSession], StreamingQuery], scale: Scale
) -> Cost:
    """The cost of the query's batch, in a session that ends with it."""
    try:
        return cost(spark, started, scale)
    finally:
        end(spark)


def start_sized(spark: SparkSession, settings: Settings) -> StreamingQuery:
    return yardstick.start(spark, settings, settings.data_dir / "yardstick")


def live(spark: SparkSession, settings: Settings, name: str) -> StreamingQuery:
    """A new generation of the pipeline that is live, with batches as frequent as the yardstick's.

    It has caught up as any generation does. Python would take minutes for the log of a busy shop.
    """
    pipeline = as_often_as_yardstick(name)
    work = Run(spark, settings, pipeline, create(settings, pipeline))
    while not (now := next_pace(work)).live:
        if not start(work, now).awaitTermination(CATCH_UP_SECONDS_MAX):
            raise TimeoutError(f"{name} should catch up within {CATCH_UP_SECONDS_MAX} s")
    return start(work, live_pace(pipeline))
