"""Who may read and write which topic: derived from what consumers declare.

A program that declares a topic may read it, and one that declares to write it may write it. What a
program needs beyond its declaration stands here, as a role.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from confluent_kafka.admin import AclOperation, ResourceType

from contracts import CLOCKS, CONTRACTS, GENERATIONS, HEARTBEATS, MARKERS, Contract
from contracts.consumer import CONSUMERS, Consumer
from infra.kafka.access import EVERYBODY, Grant, set_grants, set_users
from infra.kafka.clients import NO_GROUP
from infra.settings import Settings

CONTROL = "private.control."
TOOLS = "tool"
"""The kind of consumer that a person runs: as the operator, who may do everything."""

SUPERVISOR = "pipelines"
"""It starts generations and ends those that failed; what they read and write is their own."""
READS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        SUPERVISOR: frozenset({GENERATIONS.name, MARKERS.name}),
        # A group's offsets, where they note what they have done, are of topics that they may read.
        "ordering": frozenset({HEARTBEATS.name, CLOCKS.name}),
        "supplier": frozenset({CLOCKS.name}),
    }
)
WRITES: Mapping[str, frozenset[str]] = MappingProxyType({SUPERVISOR: frozenset({GENERATIONS.name})})


def is_standing(contract: Contract) -> bool:
    """Whether the topic exists before any pipeline runs.

    A view's changelog is made with the generation that writes it, under its number.
    """
    return contract.kind == "topic" or contract.name.startswith(CONTROL)


def list_services() -> tuple[str, ...]:
    """Everybody who logs in to a secure Kafka, but for the broker and the operator."""
    declared = (one.name for one in CONSUMERS.values() if one.kind != TOOLS)
    return tuple(sorted({*declared, SUPERVISOR}))


def list_grants() -> frozenset[Grant]:
    """What each service may do; the operator, and nobody else, may do more."""
    return frozenset(
        [
            # Names and ends of topics are no secret between those who have logged in.
            Grant(EVERYBODY, AclOperation.DESCRIBE, ResourceType.TOPIC, EVERYBODY),
            Grant(EVERYBODY, AclOperation.DESCRIBE, ResourceType.GROUP, NO_GROUP),
            *(one for name in list_services() for one in _list_grants(name)),
        ]
    )


def grant_access(settings: Settings) -> tuple[int, int]:
    """Give the broker users and permissions, as the operator; returns how many of each.

    Raises KafkaException.
    """
    services, grants = list_services(), list_grants()
    set_users(settings, services)
    set_grants(settings, grants)
    return len(services), len(grants)


def find_reads(service: str) -> frozenset[str]:
    """The contracts of the topics that the service may read."""
    one = CONSUMERS.get(service)
    declared = {*one.reads, *_read_back(one)} if one else set()
    return READS.get(service, frozenset()) | declared


def find_writes(service: str) -> frozenset[str]:
    """The contracts of the topics that the service may write."""
    one = CONSUMERS.get(service)
    return WRITES.get(service, frozenset()) | (frozenset(one.writes) if one else frozenset())


def _read_back(one: Consumer) -> set[str]:
    """What it continues from: a generator from all that it has published, others from what they
    told the control plane.
    """
    everything = one.kind == "generator"
    return {name for name in one.writes if everything or name.startswith(CONTROL)}


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
