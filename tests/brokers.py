"""Brokers for tests: one that a runner's tests share in turn, and brokers of their own."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from contracts import CONTRACTS
from infra.kafka import (
    apply_topics,
    create_admin,
    create_producer,
    is_answering,
    read_between,
    read_end_offsets,
    read_high_watermarks,
)
from infra.kafka.drift import find_drifts, inspect
from infra.processes import start_module
from infra.security.certificates import ensure_keys
from infra.settings import HOST, Settings
from infra.wait import wait_until
from ops.control.access import grant_access
from tests.ports import free_port_base

REQUEST_SECONDS_MAX = 10.0
SESSION_SECONDS_MAX = 60.0
"""A member that was killed leaves its group within 45 s, the client's default."""

INTERNAL = "__"
"""The prefix of Kafka's own topics: transactions outlive the emptying."""


@contextmanager
def broker(folder: Path, secure: bool = False) -> Iterator[Settings]:
    """Settings under which a broker answers, with every topic of the contracts, all empty.

    A secure one answers its operator, and services by their contracts. It also has the listener for
    other hosts, at the port of the API that is not there.
    """
    settings = Settings(data_dir=folder, port_base=free_port_base(), secure=secure)
    if secure:
        network = {"broker_address": f"{HOST}:{settings.api_port}"}
        settings = settings.model_copy(update=network)
        ensure_keys(settings)
    process = start_broker(settings)
    try:
        wait_until(lambda: is_answering(settings), "the broker answers", seconds_max=60)
        apply_topics(settings, CONTRACTS)
        if secure:
            grant_access(settings)
        yield settings
    finally:
        process.kill()
        process.wait(30)


def start_broker(settings: Settings) -> "subprocess.Popen[bytes]":
    return start_module(settings, settings.data_dir / "broker.log", "infra.broker")


def get_producer(settings: Settings) -> Producer:
    """The producer with which all tests write to the broker.

    A record that is sent by a producer made for it takes half a second: its client asks for an id
    before it is connected, and then again after as long.
    """
    return _create_producer(settings.bootstrap_servers)


@cache
def _create_producer(servers: str) -> Producer:
    return create_producer(Settings(kafka_bootstrap_servers=servers))


def read_all(settings: Settings, topic: str) -> Iterator[bytes]:
    """Every committed value of a topic."""
    for message in read_between(settings, {}, read_end_offsets(create_admin(settings), [topic])):
        value = message.value()
        if value is not None:
            yield value


def empty_broker(settings: Settings, folder: Path) -> Settings:
    """Empty the broker for the next module: every topic that was used is deleted, and those of the
    contracts are made anew.

    The data folder is the module's own.
    """
    _create_producer.cache_clear()
    client = create_admin(settings)
    forget_groups(client)
    if used := find_used_topics(client):
        for gone in client.delete_topics(list(used)).values():
            gone.result(REQUEST_SECONDS_MAX)
        wait_until(lambda: not used & find_topics(client).keys(), "every used topic is gone")
    apply_topics(settings, CONTRACTS)
    wait_until(lambda: find_topics(client).keys() >= CONTRACTS.keys(), "every topic is there")
    wait_until(lambda: all(find_topics(client).values()), "every partition has a leader")
    return settings.model_copy(update={"data_dir": folder})


def forget_groups(client: AdminClient) -> None:
    """Delete every consumer group, so that no test continues from the offsets of an earlier one.

    A group whose member was killed is not empty before the member's session is over.
    """

    def are_gone() -> bool:
        groups = client.list_consumer_groups().result(REQUEST_SECONDS_MAX).valid
        return not [group for group in groups if not forget_group(client, group.group_id)]

    wait_until(are_gone, "every consumer group is gone", SESSION_SECONDS_MAX)


def forget_group(client: AdminClient, group: str) -> bool:
    """Delete the group; False when it still has a member."""
    [gone] = client.delete_consumer_groups([group]).values()
    try:
        gone.result(REQUEST_SECONDS_MAX)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.NON_EMPTY_GROUP:
            raise
        return False
    return True


def find_used_topics(client: AdminClient) -> set[str]:
    """The topics that ever held a record, or are not as the contracts say."""
    names = [*find_topics(client)]
    written = {topic for (topic, _), end in read_high_watermarks(client, names).items() if end}
    cluster = inspect(client, [*CONTRACTS])
    drifted = {drift.topic for drift in find_drifts(cluster, CONTRACTS, missing_too=frozenset())}
    return (set(names) - CONTRACTS.keys()) | written | drifted


def find_topics(client: AdminClient) -> dict[str, bool]:
    """Every topic but Kafka's own, as the broker knows it, and whether all of it has leaders."""
    topics = client.list_topics(timeout=REQUEST_SECONDS_MAX).topics
    return {
        name: all(partition.leader >= 0 for partition in topic.partitions.values())
        for name, topic in topics.items()
        if not name.startswith(INTERNAL)
    }
