"""A consumer gets the fields that its file declares, and nothing else; the examples serve it."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from contracts import CLOCKS, CONTRACTS, RECEIPTS, BadContract, Contract, encode, encode_key
from contracts.consumer import CONSUMERS, create_reader
from contracts.declarations import load_consumers
from contracts.errors import Undeclared
from contracts.partitions import choose_partition
from contracts.times import parse_span
from contracts.validation import VALIDATED
from infra.kafka import Record
from tests.contracts.expectations import find_violations, project

RECEIPT = RECEIPTS.examples[0]
USES = [(who, topic) for who, consumer in CONSUMERS.items() for topic in consumer.reads]


def test_a_reader_hands_out_what_is_declared() -> None:
    value = create_reader("loyalty")(encode(RECEIPTS, RECEIPT)).value
    assert set(value) == {"event_id", "event_time", "customer_id", "lines"}
    names = ("units", "unit_price_cents", "measure")
    assert value["lines"] == [{name: line[name] for name in names} for line in RECEIPT["lines"]]
    with pytest.raises(KeyError, match="seed"):
        create_reader("own-clock")(encode(CLOCKS, CLOCKS.examples[0])).value["seed"]


def test_a_topic_that_is_not_declared_is_refused() -> None:
    with pytest.raises(Undeclared, match=r"simulator reads public.sales.receipt.v1, but contracts"):
        create_reader("simulator")(encode(RECEIPTS, RECEIPT))


def test_the_quarantine_reads_every_topic_of_events() -> None:
    validated = {name for name in CONSUMERS["quarantine"].reads if name.startswith("public.")}
    assert validated == VALIDATED.keys()


@pytest.mark.parametrize("text", ["2", "h", "two h", "2 weeks", "-1 h"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a length of time as 2 h"):
        parse_span(text)


def test_a_file_is_called_like_its_consumer(tmp_path: Path) -> None:
    text = "name: cash-desk\nkind: tool\ndomain: d\nowner: o\ndescription: d\n"
    (tmp_path / "till.yaml").write_text(text)
    with pytest.raises(BadContract, match="Rename one"):
        load_consumers(tmp_path)


def create_record(contract: Contract, value: Mapping[str, Any]) -> Record:
    """The value as a record, published when it happened."""
    event_time = value.get(contract.event_time or "")
    published_ms = int(event_time.timestamp() * 1000) if isinstance(event_time, datetime) else 1
    key = encode_key(contract, value)
    partition = choose_partition(key, contract.settings.partitions)
    return Record(contract.name, partition, 0, published_ms, key, encode(contract, value), ())


@pytest.mark.parametrize(("who", "topic"), USES)
def test_a_valid_example_is_read_as_declared_and_what_it_relies_on(who: str, topic: str) -> None:
    """By Avro's own resolution, with a schema of nothing but the declared fields."""
    use, contract = CONSUMERS[who].reads[topic], CONTRACTS[topic]
    for example in contract.examples:
        record = create_record(contract, example)
        assert record.value is not None
        assert create_reader(who)(record.value).value == project(use, contract, record.value)
        assert list(find_violations(use, contract, [record])) == []
