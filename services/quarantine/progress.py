"""How far the quarantine has read: the offsets that its group committed, and when."""

from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, TopicPartition

from contracts.validation import VALIDATED
from infra.kafka import Offsets, Partition, admin, consumer, partitions
from infra.kafka.errors import UNSETTLED, code
from infra.settings import Settings
from infra.wait import until

GROUP = "quarantine"
ANSWER_SECONDS_MAX = 10.0
SETTLED_SECONDS_MAX = 30.0


@dataclass(frozen=True)
class Progress:
    """The offsets below which all rejected records are in the quarantine."""

    offsets: Offsets
    committed_ms: int
    """The wall clock of the last commit, in epoch milliseconds; 0: never."""


def read_progress(settings: Settings) -> Progress:
    """The progress. Raises UnknownTopic, TimeoutError and KafkaException."""
    reader = consumer(settings, GROUP)
    try:
        return read_committed(reader, partitions(admin(settings), VALIDATED))
    finally:
        reader.close()


def read_committed(reader: Consumer, every: tuple[Partition, ...]) -> Progress:
    """The progress of this reader. It retries while the broker has no group coordinator."""
    found: list[TopicPartition] = []
    wanted = [TopicPartition(*at) for at in every]

    def ask() -> bool:
        try:
            found[:] = reader.committed(wanted, timeout=ANSWER_SECONDS_MAX)
        except KafkaException as error:
            if code(error) not in UNSETTLED:
                raise
        return bool(found)

    if not until(ask, SETTLED_SECONDS_MAX):
        raise TimeoutError(
            f"Expected Kafka to say within {SETTLED_SECONDS_MAX:g} s what {GROUP} has committed, "
            "but it did not. See what it waits for: make logs COMPONENT=broker"
        )
    return Progress(
        offsets={(at.topic, at.partition): max(at.offset, 0) for at in found},
        committed_ms=max((int(at.metadata) for at in found if at.metadata), default=0),
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
