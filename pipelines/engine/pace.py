"""The pace of a generation: live or catching up, and how long it remembers event ids.

The watermark only frees memory; it decides nothing.

A live batch reads every partition to its end, so that all partitions then are within MARGIN of each
other. Between the batches of a backlog they may be as far apart as the backlog is long, so the
memory has to span it. After that the same checkpoint continues with the shorter memory.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from contracts import Contract
from pipelines.engine.backlog import Backlog

MARGIN = timedelta(hours=1)
"""The world time by which partitions may differ in a live generation."""


LIVE_RECORDS_MAX = 100_000
"""A generation catches up with a longer backlog. For a shorter one, a young Java takes longer to
compile generated code than to interpret a live batch."""


@dataclass(frozen=True)
class Pace:
    """The way in which a generation reads: live, or catching up."""

    live: bool
    memory: timedelta
    records_per_batch_max: int | None
    """The records per batch, of all topics together. A live batch takes all records."""
    in_archive: bool = False
    """Whether it reads the archive prefix."""


def select_pace(
    reads: Iterable[Contract],
    backlog: Backlog,
    records_per_batch_max: int,
    batch_is_open: bool = False,
) -> Pace:
    """The pace for a backlog, with so many records per batch while it is long.

    A live batch reads a backlog that fits in it, however long its world time is: when the batch
    sets the watermark, no partition has unread records. An unfinished batch is an exception: Spark
    repeats it first, up to its old end, which may be anywhere.
    """
    fits = backlog.records <= min(records_per_batch_max, LIVE_RECORDS_MAX)
    if not fits or (batch_is_open and backlog.span > MARGIN):
        return create_catching_up_pace(reads, backlog, records_per_batch_max)
    return Pace(live=True, memory=find_horizon(reads) + MARGIN, records_per_batch_max=None)


def create_catching_up_pace(
    reads: Iterable[Contract], backlog: Backlog, records_per_batch_max: int
) -> Pace:
    """The pace for a backlog, however short."""
    # Twice, because the log grows while the backlog is read, and the world may be fast.
    memory = 2 * backlog.span + find_horizon(reads) + MARGIN
    return Pace(live=False, memory=memory, records_per_batch_max=records_per_batch_max)


def has_memory_for(pace: Pace, reads: Iterable[Contract], backlog: Backlog) -> bool:
    """Whether the pace remembers ids for the whole backlog."""
    return backlog.span + find_horizon(reads) + MARGIN <= pace.memory


def find_held_max(pace: Pace, reads: Iterable[Contract]) -> timedelta:
    """How much older than the newest record the records may be that open transactions hold back.

    What is held back for longer would come behind the watermark. Half the margin is left for what
    the log grows by during a batch.
    """
    return pace.memory - find_horizon(reads) - MARGIN / 2


def find_horizon(reads: Iterable[Contract]) -> timedelta:
    return max(topic.horizon or timedelta() for topic in reads)
