"""A log played to a pipeline by a schedule: in which order between partitions, in which pieces."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from random import Random

from contracts import DIMENSIONS, HEARTBEATS, ON_ITS_WAY
from generators.publisher import Publisher
from infra.kafka import Partition, create_admin, create_producer, read_end_offsets
from infra.settings import Settings
from infra.wait import wait_until
from ops.generations.folders import locate_checkpoint
from tests.replay.log import Entry
from tests.replay.running import Running
from tests.transactions import Transactions

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


CHUNK_SECONDS_MAX = 400

OTHERS_SHARE = 0.01
ENDED_SHARE = 0.3
OPEN_MS_MAX = 20 * 60_000
"""Of world time: a pipeline waits for a transaction that is open for half an hour."""
AWAITED = {*DIMENSIONS, HEARTBEATS.name}


class Others:
    """Clients of somebody else, which publish some of a log in transactions.

    A transaction may stay open for minutes of the world and over pieces of the log. What one of
    them aborts is a copy that was never to count, with the event's id or none.
    """

    def __init__(self, settings: Settings, chance: Random) -> None:
        self._chance = chance
        self._commits, self._aborts = Transactions(settings), Transactions(settings)
        self._newest_ms = 0

    def take(self, entry: Entry) -> bool:
        """Whether the entry is published here. One that others wait for never is."""
        self._newest_ms = max(self._newest_ms, entry.published_ms)
        self.end(OPEN_MS_MAX)
        if entry.partition[0] in AWAITED:
            return False
        if self._chance.random() < OTHERS_SHARE:
            spoilt = replace(entry, value=self._chance.choice((entry.value, b"aborted")))
            self._write(self._aborts, spoilt)
        if self._chance.random() >= OTHERS_SHARE:
            return False
        self._write(self._commits, entry)
        return True

    def end(self, open_ms_max: int) -> None:
        """End the transactions that have been open for longer."""
        for client in (self._commits, self._aborts):
            oldest_ms = client.oldest_ms
            if oldest_ms is not None and self._newest_ms - oldest_ms > open_ms_max:
                self._end(client)

    def _write(self, client: Transactions, entry: Entry) -> None:
        if client.oldest_ms is None:
            client.begin()
        client.write(entry.partition, entry.key, entry.value, entry.published_ms)
        if self._chance.random() < ENDED_SHARE:
            self._end(client)

    def _end(self, client: Transactions) -> None:
        if client is self._commits:
            client.commit()
        else:
            client.abort()


def play(log: list[Entry], schedule: Schedule, running: Running, chance: Random) -> None:
    """Publish the log as the schedule says; return when the pipeline has read it, and stands."""
    killed = schedule.choose_killed(chance)
    chunks = cut(interleave(log, schedule, chance), schedule.chunks, chance)
    others = Others(running.work.settings, chance)
    try:
        for number, chunk in enumerate(chunks):
            if number in killed:
                running.plan_kill(chance, schedule.chunks - number)  # each is a batch at least
            publish(running.work.settings, chunk, others)
            others.end(-1 if number == schedule.chunks - 1 else OPEN_MS_MAX)
            see_through(running)
            if schedule.sleeps:
                running.stop()
    finally:
        running.stop()


def publish(settings: Settings, entries: Iterable[Entry], others: Others | None = None) -> None:
    """A heartbeat waits until everything before it is in the log, and what follows a fact too."""
    publisher = Publisher(create_producer(settings, linger_ms=0))
    told_facts = False
    for entry in entries:
        is_fact = entry.partition[0] in DIMENSIONS
        if entry.partition[0] == HEARTBEATS.name or (told_facts and not is_fact):
            publisher.flush()
        told_facts = is_fact
        if others is not None and others.take(entry):
            continue
        publisher.send(*entry.partition, entry.key, entry.value, entry.published_ms, [])
    publisher.flush()


def see_through(running: Running) -> None:
    """Keep the pipeline running, however often it dies, until it has read all there is."""
    work = running.work
    ends = read_end_offsets(
        create_admin(work.settings), [topic.name for topic in work.pipeline.inputs]
    )
    checkpoint = locate_checkpoint(work.settings, work.generation)

    def has_read_all() -> bool:
        running.ensure_running()
        read = checkpoint.read_committed()
        # A transaction's end may come into the log a little after it was asked for.
        return all(read.get(partition, 0) >= end for partition, end in ends.items())

    wait_until(has_read_all, "the pipeline has read everything", CHUNK_SECONDS_MAX)
