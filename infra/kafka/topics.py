"""Makes topics from contracts; no other code makes a topic."""

from collections.abc import Mapping
from typing import Protocol

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import NewTopic

from infra.kafka.clients import create_admin
from infra.kafka.errors import KafkaDown, get_error_code
from infra.kafka.offsets import REQUEST_SECONDS_MAX
from infra.settings import Settings

AHEAD = "message.timestamp.after.max.ms"
BEHIND = "message.timestamp.before.max.ms"
FAR_MS_MAX = 9_000_000_000_000_000
"""The furthest timestamp from the present that Kafka takes. Spark counts time in microseconds of 64
bits, so one record from beyond the year 294,247 would end whatever reads it, and its replay."""


class TopicSettings(Protocol):
    """A contract's settings of its topic: the number of partitions and the configuration."""

    @property
    def partitions(self) -> int: ...

    @property
    def config(self) -> Mapping[str, str]: ...


class HasTopicSettings(Protocol):
    """The part of a contract that Kafka needs."""

    @property
    def settings(self) -> TopicSettings: ...


def is_answering(settings: Settings, seconds_max: float = 2.0) -> bool:
    """Whether a broker answers a request within the time given."""
    try:
        create_admin(settings).list_topics(timeout=seconds_max)
    except KafkaException:
        return False
    return True


def apply_topics(settings: Settings, topics: Mapping[str, HasTopicSettings]) -> tuple[str, ...]:
    """Make the missing topics with their contracts' settings. Returns their names.

    A name may differ from the contract's: a generation writes under its own name. Raises KafkaDown.
    """
    client = create_admin(settings)
    try:
        present = client.list_topics(timeout=REQUEST_SECONDS_MAX).topics
    except KafkaException as error:
        raise KafkaDown(settings.bootstrap_servers) from error
    missing = {name: contract.settings for name, contract in topics.items() if name not in present}
    if not missing:
        return ()
    replicas = settings.kafka_replication_factor
    # With three copies, one broker may be down and nothing acknowledged is lost.
    in_sync = {"min.insync.replicas": str(max(1, replicas - 1))}
    made = client.create_topics(
        [
            NewTopic(name, topic.partitions, replicas, config={**in_sync, **build_config(topic)})
            for name, topic in missing.items()
        ],
        operation_timeout=REQUEST_SECONDS_MAX,
    )
    new = []
    for name, future in made.items():
        try:
            future.result(timeout=2 * REQUEST_SECONDS_MAX)
            new.append(name)
        except KafkaException as error:
            # It has just been made, from the same contract.
            if get_error_code(error) != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
    return tuple(sorted(new))


def build_config(topic: TopicSettings) -> dict[str, str]:
    """The topic's configuration in Kafka: the contract's, with timestamps that Spark can count."""
    config = dict(topic.config)
    if AHEAD in config:
        config[AHEAD] = str(min(int(config[AHEAD]), FAR_MS_MAX))
        config[BEHIND] = str(FAR_MS_MAX)
    return config
