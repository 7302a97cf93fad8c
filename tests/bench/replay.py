"""How fast inventory is replayed, beside Spark's bare read of the same topics."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from statistics import median

from pyspark.sql import SparkSession

from contracts import RECEIPTS
from infra.kafka import admin, end_offsets
from infra.settings import Settings
from pipelines.common.backlog import backlog
from pipelines.common.clock import wall_now
from pipelines.common.generation import Generation, State, make_outputs, new
from pipelines.common.pipeline import load
from pipelines.common.run import engine, refuse_drops, start
from pipelines.common.session import session
from pipelines.common.source import FETCH, kafka_options
from pipelines.common.watermark import catching_up
from tests.bench import history
from tests.bench.broker import broker
from tests.bench.figures import Figure, Yardstick, at_least
from tests.bench.scale import Scale

REPLAY_SECONDS_MAX = 300
FIRST_NUMBER = 1_001
"""Of the generations that replay; a shop that lives on the same log has number 1."""


def measure(where: Settings, scale: Scale) -> Iterator[Figure]:
    past = history.folder(where)
    with broker(past), replays(past) as again:
        history.fill(past, scale.history_days)
        again.replay()  # thrown away: Java has compiled nothing yet
        passes = [(again.bare_read(), again.replay()) for _ in range(scale.replays)]
        records, receipts = again.records(), again.receipts()
    bare, replayed = (records / median(seconds) for seconds in zip(*passes, strict=True))
    yield Figure(
        "inventory replay",
        replayed,
        "records/s",
        at_least(100_000, stretch=150_000),
        Yardstick("Spark's bare read", bare, at_least(25, stretch=40)),
        f"Warm, median of {scale.replays}; {records:,} records, {receipts:,} of them receipts. "
        "Read, judged, deduplicated, summed, written, marked. The bare read: same topics, "
        "session and consumer options, and nothing done with it.",
    )


class Replays:
    """Replays of all that the log holds, in one Spark session, each by a generation of its own."""

    def __init__(self, where: Settings, spark: SparkSession) -> None:
        self._where = where
        self._spark = spark
        self._admin = admin(where)
        self._pipeline = load("inventory")
        self._topics = [topic.name for topic in self._pipeline.inputs]
        self._numbers = count(FIRST_NUMBER)

    def records(self) -> int:
        """How many there are to read, in all topics together."""
        return sum(end_offsets(self._admin, self._topics).values())

    def receipts(self) -> int:
        return sum(end_offsets(self._admin, [RECEIPTS.name]).values())

    def bare_read(self) -> float:
        """Seconds in which Spark reads all topics, one row after the other, and forgets them."""
        began = time.monotonic()
        (
            self._spark.read.format("kafka")
            .options(**kafka_options(self._where), **FETCH)
            .option("subscribe", ",".join(self._topics))
            .load()
            .write.format("noop")
            .mode("overwrite")
            .save()
        )
        return time.monotonic() - began

    def replay(self) -> float:
        """Seconds in which a new generation reads all topics and writes its view."""
        generation = self._generation()
        make_outputs(self._where, self._pipeline, generation)
        records_max = self._where.pipeline_records_per_batch_max
        left = backlog(self._where, self._topics, {})
        now = catching_up(self._pipeline.reads, left, records_max)
        began = time.monotonic()
        query = start(self._spark, self._where, self._pipeline, generation, now)
        if not query.awaitTermination(REPLAY_SECONDS_MAX):
            raise TimeoutError(f"The replay should end within {REPLAY_SECONDS_MAX} s")
        seconds = time.monotonic() - began
        refuse_drops(query)
        read = sum(generation.checkpoint(self._where).committed().values())
        if read != self.records():
            raise ValueError(f"The replay should read {self.records():,} records, read {read:,}")
        shutil.rmtree(generation.folder(self._where))
        return seconds

    def _generation(self) -> Generation:
        number = next(self._numbers)
        return new(self._pipeline, "0" * 64, wall_now(), number, State.CATCHING_UP)


@contextmanager
def replays(where: Settings) -> Iterator[Replays]:
    """A Spark session, as the pipelines have it, until the block ends."""
    spark = session(where, "bench")
    try:
        yield Replays(where, spark)
    finally:
        engine(spark).kill()  # as a generation ends
