"""How one log reaches a pipeline: in which order between partitions, in which pieces."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from random import Random

from contracts import DIMENSIONS, HEARTBEATS, ON_ITS_WAY
from infra.kafka import Partition
from tests.replay.log import Entry

ON_ITS_WAY_MS = ON_ITS_WAY // timedelta(milliseconds=1)


@dataclass(frozen=True)
class Schedule:
    """One way of a log into a pipeline."""

    name: str
    chunks: int
    """Pieces in which the log is published; each is read to its end before the next comes."""
    kills: int
    """How many of the chunks, never the last, meet a pipeline that will be killed."""
    lead_ms: int
    """World time by which a partition may run ahead of the others."""
    burst_max: int
    """Records that a partition is given at a time."""
    records_per_batch_max: int = 400_000
    """Of a pipeline that catches up."""
    sleeps: bool = False
    """Whether the pipeline wakes for each chunk, reads to the end, and stops."""
    own_process: bool = False

    def choose_killed(self, chance: Random) -> set[int]:
        """The numbers of the chunks over which the pipeline is killed."""
        return set(chance.sample(range(self.chunks - 1), self.kills))


def cut(log: Sequence[Entry], chunks: int, chance: Random) -> Iterator[Sequence[Entry]]:
    """The log in so many pieces of any length."""
    points = [0, *sorted(chance.sample(range(1, len(log)), chunks - 1)), len(log)]
    for start, end in pairwise(points):
        yield log[start:end]


def interleave(log: Sequence[Entry], schedule: Schedule, chance: Random) -> list[Entry]:
    """The records of each partition in their order, the partitions in any.

    A heartbeat keeps its promise: it comes after every event that was published before it. A fact
    comes as late as it may.
    """
    waiting: dict[Partition, deque[tuple[int, Entry]]] = {}
    for number, entry in enumerate(log):
        if entry.partition[0] not in DIMENSIONS:
            waiting.setdefault(entry.partition, deque()).append((number, entry))
    mixed: list[Entry] = []
    while waiting:
        oldest, first = min(
            (queue[0] for queue in waiting.values()), key=lambda numbered: numbered[0]
        )
        limit_ms = first.published_ms + schedule.lead_ms
        partition = chance.choice(
            [
                partition
                for partition, queue in waiting.items()
                if queue[0][0] == oldest
                or (partition[0] != HEARTBEATS.name and queue[0][1].published_ms <= limit_ms)
            ]
        )
        mixed += take(waiting[partition], chance.randint(1, schedule.burst_max), limit_ms)
        if not waiting[partition]:
            del waiting[partition]
    return list(delay_versions(mixed, [entry for entry in log if entry.partition[0] in DIMENSIONS]))


def delay_versions(events: Iterable[Entry], facts: Iterable[Entry]) -> Iterator[Entry]:
    """The events, and each fact before the first one that was published ON_ITS_WAY after it."""
    waiting = deque(facts)
    for event in events:
        while waiting and waiting[0].published_ms <= event.published_ms - ON_ITS_WAY_MS:
            yield waiting.popleft()
        yield event
    yield from waiting


def take(queue: deque[tuple[int, Entry]], most: int, limit_ms: int) -> Iterator[Entry]:
    """The next records of a partition; of the heartbeats, one."""
    _, entry = queue.popleft()
    yield entry
    while entry.partition[0] != HEARTBEATS.name and most > 1 and queue:
        if queue[0][1].published_ms > limit_ms:
            return
        _, entry = queue.popleft()
        yield entry
        most -= 1
