"""The same work in Kafka Streams, in part: receipts, each counted once, summed by shelf.

It leaves out validation, three of the four topics, releases and record accounting. Its answer
is the changelog of its state; it writes no view beside it.
"""

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from confluent_kafka import ConsumerGroupState, KafkaException

from contracts import RECEIPTS
from contracts.schemas import get_schema_id
from contracts.times import MILLISECOND
from infra.jars import fetch_jars
from infra.jars.compiler import compile_classes
from infra.java import locate_java
from infra.kafka import create_admin, read_end_offsets, read_to_end
from infra.logs import tail
from infra.settings import Settings
from infra.wait import wait_until

SOURCES = Path(__file__).parent / "java"
PROGRAM = "retail.bench.Replays"
LOG, LOG_LINES_SHOWN = "streams.log", 8
THREADS = min(os.cpu_count() or 1, RECEIPTS.settings.partitions)

ASSIGNED_SECONDS_MAX = 60.0
ANSWER_SECONDS_MAX = 30.0


class Streams:
    """Replays of all receipts in one Java, each by an application of its own."""

    def __init__(self, settings: Settings, java: "subprocess.Popen[str]") -> None:
        self._settings = settings
        self._java = java
        self._admin = create_admin(settings)
        self._numbers = count(1)

    def replay(self) -> tuple[float, str]:
        """Seconds from the first receipt until all are counted and committed, and the id of the
        application, by which its answer is read. Raises RuntimeError when its Java ends.
        """
        application = f"bench-streams-{next(self._numbers)}"
        ends = read_end_offsets(self._admin, [RECEIPTS.name])
        self._order(application, *[ends[partition] for partition in sorted(ends)])
        # A thread that joins later would wait for partitions that the first one holds.
        wait_until(
            lambda: self._is_assigned(application),
            "each thread of Kafka Streams has partitions",
            ASSIGNED_SECONDS_MAX,
        )
        self._order()
        assert self._java.stdout
        if not (seconds := self._java.stdout.readline()):
            end = tail(self._settings.data_dir / LOG, LOG_LINES_SHOWN)
            raise RuntimeError(f"Kafka Streams should answer, but ended:\n{end}")
        return float(seconds), application

    def read_answer(self, application: str) -> dict[tuple[str, str], int]:
        """Units sold by store_id and sku, from the changelog of its store: store/sku → a long."""
        rows = read_to_end(self._settings, f"{application}-units-sold-changelog")
        return {parse_shelf(key): struct.unpack(">q", units)[0] for key, units in rows.items()}

    def _order(self, *words: object) -> None:
        print(*words, file=self._java.stdin, flush=True)

    def _is_assigned(self, application: str) -> bool:
        described = self._admin.describe_consumer_groups([application])[application]
        try:
            group = described.result(ANSWER_SECONDS_MAX)
        except KafkaException:  # there is none yet
            return False
        shares = [member.assignment.topic_partitions for member in group.members]
        stable = group.state == ConsumerGroupState.STABLE
        return stable and len(shares) == THREADS and all(shares)


def parse_shelf(key: bytes) -> tuple[str, str]:
    store_id, sku = key.decode().split("/", 1)
    return store_id, sku


@contextmanager
def run_kafka_streams(settings: Settings) -> Iterator[Streams]:
    """A Java with Kafka Streams, with the heap of the pipelines' Java, until the block ends."""
    folder = locate_folder(settings)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    options = {
        "bootstrap.servers": settings.bootstrap_servers,
        "state.dir": str(folder),
        "num.stream.threads": str(THREADS),
        "processing.guarantee": "exactly_once_v2",
        "commit.interval.ms": "100",  # the default of this guarantee
        "consumer.isolation.level": "read_committed",
        # Its changelogs carry world time, as the receipts do.
        "topic.message.timestamp.after.max.ms": str(2**63 - 1),
    }
    config = folder / "streams.properties"
    config.write_text("".join(f"{name}={value}\n" for name, value in options.items()))
    jars = fetch_jars("streams")
    class_path = [compile_classes([SOURCES], settings.jars_dir, jars), *jars]
    assert RECEIPTS.horizon
    assert RECEIPTS.skew
    # How long after its first copy a duplicate may be published within the horizon.
    memory_ms = (RECEIPTS.horizon + RECEIPTS.skew) // MILLISECOND
    command = [
        str(locate_java()),
        f"-Xmx{settings.spark_driver_memory}",
        "-XX:+UseSerialGC",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp",
        os.pathsep.join(map(str, class_path)),
        PROGRAM,
        str(config),
        RECEIPTS.name,
        str(get_schema_id(RECEIPTS)),
        str(memory_ms),
    ]
    pipe = subprocess.PIPE
    with (
        (settings.data_dir / LOG).open("ab") as log,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True) as java,
    ):
        try:
            yield Streams(settings, java)
        finally:
            java.kill()


def locate_folder(settings: Settings) -> Path:
    return settings.data_dir / "streams"
