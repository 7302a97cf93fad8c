"""Whether a query's pace still suits the backlog, asked before a batch is written.

A batch that is not written is open: the next query begins with it, at a pace that suits.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta
from time import monotonic

from pyspark.sql import DataFrame

from contracts import Contract
from infra.wait import wait_for
from pipelines.engine.backlog import Backlog
from pipelines.engine.pace import Pace, has_memory_for
from pipelines.engine.sink import Write

LOOK_SECONDS = 0.5
WAIT_SECONDS = 60.0
"""The time between two sentences in the log while a batch waits for a transaction."""

LIVE_SECONDS_MAX = 30.0
"""The longest live batch after which a look at the backlog is not worth its time."""

BEHIND_RECORDS_MIN = 5_000
"""A live query that has fewer unread records after a long batch was held up, and reads on."""

log = logging.getLogger("pipeline")

Measure = Callable[[], Backlog]
"""Measures the part of the log that the generation has not read."""


class Outgrown(Exception):
    """The log has outgrown the query's memory during its start."""


class FallenBehind(Exception):
    """More comes than live batches can take: the cost of each record is higher in them."""


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
            raise Outgrown
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


def refuse_behind(write: Write, measure_unread: Measure) -> Write:
    """A function that writes. It raises FallenBehind after a long batch if much is unread."""
    took_seconds = 0.0

    def write_unless_behind(records: DataFrame, batch: int) -> None:
        nonlocal took_seconds
        if took_seconds > LIVE_SECONDS_MAX and measure_unread().records >= BEHIND_RECORDS_MIN:
            raise FallenBehind
        began = monotonic()
        write(records, batch)
        took_seconds = monotonic() - began

    return write_unless_behind
