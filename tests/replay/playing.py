"""A log played to a pipeline by a schedule, and what the pipeline has made of it in the end."""

from collections.abc import Iterable
from random import Random

from contracts import DIMENSIONS, HEARTBEATS
from generators.publisher import Publisher
from infra.kafka import create_admin, create_producer, read_end_offsets
from infra.settings import Settings
from infra.wait import wait_until
from pipelines.common.generations.folders import locate_checkpoint
from tests.replay.log import Entry
from tests.replay.running import Running
from tests.replay.schedule import Schedule, cut, interleave

CHUNK_SECONDS_MAX = 400


def play(log: list[Entry], schedule: Schedule, running: Running, chance: Random) -> None:
    """Publish the log as the schedule says; return when the pipeline has read it, and stands."""
    killed = schedule.choose_killed(chance)
    chunks = cut(interleave(log, schedule, chance), schedule.chunks, chance)
    try:
        for number, chunk in enumerate(chunks):
            if number in killed:
                running.plan_kill(chance, schedule.chunks - number)  # each is a batch at least
            publish(running.work.settings, chunk)
            see_through(running)
            if schedule.sleeps:
                running.stop()
    finally:
        running.stop()


def publish(settings: Settings, entries: Iterable[Entry]) -> None:
    """A heartbeat waits until everything before it is in the log, and what follows a fact too."""
    publisher = Publisher(create_producer(settings, linger_ms=0))
    told_facts = False
    for entry in entries:
        is_fact = entry.at[0] in DIMENSIONS
        if entry.at[0] == HEARTBEATS.name or (told_facts and not is_fact):
            publisher.flush()
        told_facts = is_fact
        publisher.send(*entry.at, entry.key, entry.value, entry.published_ms, [])
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
        return all(read.get(at, 0) == end for at, end in ends.items())

    wait_until(has_read_all, "the pipeline has read everything", CHUNK_SECONDS_MAX)
