"""Whether a query's pace still suits the backlog, asked before a batch is written.

A batch that is not written is open: the next query begins with it, at a pace that suits.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta

from pyspark.sql import DataFrame

from contracts import Contract
from infra.wait import wait_for
from pipelines.engine.backlog import Backlog
from pipelines.engine.pace import Pace, has_memory_for
from pipelines.engine.sink import Write

LOOK_SECONDS = 0.5
WAIT_SECONDS = 60.0
"""The time between two sentences in the log while a batch waits for a transaction."""

log = logging.getLogger("pipeline")

Measure = Callable[[], Backlog]
"""Measures the part of the log that the generation has not read."""


class Outgrown(Exception):
    """The log has outgrown the query: its memory during its start, or a live batch."""


class Failure:
    """What ended a query in the function that writes its batches. Spark keeps the text alone."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def keep(self, write: Write) -> Write:
        """A function that writes, and keeps what is raised."""

        def write_or_keep(records: DataFrame, batch: int) -> None:
            try:
                write(records, batch)
            except Exception as error:
                self.error = error
                raise

        return write_or_keep


def refuse_outgrown(
    write: Write, pace: Pace, reads: Iterable[Contract], measure_unread: Measure
) -> Write:
    """A function that writes if the memory spans the whole backlog; else it raises Outgrown.

    Spark fixes the end of the read after the measurement of the backlog and before the first batch.
    At the watermark of this batch the query has not forgotten any id.
    """
    settled = False

    def write_within(records: DataFrame, batch: int) -> None:
        nonlocal settled
        if not settled and not has_memory_for(pace, reads, measure_unread()):
            raise Outgrown("the log has grown meanwhile")
        settled = True
        write(records, batch)

    return write_within


def wait_for_transactions(
    write: Write, measure_held: Callable[[], timedelta], held_max: timedelta
) -> Write:
    """A function that writes once open transactions hold back no records that are too old.

    The watermark of the batch would pass them. Kafka ends each transaction after its timeout.
    """

    def is_young() -> bool:
        return measure_held() <= held_max

    def write_after(records: DataFrame, batch: int) -> None:
        if not is_young():
            log.info("batch %d waits for an open transaction in its input", batch)
            while not wait_for(is_young, WAIT_SECONDS, LOOK_SECONDS):
                log.info("batch %d still waits for an open transaction in its input", batch)
        write(records, batch)

    return write_after


def refuse_larger(
    write: Write, count_records: Callable[[int], int], measure_unread: Measure, records_max: int
) -> Write:
    """A function that writes a live batch; it raises Outgrown for one of more records than these.

    A live batch takes all there is. Who gets more, batch after batch, than it can take goes on in
    batches of that size: a query has its limit for good, and so the memory that spans what is
    unread between its batches.
    """

    def write_within(records: DataFrame, batch: int) -> None:
        # A topic may begin beyond zero: the offsets of its first batch are more than its records.
        if count_records(batch) > records_max:
            unread = measure_unread().records
            if unread > records_max:
                raise Outgrown(f"{unread:,} records are unread, a batch has up to {records_max:,}")
        write(records, batch)

    return write_within
