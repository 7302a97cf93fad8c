"""The same work in Kafka Streams, in part: receipts, each counted once, summed by shelf.

It leaves out validation, three of the four topics, releases and record accounting. Its answer
is the changelog of its state; it writes no view beside it.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from itertools import count
from pathlib import Path

from confluent_kafka import ConsumerGroupState, KafkaException

from contracts import RECEIPTS
from contracts.schemas import get_schema_id
from contracts.times import MILLISECOND
from infra.jars import fetch_jars
from infra.jars.compiler import compile_classes
from infra.java import locate_java
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from infra.wait import wait_until
from ops.bench.program import Program, run_program

SOURCES = Path(__file__).parent / "java"
PROGRAM = "retail.bench.Replays"
THREADS = min(os.cpu_count() or 1, RECEIPTS.settings.partitions)
UNITS_SOLD = "units-sold"
"""The store with the units that each shelf sold: store/sku → a long of eight bytes."""

ASSIGNED_SECONDS_MAX = 150.0
"""A killed application holds its partitions for a session of 45 seconds."""
ANSWER_SECONDS_MAX = 30.0


class Guarantee(Enum):
    """The processing guarantee of Kafka Streams, and its commit interval in milliseconds."""

    EXACTLY_ONCE = ("exactly_once_v2", 100)
    """The default interval."""
    AT_LEAST_ONCE = ("at_least_once", 1_000)
    """The default is 30 seconds, for which a reader would wait."""

    @property
    def label(self) -> str:
        return f"Streams, {self.name.lower().replace('_', '-')}"


class Streams:
    """Replays of all receipts in one Java, each by an application of its own."""

    def __init__(self, settings: Settings, program: Program) -> None:
        self._settings = settings
        self._program = program
        self._admin = create_admin(settings)
        self._numbers = count(1)

    def replay(self, guarantee: Guarantee) -> float:
        """Seconds from the first receipt until all are counted and committed."""
        with self.create_application() as name:
            return self.run(name, guarantee)

    @contextmanager
    def create_application(self) -> Iterator[str]:
        """The id of a new application; its state is removed when the block ends."""
        name = f"bench-streams-{next(self._numbers)}"
        try:
            yield name
        finally:
            shutil.rmtree(locate_folder(self._settings) / name, ignore_errors=True)
            made = [one for one in self._admin.list_topics().topics if one.startswith(f"{name}-")]
            for topic in self._admin.delete_topics(made).values() if made else ():
                topic.result(ANSWER_SECONDS_MAX)

    def run(self, application: str, guarantee: Guarantee) -> float:
        """As `replay`, by this application. Raises RuntimeError when its Java ends."""
        self.start(application, guarantee)
        return float(self._program.read_answer())

    def start(self, application: str, guarantee: Guarantee) -> None:
        """Have the application read, and do not wait for it."""
        ends = read_end_offsets(self._admin, [RECEIPTS.name])
        promise, commit_ms = guarantee.value
        self._program.order(application, promise, commit_ms, *[ends[at] for at in sorted(ends)])
        # A thread that joins later would wait for partitions that the first one holds.
        wait_until(
            lambda: self._is_assigned(application),
            "each thread of Kafka Streams has partitions",
            ASSIGNED_SECONDS_MAX,
        )
        self._program.order()

    def _is_assigned(self, application: str) -> bool:
        described = self._admin.describe_consumer_groups([application])[application]
        try:
            group = described.result(ANSWER_SECONDS_MAX)
        except KafkaException:  # there is none yet
            return False
        shares = [member.assignment.topic_partitions for member in group.members]
        stable = group.state == ConsumerGroupState.STABLE
        return stable and len(shares) == THREADS and all(shares)


def name_changelog(application: str) -> str:
    """The topic with the application's answer."""
    return f"{application}-{UNITS_SOLD}-changelog"


@contextmanager
def run_kafka_streams(settings: Settings) -> Iterator[Streams]:
    """A Java with Kafka Streams, with the heap of the pipelines' Java, until the block ends."""
    shutil.rmtree(locate_folder(settings), ignore_errors=True)
    locate_folder(settings).mkdir(parents=True)
    config = locate_folder(settings) / "streams.properties"
    config.write_text(
        "".join(f"{name}={value}\n" for name, value in build_options(settings).items())
    )
    command = [
        *build_command(settings),
        str(config),
        RECEIPTS.name,
        str(get_schema_id(RECEIPTS)),
        render_memory_ms(),
    ]
    with run_program(command, settings.data_dir / "streams.log") as program:
        yield Streams(settings, program)


def build_command(settings: Settings) -> list[str]:
    jars = fetch_jars("streams")
    class_path = [compile_classes([SOURCES], settings.jars_dir, jars), *jars]
    return [
        str(locate_java()),
        f"-Xmx{settings.spark_driver_memory}",
        "-XX:+UseSerialGC",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp",
        os.pathsep.join(map(str, class_path)),
        PROGRAM,
    ]


def build_options(settings: Settings) -> dict[str, str]:
    """The options that differ from the defaults of Kafka Streams."""
    return {
        "bootstrap.servers": settings.bootstrap_servers,
        "state.dir": str(locate_folder(settings)),
        "num.stream.threads": str(THREADS),
        "consumer.isolation.level": "read_committed",
        # Its changelogs carry world time, as the receipts do.
        "topic.message.timestamp.after.max.ms": str(2**63 - 1),
    }


def render_memory_ms() -> str:
    """How long after its first copy a duplicate may be published within the horizon."""
    assert RECEIPTS.horizon
    assert RECEIPTS.skew
    return str((RECEIPTS.horizon + RECEIPTS.skew) // MILLISECOND)


def locate_folder(settings: Settings) -> Path:
    return settings.data_dir / "streams"
