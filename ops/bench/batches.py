"""The cost of a live batch of each pipeline, beside a yardstick query's in the same Java."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from statistics import mean

import psutil
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.settings import Settings
from infra.wait import wait_until
from ops.bench import yardstick
from ops.bench.figures import Figure, aim_at_most
from ops.bench.replay import create
from ops.bench.shops import let_time_pass, measure_cpu, measure_cpu_since
from pipelines.common.pipeline import load
from pipelines.engine.beats import BeatLimit
from pipelines.engine.pace import MARGIN, Pace, find_horizon
from pipelines.engine.query import Run, choose_next_pace, start
from pipelines.engine.session import PARTITIONS, get_engine, start_session

BATCH_SECONDS = 40
"""How long the batches of one pipeline are counted."""
COMPILE_SECONDS = 60
"""How long they are made before, while Java compiles the code of that pipeline."""
SETTLE_SECONDS = 20
"""How long they are made before they count, where Java has compiled that code already."""
FIRST_BATCH_SECONDS_MAX = 300
CATCH_UP_SECONDS_MAX = 600
PLAIN_RATIO_MAX = 0.5

Start = Callable[[SparkSession], StreamingQuery]
"""Starts a query in a session of its own."""


def measure_batches(
    settings: Settings, share: float, shop: str, ratios_max: Mapping[str, float]
) -> Iterator[Figure]:
    """A batch of each pipeline between two of the yardstick's, in one Java, on the shop's log.

    All have made batches in that Java before, or the first ones would pay for compiling what the
    later ones use.
    """
    spark = start_session(settings, "bench")
    bare = partial(yardstick.start, settings=settings)
    live = {
        name: partial(start_live, settings=settings, name=name) for name in settings.pipeline_names
    }
    try:
        for started in (bare, *live.values()):
            start_warm(spark, started, share * COMPILE_SECONDS).stop()
        before = measure_cost(spark, bare, share, SETTLE_SECONDS)
        yield Figure(
            f"{shop}, yardstick's batch, CPU",
            before,
            "ms",
            note="It is measured again after each pipeline.",
        )
        for name, started in live.items():
            cost = measure_cost(spark, started, share, SETTLE_SECONDS)
            after = measure_cost(spark, bare, share, SETTLE_SECONDS)
            yield Figure(
                f"{shop}, {name}, × yardstick",
                cost / mean((before, after)),
                "×",
                aim_at_most(ratios_max[name]) if name in ratios_max else None,
            )
            before = after
    finally:
        end_session(spark)


def measure_plain(settings: Settings, share: float) -> Figure:
    """The yardstick query as it stands, beside plain Spark; each in a young Java."""
    ours = measure_alone(start_session(settings, "bench"), settings, share, ours=True)
    plain = measure_alone(yardstick.start_plain_session(settings), settings, share, ours=False)
    return Figure(
        "yardstick, × plain Spark",
        ours / plain,
        "×",
        aim_at_most(PLAIN_RATIO_MAX),
        note=f"{ours:.0f} and {plain:.0f} ms of CPU a batch, each in a Java that had just been "
        f"started. Plain Spark has {PARTITIONS} partitions and no other option.",
    )


def measure_alone(spark: SparkSession, settings: Settings, share: float, ours: bool) -> float:
    """As `measure_cost`, of the yardstick, in a session that ends with it."""
    try:
        started = partial(yardstick.start, settings=settings, ours=ours)
        return measure_cost(spark, started, share, COMPILE_SECONDS)
    finally:
        end_session(spark)


def start_live(spark: SparkSession, settings: Settings, name: str) -> StreamingQuery:
    """A new generation of the pipeline that is live, with batches as frequent as the yardstick's.

    It has caught up as any generation does. Python would take minutes for the log of a busy shop.
    """
    every = timedelta(seconds=yardstick.SECONDS_PER_BATCH)
    pipeline = replace(load(name), every=every, duty_cycle=1.0)
    work = Run(spark, settings, pipeline, create(settings, pipeline))
    limit = BeatLimit.read(settings)
    while not (pace := choose_next_pace(work, limit)).live:
        if not start(work, pace, limit).awaitTermination(CATCH_UP_SECONDS_MAX):
            raise TimeoutError(f"{name} should catch up within {CATCH_UP_SECONDS_MAX} s")
    return start(work, Pace(True, find_horizon(pipeline.reads) + MARGIN, None), limit)


def measure_cost(spark: SparkSession, started: Start, share: float, warm_seconds: float) -> float:
    """Milliseconds of CPU that a batch of the query takes in Java and in Spark's Python workers,
    on average, once it has made batches for this share of `warm_seconds`.
    """
    query = start_warm(spark, started, share * warm_seconds)
    java = psutil.Process(get_engine(spark).pid)
    before, first = measure_cpu(java), find_last_batch(query)
    let_time_pass(share * BATCH_SECONDS)
    spent, done = measure_cpu_since(before, java), max(find_last_batch(query) - first, 1)
    query.stop()
    return 1000 * spent / done


def start_warm(spark: SparkSession, started: Start, seconds: float) -> StreamingQuery:
    """Start the query, and have it make batches for so long, while Java compiles its code."""
    query = started(spark.newSession())
    wait_until(lambda: find_last_batch(query) >= 0, "a first batch", FIRST_BATCH_SECONDS_MAX)
    let_time_pass(seconds)
    return query


def find_last_batch(query: StreamingQuery) -> int:
    """The number of the last finished batch; -1 before the first."""
    if (failed := query.exception()) is not None:
        raise failed
    last = query.lastProgress
    return -1 if last is None else last.batchId


def end_session(spark: SparkSession) -> None:
    """End the session and its Java, so that the next session starts a Java of its own."""
    java = get_engine(spark)
    spark.stop()
    java.kill()
    java.wait()
    SparkContext._gateway = SparkContext._jvm = None
