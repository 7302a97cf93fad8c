"""Where the partitions of a topic begin and end."""

from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ListOffsetsResultInfo, OffsetSpec

from infra.kafka.errors import UnknownTopic, code

REQUEST_SECONDS_MAX = 10.0

Partition = tuple[str, int]


def partitions(admin: AdminClient, topics: Iterable[str]) -> tuple[Partition, ...]:
    """Every partition of the topics, in order; raises UnknownTopic."""
    names = sorted(set(topics))
    if not names:
        return ()
    described = admin.describe_topics(TopicCollection(names), request_timeout=REQUEST_SECONDS_MAX)
    found: list[Partition] = []
    for topic, future in described.items():
        try:
            description = future.result(timeout=REQUEST_SECONDS_MAX)
        except KafkaException as error:
            if code(error) == KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise UnknownTopic(topic) from error
            raise
        found += [(topic, partition.id) for partition in description.partitions]
    return tuple(sorted(found))


def end_offsets(admin: AdminClient, topics: Iterable[str]) -> dict[Partition, int]:
    """The offset after the last record, of every partition of the topics."""
    found = _look_up(admin, topics, OffsetSpec.latest())
    return {partition: info.offset for partition, info in found.items()}


def start_offsets(admin: AdminClient, topics: Iterable[str]) -> dict[Partition, int]:
    """The offset of the first record still there, of every partition of the topics."""
    found = _look_up(admin, topics, OffsetSpec.earliest())
    return {partition: info.offset for partition, info in found.items()}


def newest_ms(admin: AdminClient, topics: Iterable[str]) -> dict[Partition, int]:
    """The largest record timestamp of every partition that has records, in epoch milliseconds."""
    found = _look_up(admin, topics, OffsetSpec.max_timestamp())
    return {partition: info.timestamp for partition, info in found.items() if info.offset >= 0}


def led(admin: AdminClient, topics: Iterable[str]) -> bool:
    """Whether a broker leads every partition of the topics, and so answers for it."""
    try:
        _look_up(admin, topics, OffsetSpec.latest())
    except (KafkaException, UnknownTopic):
        return False
    return True


def _look_up(
    admin: AdminClient, topics: Iterable[str], at: OffsetSpec
) -> dict[Partition, ListOffsetsResultInfo]:
    wanted = {TopicPartition(*partition): at for partition in partitions(admin, topics)}
    if not wanted:
        return {}
    answers = admin.list_offsets(wanted, request_timeout=REQUEST_SECONDS_MAX)
    return {
        (where.topic, where.partition): future.result(timeout=REQUEST_SECONDS_MAX)
        for where, future in answers.items()
    }
