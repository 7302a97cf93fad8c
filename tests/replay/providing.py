"""Checks a generation's published records against its contracts and its consumers."""

from collections.abc import Iterator

from contracts import BOOKS, GENERATIONS, MARKERS, Contract, decode, encode_key
from contracts.consumer import CONSUMERS
from contracts.partitions import choose_partition
from infra.kafka import Record, create_admin
from infra.kafka.drift import find_drifts, inspect
from ops.verify.log import read_topic
from tests.contracts.broken_rules import find_broken_rules
from tests.contracts.expectations import find_violations
from tests.replay.running import Work

RECORDS_MAX = 2_000
"""Of a topic, the last ones: enough to have closed and corrected rows among them."""


def list_topics(work: Work) -> dict[str, Contract]:
    """The topics that the generation writes, with the contract of each."""
    outputs = work.generation.outputs
    views = {outputs[view.name]: view for view in work.pipeline.writes}
    return {**views, **{contract.name: contract for contract in (BOOKS, MARKERS, GENERATIONS)}}


def find_faults(work: Work) -> Iterator[str]:
    """Everything that is otherwise than a contract says, or than a consumer relies on."""
    topics = list_topics(work)
    cluster = inspect(create_admin(work.settings), list(topics))
    yield from map(str, find_drifts(cluster, topics, frozenset(topics)))
    for topic, contract in topics.items():
        records = list(read_topic(work.settings, topic))
        if not records:
            yield f"{topic} has no records"
        for record in records[-RECORDS_MAX:]:
            yield from find_record_faults(contract, record)
        for name, consumer in CONSUMERS.items():
            if use := consumer.reads.get(contract.name):
                violations = find_violations(use, contract, records[-RECORDS_MAX:])
                yield from (f"{name}: {each}" for each in violations)


def find_record_faults(contract: Contract, record: Record) -> Iterator[str]:
    """Its schema, rules, key, place and headers."""
    place = f"{record.topic}/{record.partition}/{record.offset}"
    decoded = decode(record.value)
    if decoded.contract is not contract:
        yield f"{place}: a record of {decoded.contract.name}"
        return
    yield from (f"{place}: {rule}" for rule in sorted(find_broken_rules(contract, decoded.value)))
    own = encode_key(contract, decoded.value)
    if record.key != own:
        yield f"{place}: the key is {record.key!r}, not {own!r}"
    elif record.partition != choose_partition(own, contract.settings.partitions):
        yield f"{place}: {own!r} lies in another partition"
    if record.headers:
        yield f"{place}: headers {sorted(dict(record.headers))}, expected none"
