"""A log played to a pipeline by a schedule, and what the pipeline has made of it in the end."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from contracts import DIMENSIONS, HEARTBEATS
from generators.publisher import Publisher
from infra.kafka import create_admin, create_producer, read_end_offsets
from infra.settings import Settings
from infra.wait import wait_until
from ops.generations.folders import locate_checkpoint
from tests.replay.log import Entry
from tests.replay.running import Running
from tests.replay.schedule import Schedule, cut, interleave
from tests.transactions import Transactions

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
