"""How fast inventory is replayed, beside Spark's bare read, and beside Kafka Streams."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from pyspark.sql import SparkSession

from contracts import RECEIPTS
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from ops.bench import history
from ops.bench.broker import run_broker
from ops.bench.figures import Figure, Yardstick, aim_at_least
from ops.bench.generations import create
from ops.bench.kafka_streams import THREADS, Guarantee, run_kafka_streams
from ops.bench.scale import Scale
from ops.generations.folders import locate_checkpoint, locate_folder
from ops.generations.record import Generation
from pipelines.common.pipeline import load
from pipelines.engine.backlog import measure_backlog
from pipelines.engine.pace import create_catching_up_pace
from pipelines.engine.query import Run, start
from pipelines.engine.session import get_engine, start_session
from pipelines.engine.source import build_source_options

REPLAY_SECONDS_MAX = 300
STREAMS_PERCENT_MIN = 300
LEFT_OUT = (
    f"The yardstick: the same log's receipts in Kafka Streams, warm, {THREADS} threads; each once, "
    "summed by shelf, in RocksDB and its changelogs. It leaves out validation, the three other "
    "topics, releases, record accounting, and a view beside its state."
)


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    past = history.select_history_folder(settings)
    with run_broker(past), open_replays(past) as again, run_kafka_streams(past) as streams:
        history.fill(past, scale.history_days)
        again.replay()  # discarded: Java has compiled nothing yet
        for guarantee in Guarantee:
            streams.replay(guarantee)
        passes = [
            (again.read_bare(), again.replay(), *map(streams.replay, Guarantee))
            for _ in range(scale.replays)
        ]
        records, receipts = again.count_records(), again.count_receipts()
    bare, replayed, *others = map(median, zip(*passes, strict=True))
    yield Figure(
        "inventory replay",
        records / replayed,
        "records/s",
        aim_at_least(100_000, stretch=150_000),
        Yardstick("Spark's bare read", records / bare, aim_at_least(25, stretch=40)),
        f"Warm, median of {scale.replays}; {records:,} records, {receipts:,} of them receipts. "
        "Read, validated, deduplicated, summed, written, marked. The bare read: same topics, "
        "session and consumer options, and nothing done with it.",
    )
    for guarantee, seconds in zip(Guarantee, others, strict=True):
        yield relate_to_streams(guarantee, records / replayed, receipts / seconds)


def relate_to_streams(guarantee: Guarantee, replayed: float, streamed: float) -> Figure:
    """The inventory's rate beside that of Kafka Streams, in records and receipts a second."""
    exactly_once = guarantee is Guarantee.EXACTLY_ONCE
    return Figure(
        "replay against Kafka Streams",
        replayed,
        "records/s",
        yardstick=Yardstick(
            guarantee.label,
            streamed,
            aim_at_least(STREAMS_PERCENT_MIN) if exactly_once else None,
        ),
        note=LEFT_OUT if exactly_once else "",
    )


class Replays:
    """Replays of the whole log in one Spark session, each by its own generation."""

    def __init__(self, settings: Settings, spark: SparkSession) -> None:
        self._settings = settings
        self._spark = spark
        self._admin = create_admin(settings)
        self._pipeline = load("inventory")
        self._topics = [topic.name for topic in self._pipeline.inputs]

    def count_records(self) -> int:
        """Records to read, in all topics together."""
        return sum(read_end_offsets(self._admin, self._topics).values())

    def count_receipts(self) -> int:
        return sum(read_end_offsets(self._admin, [RECEIPTS.name]).values())

    def read_bare(self) -> float:
        """Seconds in which Spark reads all topics, one row after the other, and forgets them."""
        began = time.monotonic()
        (
            self._spark.read.format("kafka")
            .options(**build_source_options(self._settings))
            .option("subscribe", ",".join(self._topics))
            .load()
            .write.format("noop")
            .mode("overwrite")
            .save()
        )
        return time.monotonic() - began

    def replay(self) -> float:
        """Seconds in which a new generation reads all topics and writes its view."""
        with self.generation() as generation:
            return self.run(generation)

    @contextmanager
    def generation(self) -> Iterator[Generation]:
        """A generation that has read nothing yet; its folder is removed when the block ends."""
        generation = create(self._settings, self._pipeline)
        try:
            yield generation
        finally:
            shutil.rmtree(locate_folder(self._settings, generation))

    def run(self, generation: Generation) -> float:
        """As `replay`, by this generation."""
        records_max = self._settings.pipeline_records_per_batch_max
        left = measure_backlog(self._settings, self._topics, {})
        now = create_catching_up_pace(self._pipeline.reads, left, records_max)
        began = time.monotonic()
        query = start(Run(self._spark, self._settings, self._pipeline, generation), now)
        if not query.awaitTermination(REPLAY_SECONDS_MAX):
            raise TimeoutError(f"The replay should end within {REPLAY_SECONDS_MAX} s")
        seconds = time.monotonic() - began
        read = sum(locate_checkpoint(self._settings, generation).read_committed().values())
        if read != self.count_records():
            raise ValueError(
                f"The replay should read {self.count_records():,} records, read {read:,}"
            )
        return seconds


@contextmanager
def open_replays(settings: Settings) -> Iterator[Replays]:
    """A Spark session, as the pipelines have it, until the block ends."""
    spark = start_session(settings, "bench")
    try:
        yield Replays(settings, spark)
    finally:
        get_engine(spark).kill()  # as a generation ends
