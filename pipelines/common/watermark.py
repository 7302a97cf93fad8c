"""How long a generation remembers event ids: the watermark only frees memory, it decides nothing.

Spark reads partitions at different paces. Live, they stay within MARGIN of each other. While a
backlog is read they may be as far apart as the backlog is long, so the memory has to span it;
then the same checkpoint goes on with the shorter one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from contracts import Contract
from pipelines.common.backlog import Backlog

MARGIN = timedelta(hours=1)
"""World time by which partitions may be apart while a generation is live."""

RECORDS_PER_BATCH_MAX = 400_000


@dataclass(frozen=True)
class Pace:
    """How a generation reads: live, or catching up."""

    live: bool
    memory: timedelta

    @property
    def records_per_batch_max(self) -> int | None:
        """Of all topics together. A live batch takes all there is."""
        return None if self.live else RECORDS_PER_BATCH_MAX


def pace(reads: Iterable[Contract], backlog: Backlog) -> Pace:
    """The pace for what is left to read."""
    horizon = max(topic.horizon or timedelta() for topic in reads)
    if backlog.span <= MARGIN and backlog.records <= RECORDS_PER_BATCH_MAX:
        return Pace(live=True, memory=horizon + MARGIN)
    # Twice: the log grows, in a world that may be fast, while the backlog is being read.
    return Pace(live=False, memory=2 * backlog.span + horizon + MARGIN)
