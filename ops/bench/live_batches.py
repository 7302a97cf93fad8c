"""The cost of a live batch of each pipeline, beside a yardstick query's in the same Java."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.settings import Settings
from ops.bench import yardstick
from ops.bench.batch_cost import Cost, Start, end_session, measure_cost, start_warm
from ops.bench.figures import Figure, aim_at_most
from ops.bench.freshness import RECEIPTS_PER_SECOND
from ops.bench.generations import (
    CATCH_UP_SECONDS_MAX,
    create,
    create_live_pace,
    load_with_yardstick_pace,
)
from ops.bench.scale import Scale
from pipelines.engine.query import Run, choose_next_pace, start
from pipelines.engine.session import start_session

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


def measure_batches(settings: Settings, scale: Scale, kind: Kind) -> Iterator[Figure]:
    """A batch of each pipeline between two of the yardstick's, in one Java, on the shop's log.

    All have made batches in that Java before, or the first ones would pay for compiling what the
    later ones use.
    """
    spark = start_session(settings, "bench")
    sized = partial(start_sized, settings=settings)
    live = {
        name: partial(start_live, settings=settings, name=name) for name in settings.pipeline_names
    }
    try:
        for started in (sized, *live.values()):
            start_warm(spark, started, scale.compile_seconds).stop()
        bare = [measure_cost(spark, sized, scale, scale.settle_seconds)]
        yield Figure(
            f"{kind.name}, yardstick's batch, CPU",
            get_milliseconds(bare[0]),
            "ms",
            note="The least of the kind: one topic, deduplicated, summed, written. It is measured "
            f"again after each pipeline. {bare[0]}",
        )
        for name, started in live.items():
            measured = measure_cost(spark, started, scale, scale.settle_seconds)
            bare.append(measure_cost(spark, sized, scale, scale.settle_seconds))
            yield relate_to_yardstick(kind, name, measured, bare[-2:])
    finally:
        end_session(spark)


def relate_to_yardstick(kind: Kind, name: str, measured: Cost, around: Sequence[Cost]) -> Figure:
    """A batch's CPU, in those of the yardstick in the same minutes: just before and just after."""
    before, after = map(get_milliseconds, around)
    return Figure(
        f"{kind.name}, {name}, × yardstick",
        get_milliseconds(measured) / ((before + after) / 2),
        "×",
        aim_at_most(RATIO_AIMS.get(name, 1.5)) if kind is DEFAULT else None,
        note=f"{measured} The yardstick before and after: {before:.0f} and {after:.0f} ms.",
    )


def get_milliseconds(batch: Cost) -> float:
    return 1000 * batch.cpu_seconds


def measure_defaults(settings: Settings, scale: Scale) -> Iterator[Figure]:
    """The yardstick query as it stands, and with Spark's own options; each in a young Java."""
    ours = measure_alone(
        start_session(settings, "bench"), partial(start_sized, settings=settings), scale
    )
    folder = settings.data_dir / "yardstick-by-defaults"
    plain = partial(yardstick.start, settings=settings, folder=folder, ours=False)
    theirs = measure_alone(yardstick.start_plain_session(settings), plain, scale)
    yield Figure(
        "yardstick, × Spark's defaults",
        ours.cpu_seconds / theirs.cpu_seconds,
        "×",
        aim_at_most(0.5),
        note=f"Ours: {ours} By defaults: {theirs} Both in a Java that had just been started.",
    )


def measure_alone(spark: SparkSession, started: Start, scale: Scale) -> Cost:
    """The cost of the query's batch, in a session that ends with it."""
    try:
        return measure_cost(spark, started, scale, scale.compile_seconds)
    finally:
        end_session(spark)


def start_sized(spark: SparkSession, settings: Settings) -> StreamingQuery:
    return yardstick.start(spark, settings, settings.data_dir / "yardstick")


def start_live(spark: SparkSession, settings: Settings, name: str) -> StreamingQuery:
    """A new generation of the pipeline that is live, with batches as frequent as the yardstick's.

    It has caught up as any generation does. Python would take minutes for the log of a busy shop.
    """
    pipeline = load_with_yardstick_pace(name)
    work = Run(spark, settings, pipeline, create(settings, pipeline))
    while not (now := choose_next_pace(work)).live:
        if not start(work, now).awaitTermination(CATCH_UP_SECONDS_MAX):
            raise TimeoutError(f"{name} should catch up within {CATCH_UP_SECONDS_MAX} s")
    return start(work, create_live_pace(pipeline))
