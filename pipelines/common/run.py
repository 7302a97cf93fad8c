"""Running generations: `python -m pipelines.common.run NAME/NUMBER …`, in their code's folder.

All of them share one Spark; each has a thread, a query and a checkpoint of its own. It ends when
none of them is to run any more, and at once when nobody holds the other end of its input.
"""

import logging
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TextIO

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from contracts import Contract
from infra.errors import Trouble
from infra.logs import setup_logging
from infra.settings import Settings, settings
from pipelines.common import archive, lease, sides, snapshot
from pipelines.common.backlog import Backlog, backlog
from pipelines.common.control import Control
from pipelines.common.encode import changelog
from pipelines.common.ending import end
from pipelines.common.fold import running_rows
from pipelines.common.generation import Generation, generations, invalidate, make_outputs
from pipelines.common.newer import read_by, refuse_newer, refusing_newer
from pipelines.common.parent import end_with_parent
from pipelines.common.pipeline import Pipeline, load
from pipelines.common.promotion import caught_up
from pipelines.common.rounds import Head, before, forget, ready
from pipelines.common.session import session, suit
from pipelines.common.sink import Write, sink
from pipelines.common.source import tail
from pipelines.common.turns import Turn, rest_seconds
from pipelines.common.watermark import Pace, catching_up, pace, spans

log = logging.getLogger("pipeline")

REST_SECONDS_MAX = 5.0
"""A batch that took unusually long is no reason to be unusually old."""

LOOK_SECONDS = 1
"""How often a running query is looked at."""


class Invalid(Trouble):
    """The generation has lost something, and can no longer be exact."""


class Outgrown(Exception):
    """While the query started, the log has grown by more than its memory spans."""


class Unwanted(Trouble):
    """Kafka knows of no such generation."""

    def __init__(self, argument: str) -> None:
        super().__init__(f"The control topic should know of {argument}, but does not.")


@dataclass(frozen=True)
class Running:
    """A generation, and the pipeline whose run it is."""

    pipeline: Pipeline
    generation: Generation


def main() -> None:
    setup_logging("pipelines")
    logging.getLogger("py4j").setLevel(logging.WARNING)  # it tells of every batch
    where, stopping = settings(), Event()
    end_with_parent()
    running = [named(where, argument) for argument in sys.argv[1:]]
    for what in (signal.SIGTERM, signal.SIGINT):
        signal.signal(what, lambda *_: stopping.set())
    with ExitStack() as leases:
        held = [leases.enter_context(lease.take(one.generation.folder(where))) for one in running]
        for one in running:
            make_outputs(where, one.pipeline, one.generation)
        first = running[0]
        spark = session(where, f"{first.pipeline.name}-g{first.generation.number}")
        for file in held:
            lease.name_engine(file, engine(spark).pid)
        try:
            run_all(spark, where, dict(zip(held, running, strict=True)), stopping)
        finally:
            # Whatever stops a generation, it goes on from its checkpoint: there is one way to end,
            # and kill -9 takes it every day. Asking Spark to stop would interrupt a batch, loudly.
            engine(spark).kill()


def named(where: Settings, argument: str) -> Running:
    """The generation that an argument names; raises ChangedCode."""
    name, number = argument.split("/")
    generation = generations(where, name).of(int(number))
    if generation is None:
        raise Unwanted(argument)
    if snapshot.code_digest(Path.cwd(), name) != generation.code_digest:
        raise snapshot.ChangedCode(name, generation.number)
    return Running(load(name), generation)


class Keeper(Thread):
    """Keeps one generation running, until it is told to stop or ends by itself."""

    def __init__(
        self,
        spark: SparkSession,
        where: Settings,
        running: Running,
        held: TextIO,
        ended: "SimpleQueue[Exception | None]",
    ) -> None:
        super().__init__(name=running.pipeline.name, daemon=True)
        self.stopping = Event()
        self.turn = Turn()
        self.generation = running.generation
        self._pipeline = running.pipeline
        self._spark = spark.newSession()
        self._where = where
        self._held = held
        self._ended = ended
        """What it failed with; None: it is not to run any more, or cannot."""

    def run(self) -> None:
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", self._pipeline.name)
        try:
            run(
                self._spark,
                self._where,
                self._pipeline,
                self.generation,
                self.stopping,
                self.turn,
            )
            for query in self._spark.streams.active:
                end(self._spark, query)
            self._held.close()  # whoever removes the generation waits for its lease
            self._ended.put(None)
        except Invalid as why:
            name, number = self._pipeline.name, self.generation.number
            invalidate(self._where, self.generation, str(why))
            log.error("generation %d of %s is invalid: %s", number, name, why)
            self._ended.put(None)
        except Exception as error:  # of the thread: it is raised where all are looked after
            self._ended.put(error)


