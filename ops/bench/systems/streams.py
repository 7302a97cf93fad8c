"""Kafka Streams at the job."""

import struct

from infra.kafka import read_to_end
from infra.settings import Settings
from ops.bench.kafka_streams import THREADS, Guarantee, name_changelog, run_kafka_streams
from ops.bench.systems.answers import Run, Units
from ops.bench.systems.progress import wait_for_commits

EXACTLY_ONCE = Guarantee.EXACTLY_ONCE


def run(settings: Settings, records: int) -> Run:
    with run_kafka_streams(settings) as streams:
        streams.replay(EXACTLY_ONCE)  # discarded: Java has compiled nothing yet
        with streams.create_application() as name:
            seconds = streams.run(name, EXACTLY_ONCE)
            answer = read_answer(settings, name)
    return Run(
        seconds,
        answer,
        count_with_kill(settings, records),
        f"A Java program, exactly_once_v2, {THREADS} threads, warm; sums and ids in RocksDB and "
        "its changelogs. It reads receipts alone, and checks none.",
        "Its Java is killed after half of the log, and its folder removed; another one continues "
        "from the changelogs.",
    )


def count_with_kill(settings: Settings, records: int) -> Units:
    """What an application answers whose Java is killed after half of so many records."""
    name = "bench-streams-killed"
    with run_kafka_streams(settings) as first:
        first.start(name, EXACTLY_ONCE)
        wait_for_commits(settings, name, records // 2)
    with run_kafka_streams(settings) as second:
        second.start(name, EXACTLY_ONCE)
        # The application does not count what the first one has committed: Kafka does.
        wait_for_commits(settings, name, records)
    return read_answer(settings, name)


def read_answer(settings: Settings, application: str) -> Units:
    """What the application's changelog says."""
    rows = read_to_end(settings, name_changelog(application))
    return {parse_shelf(shelf): struct.unpack(">q", units)[0] for shelf, units in rows.items()}


def parse_shelf(key: bytes) -> tuple[str, str]:
    store_id, sku = key.decode().split("/", 1)
    return store_id, sku
