"""How far the quarantine has read: what its group has committed, and when."""

from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, TopicPartition

from contracts.judging import JUDGED
from infra.kafka import Partition, admin, consumer, partitions
from infra.kafka.errors import UNSETTLED, code
from infra.settings import Settings
from infra.wait import until

GROUP = "quarantine"
ANSWER_SECONDS_MAX = 10.0
SETTLED_SECONDS_MAX = 30.0


@dataclass(frozen=True)
class Progress:
    """All rejected records below these offsets are in the quarantine."""

    offsets: Mapping[Partition, int]
    said_ms: int
    """The wall clock when it was last said, in epoch milliseconds; 0: never."""


def progress(settings: Settings) -> Progress:
    """Raises UnknownTopic, TimeoutError, and KafkaException when the broker does not answer."""
    reader = consumer(settings, GROUP)
    try:
        return committed(reader, partitions(admin(settings), JUDGED))
    finally:
        reader.close()


def committed(reader: Consumer, every: tuple[Partition, ...]) -> Progress:
    """The same, asked again while the broker looks for its coordinator of groups."""
    found: list[TopicPartition] = []
    wanted = [TopicPartition(*at) for at in every]

    def answered() -> bool:
        try:
            found[:] = reader.committed(wanted, timeout=ANSWER_SECONDS_MAX)
        except KafkaException as error:
            if code(error) not in UNSETTLED:
                raise
        return bool(found)

    if not until(answered, SETTLED_SECONDS_MAX):
        raise TimeoutError(
            f"Kafka should say within {SETTLED_SECONDS_MAX:g} s what {GROUP} has committed, but "
            "does not. See what it waits for: make logs COMPONENT=broker"
        )
    return Progress(
        offsets={(at.topic, at.partition): max(at.offset, 0) for at in found},
        said_ms=max((int(at.metadata) for at in found if at.metadata), default=0),
    )


def commit(reader: Consumer, reached: Progress) -> None:
    """Say it for all to see, and wait until the broker has it."""
    reader.commit(
        offsets=[
            TopicPartition(*at, offset, metadata=str(reached.said_ms))
            for at, offset in reached.offsets.items()
        ],
        asynchronous=False,
    )
