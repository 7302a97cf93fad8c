"""A generation's query: it reads at a pace that suits the backlog, and writes batches."""

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from threading import Event

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from contracts import Contract
from infra.settings import Settings
from ops.generations.folders import locate_checkpoint, locate_folder
from ops.generations.promotion import mark_caught_up
from ops.generations.record import Generation
from pipelines.common.flow import build_running_rows
from pipelines.common.pipeline import Pipeline
from pipelines.common.transform.rows import encode_changelog
from pipelines.engine import archive
from pipelines.engine.archive import ArchivePrefix, prepend, remove_chunks, write_chunks
from pipelines.engine.backlog import Backlog, HeldBack, measure_backlog
from pipelines.engine.beats import BeatLimit
from pipelines.engine.checkpoint import count_records
from pipelines.engine.dimensions import Dimensions
from pipelines.engine.ending import end_query
from pipelines.engine.fitness import (
    Failure,
    Outgrown,
    refuse_larger,
    refuse_outgrown,
    wait_for_transactions,
)
from pipelines.engine.pace import Pace, create_catching_up_pace, find_held_max, select_pace
from pipelines.engine.running_batch import RecordsRead, RunningBatch, StateSize
from pipelines.engine.session import prepare_session
from pipelines.engine.sink import (
    Dropped,
    Write,
    create_sink,
    list_decoded_topics,
    refuse_newer,
    refuse_newer_before,
    suit_plan,
    write_after,
)
from pipelines.engine.source import tail
from pipelines.engine.throttle import Throttle, throttle_write
from pipelines.engine.tuning.optimized import optimize_once
from pipelines.engine.tuning.options import Piece, choose_pieces

log = logging.getLogger("pipeline")

TASKS_MIN = 2
"""The least tasks that read a batch while catching up. A live one has one for each state partition:
another one would cost more than it saves."""

LOOK_SECONDS = 1
"""The time between two checks of a running query."""


@dataclass(frozen=True)
class Run:
    """A generation to run: its Spark session, its code, and its position."""

    spark: SparkSession
    """A session of its own."""
    settings: Settings
    pipeline: Pipeline
    generation: Generation
    throttle: Throttle | None = None
    """The throttle after each batch. None: it never waits."""
    prefix: ArchivePrefix | None = None
    """The prefix that it reads before the log. None: it reads the log only."""
    state: StateSize = field(default_factory=StateSize)
    begun: Event = field(default_factory=Event)
    """Set once a batch is written."""

    @cached_property
    def dimensions(self) -> Dimensions:
        return Dimensions(self.spark, self.settings, self.pipeline)

    def measure_unread(self, limit: BeatLimit) -> Backlog:
        """The part of the log that the generation has not read."""
        names = [topic.name for topic in self.pipeline.inputs]
        read = locate_checkpoint(self.settings, self.generation).read_committed()
        return measure_backlog(self.settings, names, read, limit)


def run(work: Run, stopping: Event) -> None:
    """Keep the generation's rows up to date until told to stop.

    A query that catches up reads to the end that the log has when it starts, and ends. Then `run`
    measures the backlog again; it also does so if the log has outgrown the query, which a live one
    can at any time. The first batch of a live query means that a candidate has caught up. The
    archive prefix is read to its end before the log.

    Raises Dropped if Spark has dropped a record, NewerSchema if a batch may hold records that only
    newer code can read, and Spark's exception if a query fails.
    """
    settings, generation = work.settings, work.generation
    prefix = ArchivePrefix.of(locate_folder(settings, generation))
    work = replace(work, prefix=prefix)
    if prefix is not None:
        write_chunks(work.spark, settings, prefix, settings.pipeline_records_per_batch_max)
    while not stopping.is_set():
        limit = BeatLimit.read(settings)
        pace = choose_next_pace(work, limit)
        if prefix is not None and not pace.in_archive:
            remove_chunks(prefix)
        failure = Failure()
        query = start(work, pace, limit, failure)
        begun = partial(mark_caught_up, settings, generation) if pace.live else lambda: None
        try:
            watch(query, stopping, begun, work.state, limit.is_outdated)
            if not stopping.is_set():
                end_query(work.spark, query)
        except StreamingQueryException:
            if isinstance(failure.error, Dropped):
                raise failure.error from None
            refuse_newer(work.pipeline.name, list_decoded_topics(work.pipeline))
            if not isinstance(failure.error, Outgrown):
                raise
            log.info("%s: %s", work.pipeline.name, failure.error)


def find_records_max(settings: Settings, pipeline: Pipeline) -> int:
    """The records that the pipeline reads at a time while it catches up."""
    return settings.pipeline_records_per_batch_max * pipeline.batch_multiple


def choose_next_pace(work: Run, limit: BeatLimit) -> Pace:
    """The pace of the next query: for the rest of the prefix, then for the log.

    `limit`: of its heartbeats.
    """
    pipeline, records_max = work.pipeline, find_records_max(work.settings, work.pipeline)
    checkpoint = locate_checkpoint(work.settings, work.generation)
    if work.prefix is not None and work.prefix.count_unread(checkpoint):
        left = work.prefix.measure_backlog(checkpoint)
        pace = replace(create_catching_up_pace(pipeline.reads, left, records_max), in_archive=True)
    else:
        left = work.measure_unread(limit)
        batch_is_open = checkpoint.find_open_batch() >= 0
        pace = select_pace(pipeline.reads, left, records_max, batch_is_open)
    log.info(
        "%s %s: %d records over %s of world time to read",
        pipeline.name,
        "live" if pace.live else "catching up in the archive" if pace.in_archive else "catching up",
        left.records,
        left.span,
    )
    return pace


