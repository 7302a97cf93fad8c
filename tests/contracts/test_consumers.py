"""Every consumer against the examples of what it reads: they serve it.

Read by Avro's own resolution, with a schema of nothing but the declared fields.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from contracts import CONTRACTS, Contract, encode, encode_key
from contracts.consumer import CONSUMERS, create_reader
from contracts.declarations import Use
from contracts.partitions import choose_partition
from infra.kafka import Record
from tests.contracts.expectations import find_violations, project

USES = [(who, topic) for who, one in CONSUMERS.items() for topic in one.reads]


def create_record(contract: Contract, value: Mapping[str, Any]) -> Record:
    """The value as a record, published when it happened."""
    at = value.get(contract.event_time or "")
    record_key = encode_key(contract, value)
    return Record(
        topic=contract.name,
        partition=choose_partition(record_key, contract.settings.partitions),
        offset=0,
        published_ms=int(at.timestamp() * 1000) if isinstance(at, datetime) else 1,
        key=record_key,
        value=encode(contract, value),
        headers=(),
    )


def find_use(who: str, topic: str) -> tuple[Use, Contract]:
    return CONSUMERS[who].reads[topic], CONTRACTS[topic]


@pytest.mark.parametrize(("who", "topic"), USES)
def test_a_valid_example_is_read_as_declared_and_what_it_relies_on(who: str, topic: str) -> None:
    use, contract = find_use(who, topic)
    for example in contract.examples:
        record = create_record(contract, example)
        assert record.value is not None
        assert create_reader(who)(record.value).value == project(use, contract, record.value)
        assert list(find_violations(use, contract, [record])) == []
