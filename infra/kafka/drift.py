"""Compares a cluster's topics with the contracts: missing topics, and differences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from infra.kafka.offsets import REQUEST_SECONDS_MAX
from infra.kafka.topics import HasTopicSettings, build_config

BROKERS_FOR_COPIES = 3
COPIES_MIN, IN_SYNC_MIN = 3, 2
"""With this many brokers, one may be down and nothing acknowledged is lost."""
IN_SYNC = "min.insync.replicas"
AUTO_CREATE = "auto.create.topics.enable"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of the cluster."""

    partitions: int
    copies: int
    config: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster, with the topics of the contracts."""

    brokers: int
    auto_create: bool
    topics: Mapping[str, Topic]


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference between the cluster and the contracts."""

    topic: str
    what: str
    expected: str
    found: str
    mendable: bool
    """Whether `retail contracts apply` fixes it; a person decides on what moves records."""


def inspect(client: AdminClient, names: list[str]) -> Cluster:
    """The cluster, with those of these topics that exist. Raises KafkaException."""
    there = client.list_topics(timeout=REQUEST_SECONDS_MAX)
    present = [name for name in names if name in there.topics]
    brokers = [ConfigResource(ResourceType.BROKER, str(broker)) for broker in there.brokers]
    topics = [ConfigResource(ResourceType.TOPIC, name) for name in present]
    # A broker describes only itself; any broker describes every topic.
    asked = [*([broker] for broker in brokers), *([topics] if topics else [])]
    config = {
        (resource.restype, resource.name): {
            name: str(entry.value) for name, entry in future.result(REQUEST_SECONDS_MAX).items()
        }
        for resources in asked
        for resource, future in client.describe_configs(
            resources, request_timeout=REQUEST_SECONDS_MAX
        ).items()
    }
    return Cluster(
        brokers=len(there.brokers),
        auto_create=any(
            config[broker.restype, broker.name].get(AUTO_CREATE) == "true" for broker in brokers
        ),
        topics={
            name: Topic(
                partitions=len(there.topics[name].partitions),
                copies=min(
                    len(partition.replicas) for partition in there.topics[name].partitions.values()
                ),
                config=config[ResourceType.TOPIC, name],
            )
            for name in present
        },
    )


def find_refusals(cluster: Cluster, copies: int) -> Iterator[str]:
    """The reasons to make no topic in the cluster with this number of copies."""
    if cluster.auto_create:
        yield (
            f"{AUTO_CREATE} should be false, but is true: a name that somebody mistypes becomes "
            "a topic without a contract. Set it in the brokers' configuration"
        )
    if cluster.brokers >= BROKERS_FOR_COPIES and copies < COPIES_MIN:
        yield (
            f"{cluster.brokers} brokers should keep {COPIES_MIN} copies of every partition, but "
            f"KAFKA_REPLICATION_FACTOR is {copies}. Set it to {COPIES_MIN}"
        )


def find_drifts(
    cluster: Cluster, asked: Mapping[str, HasTopicSettings], missing_too: frozenset[str]
) -> Iterator[Drift]:
    """The differences from the contracts; of a missing topic, only that it is missing."""
    for name, contract in sorted(asked.items()):
        topic = cluster.topics.get(name)
        if topic is None:
            if name in missing_too:
                yield Drift(name, "topic", "one", "none", mendable=True)
            continue
        partitions = contract.settings.partitions
        if topic.partitions != partitions:
            yield Drift(name, "partitions", str(partitions), str(topic.partitions), mendable=False)
        for setting, value in build_config(contract.settings).items():
            if (found := topic.config.get(setting, "unset")) != value:
                yield Drift(name, setting, value, found, mendable=True)
        if cluster.brokers < BROKERS_FOR_COPIES:
            continue
        if topic.copies < COPIES_MIN:
            yield Drift(name, "replication", str(COPIES_MIN), str(topic.copies), mendable=False)
        in_sync = int(topic.config.get(IN_SYNC, "1"))
        if in_sync < IN_SYNC_MIN:
            yield Drift(name, IN_SYNC, str(IN_SYNC_MIN), str(in_sync), mendable=True)


def mend(client: AdminClient, drifted: list[Drift]) -> None:
    """Fix the mendable differences in configuration. Raises KafkaException."""
    changes: dict[str, list[ConfigEntry]] = {}
    for drift in drifted:
        if drift.mendable and drift.what != "topic":
            entry = ConfigEntry(
                drift.what, drift.expected, incremental_operation=AlterConfigOpType.SET
            )
            changes.setdefault(drift.topic, []).append(entry)
    resources = [
        ConfigResource(ResourceType.TOPIC, name, incremental_configs=entries)
        for name, entries in changes.items()
    ]
    if resources:
        altered = client.incremental_alter_configs(resources, request_timeout=REQUEST_SECONDS_MAX)
        for future in altered.values():
            future.result(REQUEST_SECONDS_MAX)