def read(work: Run, topics: Sequence[Contract], pace: Pace) -> DataFrame:
    """The topics' records, from the first one or from the position of the checkpoint.

    A stream with the columns of Kafka's source, or with archive.COLUMNS if there is a prefix.
    """
    prefix = work.prefix
    if pace.in_archive and prefix is not None:
        return prepend(work.spark, prefix, topics, None)
    starts = archive.ZERO if prefix is None else prefix.ends
    tailed = tail(work.spark, work.settings, topics, pace.records_per_batch_max, starts)
    return tailed if prefix is None else prepend(work.spark, prefix, topics, tailed)


def start(
    work: Run, pace: Pace, limit: BeatLimit, failure: Failure | None = None
) -> StreamingQuery:
    """Start a query at this pace, from the generation's checkpoint.

    `limit`: of its heartbeats. `failure` will hold what ends it.
    """
    settings, pipeline, generation = work.settings, work.pipeline, work.generation
    partitions = generation.state_partitions or 1
    prepare_session(work.spark, pace.live, partitions)
    rows = build_running_rows(
        pipeline,
        read(work, pipeline.inputs, pace),
        pace.memory,
        work.dimensions.lookups,
        limit.build_column(work.spark),
        partitions if pace.live else max(partitions, TASKS_MIN),
    )
    changes = encode_changelog(pipeline, generation.number, generation.outputs, rows)
    write = (failure or Failure()).keep(create_writer(work, pace, limit))
    if not pace.live:
        return write_stream(work, changes, write).trigger(availableNow=True).start()
    seconds = compute_batch_seconds(settings, pipeline)
    pieces = choose_pieces(settings)
    once = optimize_once(changes) if Piece.OPTIMIZER in pieces else nullcontext(changes)
    with once as optimized:
        writer = write_stream(work, optimized, write)
        return writer.trigger(processingTime=f"{seconds:g} seconds").start()


def write_stream(work: Run, changes: DataFrame, write: Write) -> DataStreamWriter:
    """The query of the generation that writes these changes, not yet started."""
    generation = work.generation
    return (
        changes.writeStream.queryName(name_query(generation))
        .outputMode("update")
        .option("checkpointLocation", str(locate_checkpoint(work.settings, generation).folder))
        .foreachBatch(write)
    )


def name_query(generation: Generation) -> str:
    return f"{generation.pipeline}-g{generation.number}"


def create_writer(work: Run, pace: Pace, limit: BeatLimit) -> Write:
    """The function that writes a batch: after the checks, and before the throttle."""
    checkpoint = locate_checkpoint(work.settings, work.generation)
    # A batch's end is asked for to count it, to mark it, and to count the next one.
    read_end = lru_cache(maxsize=2)(checkpoint.read_batch_end)
    archived = archive.ZERO if work.prefix is None else work.prefix.ends
    running = RunningBatch(work.spark, name_query(work.generation))
    read = RecordsRead(work.spark, work.settings, work.generation, archived, running)
    write = create_sink(
        work.settings, work.generation, work.state, read_end, read.count, running.count_dropped
    )
    # The tasks of a batch run while it is written, and so by all versions in the log.
    write = write_after(work.dimensions.read_to_end, write)
    if not pace.in_archive:
        names = [topic.name for topic in work.pipeline.inputs]
        held = HeldBack(work.settings, names, limit)
        held_max = find_held_max(pace, work.pipeline.reads)
        write = wait_for_transactions(write, held.measure, held_max)
    measure_unread = partial(work.measure_unread, limit)
    if pace.live:
        count = partial(count_records, read_end)
        write = suit_plan(write, count)
        records_max = find_records_max(work.settings, work.pipeline)
        write = refuse_larger(write, count, measure_unread, records_max)
    elif not pace.in_archive:
        write = refuse_outgrown(write, pace, work.pipeline.reads, measure_unread)
    if work.throttle is not None:
        write = throttle_write(write, work.throttle, pace.live, work.pipeline.duty_cycle)
    return refuse_newer_before(work.pipeline, tell_begun(write, work.begun))


def tell_begun(write: Write, begun: Event) -> Write:
    """`write`, which sets the event after each batch."""

    def write_and_tell(rows: DataFrame, batch: int) -> None:
        write(rows, batch)
        begun.set()

    return write_and_tell


def compute_batch_seconds(settings: Settings, pipeline: Pipeline) -> float:
    """The least time between the starts of two live batches."""
    return max(pipeline.every.total_seconds(), settings.pipeline_seconds_per_batch_min)


def watch(
    query: StreamingQuery,
    stopping: Event,
    begun: Callable[[], None],
    state: StateSize,
    is_outdated: Callable[[], bool],
) -> None:
    """Return when the query has read everything up to its end, is outdated, or has to stop.

    Calls `begun` once, after the query's first batch, and measures the state after batches. It asks
    whether the query is outdated after a batch only: one that would end a long batch each time
    would never let it pass. Raises the exception of a failed query.
    """
    ended, looked_at = False, ""
    while not ended and not stopping.is_set():
        ended = bool(query.awaitTermination(LOOK_SECONDS))
        newest = query._jsq.lastProgress()
        before, looked_at = looked_at, "" if newest is None else str(newest.timestamp())
        if looked_at == before:
            continue
        state.measure(query)
        if not before:
            begun()
        if is_outdated():
            return
