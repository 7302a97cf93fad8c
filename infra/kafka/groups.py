"""The offsets that a consumer group has committed."""

from collections.abc import Iterable

from confluent_kafka import Consumer, KafkaException, TopicPartition

from infra.kafka.errors import UNSETTLED, get_error_code
from infra.kafka.offsets import Partition
from infra.wait import ask_until

ANSWER_SECONDS_MAX = 10.0
SETTLED_SECONDS_MAX = 30.0
"""How long a broker may take to find the coordinator of a group."""


def fetch_committed(
    reader: Consumer, group: str, places: Iterable[Partition]
) -> list[TopicPartition]:
    """The offsets that the reader's group has committed for the partitions, with the metadata.

    An offset below 0 means that nothing is committed. It repeats the request while the broker has
    no coordinator of the group. Raises TimeoutError and KafkaException.
    """
    wanted = [TopicPartition(*at) for at in places]

    def ask() -> list[TopicPartition]:
        try:
            return list(reader.committed(wanted, timeout=ANSWER_SECONDS_MAX))
        except KafkaException as error:
            if get_error_code(error) not in UNSETTLED:
                raise
            return []

    found = ask_until(ask, bool, SETTLED_SECONDS_MAX) if wanted else []
    if len(found) < len(wanted):
        raise TimeoutError(
            f"Expected Kafka to say within {SETTLED_SECONDS_MAX:g} s what {group} has committed, "
            "but it did not. See what it waits for: make logs COMPONENT=broker"
        )
    return found
