"""The permissions of services on topics, derived from the declarations of consumers.

A service may read and write the topics that it declares to read and write. READS and WRITES add the
topics that a service needs beyond its declaration.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from confluent_kafka.admin import AclOperation, ResourceType

from contracts import CLOCKS, CONTRACTS, GENERATIONS, HEARTBEATS, MARKERS, Contract
from contracts.consumer import CONSUMERS
from contracts.declarations import Consumer
from infra.kafka.access import EVERYBODY, Grant, set_grants, set_users
from infra.kafka.clients import NO_GROUP
from infra.settings import Settings

CONTROL = "private.control."
TOOLS = "tool"
"""The kind of consumer that a person runs, as the operator, who may do everything."""

SUPERVISOR = "pipelines"
"""It starts generations and ends failed ones. Each pipeline reads and writes as itself."""
READS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        SUPERVISOR: frozenset({GENERATIONS.name, MARKERS.name}),
        # They keep their progress as a group's offsets, which Kafka takes for readable topics only.
        "ordering": frozenset({HEARTBEATS.name, CLOCKS.name}),
        "markdowns": frozenset({HEARTBEATS.name, CLOCKS.name}),
        "supplier": frozenset({CLOCKS.name}),
    }
)
WRITES: Mapping[str, frozenset[str]] = MappingProxyType({SUPERVISOR: frozenset({GENERATIONS.name})})


def is_standing(contract: Contract) -> bool:
    """Whether the topic exists before any pipeline runs.

    A generation creates the changelogs of its views, with its number in their names.
    """
    return contract.kind == "topic" or contract.name.startswith(CONTROL)


def list_services() -> tuple[str, ...]:
    """All services that log in to a secure Kafka, except the broker and the operator."""
    declared = (consumer.name for consumer in CONSUMERS.values() if consumer.kind != TOOLS)
    return tuple(sorted({*declared, SUPERVISOR}))


def list_grants() -> frozenset[Grant]:
    """The permissions of all services. Only the operator may do more."""
    return frozenset(
        [
            # Every service that has logged in may know the names and ends of topics.
            Grant(EVERYBODY, AclOperation.DESCRIBE, ResourceType.TOPIC, EVERYBODY),
            Grant(EVERYBODY, AclOperation.DESCRIBE, ResourceType.GROUP, NO_GROUP),
            *(grant for name in list_services() for grant in _list_grants(name)),
        ]
    )


def grant_access(settings: Settings) -> tuple[int, int]:
    """Give the broker its users and permissions, as the operator; returns the number of each.

    Raises KafkaException.
    """
    services, grants = list_services(), list_grants()
    set_users(settings, services)
    set_grants(settings, grants)
    return len(services), len(grants)


def find_reads(service: str) -> frozenset[str]:
    """The contracts of the topics that the service may read."""
    consumer = CONSUMERS.get(service)
    declared = {*consumer.reads, *_read_back(consumer)} if consumer else set()
    if consumer is not None and consumer.kind == "pipeline":
        declared.add(CLOCKS.name)  # no heartbeat counts that is beyond the world's time
    return READS.get(service, frozenset()) | declared


def find_writes(service: str) -> frozenset[str]:
    """The contracts of the topics that the service may write."""
    consumer = CONSUMERS.get(service)
    return WRITES.get(service, frozenset()) | set(consumer.writes if consumer else ())


def _read_back(consumer: Consumer) -> set[str]:
    """The topics that it writes and reads back: of a generator all of them, of others the control
    topics, and the views of which it deletes rows.
    """
    everything = consumer.kind == "generator"
    return {
        name
        for name in consumer.writes
        if everything or name.startswith(CONTROL) or CONTRACTS[name].retention is not None
    }


def _list_grants(service: str) -> Iterator[Grant]:
    for name in find_reads(service):
        yield _grant_topic(service, AclOperation.READ, name)
    for name in find_writes(service):
        yield _grant_topic(service, AclOperation.WRITE, name)
        if not is_standing(CONTRACTS[name]):
            yield _grant_topic(service, AclOperation.CREATE, name)
    yield Grant(service, AclOperation.READ, ResourceType.GROUP, service, is_prefix=True)
    yield Grant(service, AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, service, is_prefix=True)


def _grant_topic(service: str, operation: AclOperation, name: str) -> Grant:
    if is_standing(CONTRACTS[name]):
        return Grant(service, operation, ResourceType.TOPIC, name)
    return Grant(service, operation, ResourceType.TOPIC, f"{name}.g", is_prefix=True)
