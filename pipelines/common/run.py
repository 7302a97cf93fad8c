"""Running a generation: `python -m pipelines.common.run NAME NUMBER`, in its own code's folder."""

import logging
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from contracts import HEARTBEATS, RELEASES
from infra.errors import Trouble
from infra.logs import setup_logging
from infra.settings import Settings, settings
from pipelines.common import lease, snapshot
from pipelines.common.backlog import backlog
from pipelines.common.encode import changelog
from pipelines.common.fold import running_rows
from pipelines.common.generation import Generation, generations, invalidate, make_outputs
from pipelines.common.offsets import committed
from pipelines.common.pipeline import Pipeline, load
from pipelines.common.session import session, suit
from pipelines.common.sink import sink
from pipelines.common.source import tail
from pipelines.common.watermark import Pace, pace

log = logging.getLogger("pipeline")

LOOK_SECONDS = 1
"""How often a running query is looked at."""

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
    with lease.take(generation.folder(where)) as held:
        spark = session(where, f"{name}-g{number}")
        lease.name_engine(held, engine(spark).pid)
        try:
            run(spark, where, pipeline, generation, stopping)
        except Invalid as why:
            invalidate(where, generation, str(why))
            log.error("generation %d of %s is invalid: %s", number, name, why)
            sys.exit(INVALID_EXIT)
        finally:
            # Whatever stops a generation, it goes on from its checkpoint: there is one way to end,
            # and kill -9 takes it every day. Asking Spark to stop would interrupt a batch, loudly.
            engine(spark).kill()


def engine(spark: SparkSession) -> "subprocess.Popen[bytes]":
    """The Java process in which Spark's driver runs."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None, "a session that this process has started has a gateway"
    process: subprocess.Popen[bytes] = gateway.proc
    return process


def run(
    spark: SparkSession,
    where: Settings,
    pipeline: Pipeline,
    generation: Generation,
    stopping: Event,
) -> None:
    """Keep the generation's rows up to date until told to stop, at the pace its backlog asks for.

    A query that catches up reads to where the log ends when it starts, and ends; then the backlog
    is looked at anew. A live one goes on for ever.

    Raises Invalid when Spark has dropped a record, and what Spark raises when a query fails.
    """
    while not stopping.is_set():
        read = committed(generation.checkpoint(where))
        left = backlog(where, [topic.name for topic in pipeline.inputs], read)
        now = pace(pipeline.reads, left, where.pipeline_records_per_batch_max)
        log.info(
            "%s: %d records over %s of world time to read",
            "live" if now.live else "catching up",
            left.records,
            left.span,
        )
        watch(start(spark, where, pipeline, generation, now), stopping)


def start(
    spark: SparkSession,
    where: Settings,
    pipeline: Pipeline,
    generation: Generation,
    now: Pace,
) -> StreamingQuery:
    suit(spark, now.live)
    beats = tail(spark, where, (HEARTBEATS,), now.records_per_batch_max)
    records = tail(spark, where, (*pipeline.reads, RELEASES), now.records_per_batch_max)
    running = running_rows(pipeline, records, beats, now.memory)
    writer = (
        changelog(pipeline, generation, running)
        .writeStream.queryName(f"{pipeline.name}-g{generation.number}")
        .outputMode("update")
        .option("checkpointLocation", str(generation.checkpoint(where)))
        .foreachBatch(sink(where, generation))
    )
    if now.live:
        return writer.trigger(processingTime="0 seconds").start()
    return writer.trigger(availableNow=True).start()


def watch(query: StreamingQuery, stopping: Event) -> None:
    """Return when the query has read all it was to read, or is to stop.

    Raises Invalid when Spark has dropped a record, and what the query failed with.
    """
    ended = False
    while not ended and not stopping.is_set():
        ended = bool(query.awaitTermination(LOOK_SECONDS))
        refuse_drops(query)


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