def run_all(
    spark: SparkSession, where: Settings, running: Mapping[TextIO, Running], stopping: Event
) -> None:
    """Run every generation, by its lease, until told to stop or until none is to run any more.

    Raises what a query fails with: all generations go on from their checkpoints, in a new process.
    """
    ended: SimpleQueue[Exception | None] = SimpleQueue()
    control = Control(where)
    keepers = [Keeper(spark, where, one, held, ended) for held, one in running.items()]
    for keeper in keepers:
        tell(where, keeper, control)
        keeper.start()
    left = len(keepers)
    while left and not stopping.is_set():
        for keeper in keepers:
            tell(where, keeper, control)
        try:
            error = ended.get(timeout=LOOK_SECONDS)
        except Empty:
            continue
        if error is not None:
            raise error
        left -= 1


def tell(where: Settings, keeper: Keeper, control: Control) -> None:
    """Let the keeper know what the control topic says of its generation."""
    if control.state(keeper.generation) is None:
        keeper.stopping.set()
        keeper.turn.tell(0.0)  # it ends the sooner
    else:
        beside = control.beside(keeper.generation)
        keeper.turn.tell(rest_seconds(where, beside, keeper.generation))


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
    turn: Turn | None = None,
) -> None:
    """Keep the generation's rows up to date until told to stop, at the pace its backlog asks for.

    After each batch it waits for its turn; with None, it always has it.

    A query that catches up reads to where the log ends when it starts, and ends; then the backlog
    is looked at anew; so it is when the log has outgrown the look by the first batch. A live one
    goes on for ever; with its first batch a candidate has caught up.
    What a generation reads from the archive it has read to the end before it looks into the log.

    Raises Invalid when Spark has dropped a record, NewerSchema when it may be given what only newer
    code can read, and what Spark raises when a query fails.
    """
    head = Head.of(generation.folder(where))
    if head is not None:
        ready(spark, where, head, where.pipeline_records_per_batch_max)
    while not stopping.is_set():
        now = pace_of(where, pipeline, generation, head)
        if head is not None and not now.in_archive:
            forget(head)
        query = start(spark, where, pipeline, generation, now, turn, head)
        try:
            watch(query, stopping, partial(caught_up, where, generation) if now.live else nothing)
        except StreamingQueryException as failed:
            refuse_newer(pipeline.name, read_by(pipeline))
            if Outgrown.__name__ not in str(failed):
                raise
            log.info("%s: the log has grown meanwhile", pipeline.name)


def pace_of(where: Settings, pipeline: Pipeline, generation: Generation, head: Head | None) -> Pace:
    """How the generation is to read on: what it has not read yet of its head, then the log."""
    checkpoint, limit = generation.checkpoint(where), where.pipeline_records_per_batch_max
    if head is not None and head.unread(checkpoint):
        left = head.backlog(checkpoint)
        now = replace(catching_up(pipeline.reads, left, limit), in_archive=True)
    else:
        left = unread(where, pipeline, generation)
        now = pace(pipeline.reads, left, limit, batch_is_open=checkpoint.open_batch() >= 0)
    log.info(
        "%s %s: %d records over %s of world time to read",
        pipeline.name,
        "live" if now.live else "catching up in the archive" if now.in_archive else "catching up",
        left.records,
        left.span,
    )
    return now


def unread(where: Settings, pipeline: Pipeline, generation: Generation) -> Backlog:
    """What of the log the generation has still to read."""
    names = [topic.name for topic in pipeline.inputs]
    return backlog(where, names, generation.checkpoint(where).committed())


def reading(
    spark: SparkSession,
    where: Settings,
    topics: Sequence[Contract],
    now: Pace,
    head: Head | None,
) -> DataFrame:
    """The topics' records, from the first one on or from where the checkpoint stands."""
    if now.in_archive and head is not None:
        return before(spark, head, topics, None)
    starts = archive.ZERO if head is None else head.ends
    log = tail(spark, where, topics, now.records_per_batch_max, starts)
    return log if head is None else before(spark, head, topics, log)


