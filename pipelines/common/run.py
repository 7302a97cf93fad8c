"""Running a generation: `python -m pipelines.common.run NAME NUMBER`, in its own code's folder."""

import logging
import signal
import sys
from pathlib import Path
from threading import Event

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.errors import Trouble
from infra.kafka import admin
from infra.logs import setup_logging
from infra.settings import Settings, settings
from pipelines.common import lease, snapshot
from pipelines.common.backlog import backlog, lag
from pipelines.common.encode import changelog
from pipelines.common.fold import running_rows
from pipelines.common.generation import Generation, generations, invalidate, make_outputs
from pipelines.common.offsets import committed
from pipelines.common.pipeline import Pipeline, load
from pipelines.common.session import session
from pipelines.common.sink import sink
from pipelines.common.source import stream
from pipelines.common.watermark import RECORDS_PER_BATCH_MAX, Pace, pace

log = logging.getLogger("pipeline")

LOOK_SECONDS = 1
"""How often a running query is looked at."""

BEHIND_RECORDS_MAX = 2 * RECORDS_PER_BATCH_MAX
"""A live generation further behind than this catches up first."""

INVALID_EXIT = 78
"""The exit status that no restart can mend."""


class Invalid(Trouble):
    """The generation has lost something, and can no longer be exact."""


def main() -> None:
    name, number = sys.argv[1], int(sys.argv[2])
    setup_logging(name)
    logging.getLogger("py4j").setLevel(logging.WARNING)  # it tells of every batch
    pipeline, where = load(name), settings()
    generation = next(one for one in generations(where, name) if one.number == number)
    if snapshot.code_digest(Path.cwd(), name) != generation.code_digest:
        raise snapshot.ChangedCode(name, number)
    stopping = Event()
    for what in (signal.SIGTERM, signal.SIGINT):
        signal.signal(what, lambda *_: stopping.set())
    make_outputs(where, pipeline, generation)
    spark = session(where, f"{name} generation {number}")
    with lease.take(generation.folder(where), java_pid(spark)):
        try:
            run(spark, where, pipeline, generation, stopping)
        except Invalid as why:
            invalidate(where, generation, str(why))
            log.error("generation %d of %s is invalid: %s", number, name, why)
            sys.exit(INVALID_EXIT)
        finally:
            spark.stop()


def java_pid(spark: SparkSession) -> int:
    """The process in which Spark runs: it may outlive this one by a moment."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None, "a session on this machine has a gateway"
    return int(gateway.proc.pid)


def run(
    spark: SparkSession,
    where: Settings,
    pipeline: Pipeline,
    generation: Generation,
    stopping: Event,
) -> None:
    """Keep the generation's rows up to date until told to stop, at the pace its backlog asks for.

    A query that catches up reads to where the log ends now, and ends; then the backlog is looked
    at anew.

    Raises Invalid when Spark has dropped a record, and what Spark raises when a query fails.
    """
    while not stopping.is_set():
        read = committed(generation.checkpoint(where))
        left = backlog(where, [topic.name for topic in pipeline.reads], read)
        now = pace(pipeline.reads, left)
        log.info(
            "%s: %d records over %s of world time to read",
            "live" if now.live else "catching up",
            left.records,
            left.span,
        )
        query = start(spark, where, pipeline, generation, now)
        try:
            watch(query, where, generation, now, stopping)
            refuse_drops(query)
        finally:
            query.stop()


def start(
    spark: SparkSession,
    where: Settings,
    pipeline: Pipeline,
    generation: Generation,
    now: Pace,
) -> StreamingQuery:
    events = stream(spark, where, pipeline, RECORDS_PER_BATCH_MAX)
    records = changelog(pipeline, generation, running_rows(pipeline, events, now.memory))
    writer = (
        records.writeStream.queryName(f"{pipeline.name}-g{generation.number}")
        .outputMode("update")
        .option("checkpointLocation", str(generation.checkpoint(where)))
        .foreachBatch(sink(where, generation))
    )
    if now.live:
        return writer.trigger(processingTime="0 seconds").start()
    return writer.trigger(availableNow=True).start()


def watch(
    query: StreamingQuery, where: Settings, generation: Generation, now: Pace, stopping: Event
) -> None:
    """Return when the query has ended, has fallen too far behind to stay live, or is to stop.

    Raises what the query failed with.
    """
    client, checkpoint = admin(where), generation.checkpoint(where)
    while not stopping.is_set() and not query.awaitTermination(LOOK_SECONDS):
        refuse_drops(query)
        if now.live and lag(client, committed(checkpoint)) > BEHIND_RECORDS_MAX:
            return


def refuse_drops(query: StreamingQuery) -> None:
    for progress in query.recentProgress:
        dropped = sum(state.numRowsDroppedByWatermark for state in progress.stateOperators)
        if dropped:
            raise Invalid(f"Spark dropped {dropped} records behind the watermark")


if __name__ == "__main__":
    try:
        main()
    except Trouble as trouble:
        sys.exit(str(trouble))
