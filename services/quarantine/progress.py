"""The progress of the quarantine: the offsets that its group has committed, and when."""

from dataclasses import dataclass

from confluent_kafka import Consumer, TopicPartition

from contracts.validation import VALIDATED
from infra.kafka import (
    Offsets,
    Partition,
    create_admin,
    create_consumer,
    fetch_committed,
    list_partitions,
)
from infra.settings import Settings

GROUP = "quarantine"


@dataclass(frozen=True)
class Progress:
    """The offsets below which all rejected records are in the quarantine."""

    offsets: Offsets
    committed_ms: int
    """Wall time of the last commit, in epoch milliseconds; 0: never."""


def read_progress(settings: Settings) -> Progress:
    """The progress. Raises UnknownTopic, TimeoutError and KafkaException."""
    reader = create_consumer(settings, GROUP)
    try:
        return read_committed(reader, list_partitions(create_admin(settings), VALIDATED))
    finally:
        reader.close()


def read_committed(reader: Consumer, every: tuple[Partition, ...]) -> Progress:
    """The progress of this reader's group. Raises TimeoutError and KafkaException."""
    committed = fetch_committed(reader, GROUP, every)
    return Progress(
        offsets={(at.topic, at.partition): max(at.offset, 0) for at in committed},
        committed_ms=max((int(at.metadata) for at in committed if at.metadata), default=0),
    )


def commit(reader: Consumer, reached: Progress) -> None:
    """Commit the progress, and wait until the broker has it."""
    reader.commit(
        offsets=[
            TopicPartition(*at, offset, metadata=str(reached.committed_ms))
            for at, offset in reached.offsets.items()
        ],
        asynchronous=False,
    )
