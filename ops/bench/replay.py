"""How fast inventory is replayed, beside Spark's bare read, and beside Kafka Streams."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from statistics import median

from pyspark.sql import SparkSession

from infra.kafka import create_admin, read_end_offsets
from infra.processes import build_environment
from infra.settings import Settings
from ops.bench.figures import Figure, Yardstick, aim_at_least
from ops.bench.kafka_streams import THREADS, run_kafka_streams
from ops.bench.shops import count_receipts, run_broker, run_for_output
from ops.generations.folders import locate_checkpoint
from ops.generations.lifecycle import create_generation, make_outputs
from ops.generations.partitions import find_state_partitions
from ops.generations.record import Generation, State
from pipelines.common.pipeline import Pipeline, load
from pipelines.engine.backlog import measure_backlog
from pipelines.engine.beats import BeatLimit
from pipelines.engine.pace import create_catching_up_pace
from pipelines.engine.query import Run, find_records_max, start
from pipelines.engine.session import get_engine, start_session
from pipelines.engine.source import build_source_options

HISTORY_DAYS = 10
"""World days that are replayed, at the default rate: 170,000 receipts each."""
REPLAYS = 3
"""How often the log is replayed; the median counts."""
REPLAY_SECONDS_MAX = 300
NUMBERS = count(1_001)
"""Of generations that the control topic does not know. A shop on the same log has number 1."""


def measure(settings: Settings, share: float) -> Iterator[Figure]:
    changed = {"data_dir": settings.data_dir / "replay", "simulator_refill": "vans"}
    own = settings.model_copy(update=changed)
    with run_broker(own), open_replays(own) as again, run_kafka_streams(own) as streams:
        publish_history(own, round(share * HISTORY_DAYS))
        again.replay()  # discarded, as that of Streams: Java has compiled nothing yet
        streams.replay()
        passes = [
            (again.read_bare(), again.replay()[0], streams.replay()[0]) for _ in range(REPLAYS)
        ]
        records, receipts = again.count_records(), count_receipts(own)
    bare, replayed, streamed = map(median, zip(*passes, strict=True))
    yield Figure(
        "inventory replay",
        records / replayed,
        "records/s",
        aim_at_least(100_000),
        Yardstick("Spark's bare read", records / bare, aim_at_least(25)),
        f"Warm, median of {REPLAYS}; {records:,} records, {receipts:,} of them receipts. "
        "Read, validated, deduplicated, summed, written, marked. The bare read: same topics, "
        "session and consumer options, and nothing done with it.",
    )
    yield Figure(
        "replay against Kafka Streams",
        records / replayed,
        "records/s",
        yardstick=Yardstick("Streams, exactly once", receipts / streamed, aim_at_least(300)),
        note=f"The yardstick: the same log's receipts in Kafka Streams, warm, {THREADS} threads; "
        "each once, summed by shelf, in RocksDB and its changelogs. It leaves out validation, the "
        "three other topics, releases, record accounting, and a view beside its state.",
    )


def publish_history(settings: Settings, days: int) -> None:
    """Publish the world's first days. The broker has to run."""
    command = ["-m", "generators.simulator", "--backfill-days", str(days), "--stop-after-backfill"]
    run_for_output([sys.executable, *command], build_environment(settings))


class Replays:
    """Replays of the whole log in one Spark session, each by its own generation."""

    def __init__(self, settings: Settings, spark: SparkSession) -> None:
        self._settings = settings
        self._spark = spark
        self._pipeline = load("inventory")
        self._topics = [topic.name for topic in self._pipeline.inputs]

    def count_records(self) -> int:
        """Records to read, in all topics together."""
        return sum(read_end_offsets(create_admin(self._settings), self._topics).values())

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

    def replay(self) -> tuple[float, Generation]:
        """Seconds in which a new generation reads all topics and writes its view."""
        generation = create(self._settings, self._pipeline)
        records_max = find_records_max(self._settings, self._pipeline)
        limit = BeatLimit.read(self._settings)
        left = measure_backlog(self._settings, self._topics, {}, limit)
        pace = create_catching_up_pace(self._pipeline.reads, left, records_max)
        began = time.monotonic()
        query = start(Run(self._spark, self._settings, self._pipeline, generation), pace, limit)
        if not query.awaitTermination(REPLAY_SECONDS_MAX):
            raise TimeoutError(f"The replay should end within {REPLAY_SECONDS_MAX} s")
        seconds = time.monotonic() - began
        read = sum(locate_checkpoint(self._settings, generation).read_committed().values())
        if read != self.count_records():
            raise ValueError(
                f"The replay should read {self.count_records():,} records, read {read:,}"
            )
        return seconds, generation


@contextmanager
def open_replays(settings: Settings) -> Iterator[Replays]:
    """A Spark session, as the pipelines have it, until the block ends."""
    spark = start_session(settings, "bench")
    try:
        yield Replays(settings, spark)
    finally:
        get_engine(spark).kill()  # as a generation ends


def create(settings: Settings, pipeline: Pipeline) -> Generation:
    """A generation that has read nothing yet, with its topics."""
    partitions = find_state_partitions(settings, pipeline, is_growing=False)
    generation = create_generation(
        pipeline, next(NUMBERS), State.CATCHING_UP, "0" * 64, state_partitions=partitions
    )
    make_outputs(settings, pipeline, generation)
    return generation