def start(
    spark: SparkSession,
    where: Settings,
    pipeline: Pipeline,
    generation: Generation,
    now: Pace,
    turn: Turn | None = None,
    head: Head | None = None,
) -> StreamingQuery:
    suit(spark, now.live)
    records = reading(spark, where, pipeline.inputs, now, head)
    facts = {} if now.live else {side: sides.live(spark, where, side) for side in pipeline.sides}
    running = running_rows(pipeline, records, now, facts, where if now.live else None)
    write = sink(where, generation)
    if not now.live and not now.in_archive:
        write = within(now, where, pipeline, generation, write)
    if turn is not None:
        write = in_turn(write, turn, now.live, pipeline.duty_cycle)
    writer = (
        changelog(pipeline, generation, running)
        .writeStream.queryName(f"{pipeline.name}-g{generation.number}")
        .outputMode("update")
        .option("checkpointLocation", str(generation.checkpoint(where).folder))
        .foreachBatch(refusing_newer(pipeline, write))
    )
    if now.live:
        return writer.trigger(processingTime=f"{batch_seconds(where, pipeline):g} seconds").start()
    return writer.trigger(availableNow=True).start()


def batch_seconds(where: Settings, pipeline: Pipeline) -> float:
    """From the start of a live batch to that of the next, at the least."""
    return max(pipeline.every.total_seconds(), where.pipeline_seconds_per_batch_min)


def within(
    now: Pace, where: Settings, pipeline: Pipeline, generation: Generation, write: Write
) -> Write:
    """The same, when the memory spans all that the query reads; raises Outgrown.

    How far it reads is settled between the look at the backlog and the first batch, and by the
    watermark that this batch leaves nothing has been forgotten yet.
    """
    settled = False

    def write_within(records: DataFrame, batch: int) -> None:
        nonlocal settled
        if not settled and not spans(now, pipeline.reads, unread(where, pipeline, generation)):
            raise Outgrown
        settled = True
        write(records, batch)

    return write_within


def in_turn(write: Write, turn: Turn, live: bool, duty_cycle: float = 1.0) -> Write:
    """The same, and then a wait for the next turn; a candidate has caught up with the first."""
    begun = False

    def write_and_wait(records: DataFrame, batch: int) -> None:
        nonlocal begun
        started = time.monotonic()
        write(records, batch)
        busy_seconds = time.monotonic() - started
        turn.wait(may_rest=live and begun, seconds=rest_after(busy_seconds, duty_cycle))
        begun = True

    return write_and_wait


def rest_after(busy_seconds: float, duty_cycle: float) -> float:
    """How long to rest after a batch, so that batches take that share of the time."""
    return min(busy_seconds * (1 / duty_cycle - 1), REST_SECONDS_MAX)


def nothing() -> None: ...


def watch(query: StreamingQuery, stopping: Event, begun: Callable[[], None]) -> None:
    """Return when the query has read all it was to read, or is to stop.

    Tells once when its first batch is finished. Raises Invalid when Spark has dropped a record,
    and what the query failed with.
    """
    ended = told = False
    looked_at = ""
    while not ended and not stopping.is_set():
        ended = bool(query.awaitTermination(LOOK_SECONDS))
        looked_at = refuse_drops(query, looked_at)
        if not told and looked_at:
            told = True
            begun()


def refuse_drops(query: StreamingQuery, since: str = "") -> str:
    """Raise Invalid when a batch has dropped a record that began then or later, as Spark tells.

    Returns when the last one began; empty before the first. What Spark remembers of a hundred
    batches is left in Java: to have all of it each second would cost as much as a batch.
    """
    newest, recent = since, query._jsq.recentProgress()
    for number in reversed(range(len(recent))):
        progress = recent[number]
        began = str(progress.timestamp())
        if began < since:
            break
        newest = max(newest, began)
        dropped = sum(state.numRowsDroppedByWatermark() for state in progress.stateOperators())
        if dropped:
            raise Invalid(f"Spark dropped {dropped} records behind the watermark")
    return newest


if __name__ == "__main__":
    try:
        main()
    except Trouble as trouble:
        sys.exit(str(trouble))
