"""retail topics read, on a real broker: from where, how many, and what a wrong place is told."""

import json
from datetime import timedelta
from typing import Any

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME

from contracts import ADJUSTMENTS, STOCK_LEVELS, encode, encode_key
from contracts.times import to_epoch_ms
from infra.errors import UserError
from infra.settings import Settings
from ops.cli.topics import EARLIEST, LATEST, describe, find_topic, read_records, render
from tests.brokers import get_producer
from tests.services.broker import KafkaLog
from tests.services.world import NOON
from tests.services.writing import Writing, promote

pytestmark = pytest.mark.e2e

TOPIC = ADJUSTMENTS.name
PARTITION, RECORDS = 1, 7


@pytest.fixture(scope="module")
def log(kafka: Settings) -> Settings:
    """Seven adjustments in one partition, a minute after the other; the last is no Avro."""
    client = get_producer(kafka)
    for number in range(RECORDS):
        value = {**ADJUSTMENTS.examples[0], "event_id": f"A{number}"}
        client.produce(
            TOPIC,
            key=encode_key(ADJUSTMENTS, value),
            value=encode(ADJUSTMENTS, value) if number < RECORDS - 1 else b"\x00no",
            partition=PARTITION,
            timestamp=to_epoch_ms(NOON + timedelta(minutes=number)),
        )
    assert client.flush(30) == 0
    return kafka


def offsets(log: Settings, since: str, records_max: int = 3, partition: int | None = None) -> Any:
    records = read_records(log, TOPIC, since, partition, records_max)
    return [(record.partition(), record.offset()) for record in records]


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        (EARLIEST, [0, 1, 2]),
        (LATEST, [4, 5, 6]),
        ("5", [5, 6]),
        ("7", []),
        ("2026-03-02T12:01:30Z", [2, 3, 4]),
        ("2026-03-03", []),
    ],
)
def test_reading_begins_where_it_is_told_to(log: Settings, since: str, expected: list[int]) -> None:
    for partition in (None, PARTITION):
        read_offsets = offsets(log, since, partition=partition)
        assert read_offsets == [(PARTITION, offset) for offset in expected]


def test_a_record_is_shown_with_its_place_its_time_its_key_and_its_value(log: Settings) -> None:
    [first] = read_records(log, TOPIC, EARLIEST, PARTITION, 1)
    described = describe(first)
    assert first.timestamp()[0] == TIMESTAMP_CREATE_TIME
    assert described["published_at"] == "2026-03-02T12:00:00.000Z"
    assert described["key"] == ADJUSTMENTS.examples[0]["store_id"]
    assert described["value"]["event_id"] == "A0"
    assert json.loads(render(described).split("  ")[-1]) == described["value"]
    *_, last = read_records(log, TOPIC, LATEST, PARTITION, 1)
    assert describe(last)["value"] == {
        "undecodable": "3 bytes: too short for a frame",
        "bytes": "006e6f",
    }


def test_what_is_not_there_is_told_with_what_is(log: Settings) -> None:
    with pytest.raises(UserError, match=r"offsets from 0 on, .* at 7; found 8"):
        offsets(log, "8")
    with pytest.raises(UserError, match=r"partitions 0 to \d+; found 99"):
        offsets(log, EARLIEST, partition=99)
    with pytest.raises(UserError, match="or an offset, earliest or latest; found noon"):
        offsets(log, "noon")
    with pytest.raises(UserError, match=rf"found public.inventory.x.v1. Did you mean {TOPIC}"):
        find_topic(log, "public.inventory.x.v1")


def test_a_view_is_read_from_the_changelog_that_readers_follow(log: Settings) -> None:
    kafka = KafkaLog(log)
    first, second = Writing(kafka, 1), Writing(kafka, 2)
    promote(kafka, second, first)
    second.row(1, "SKU-1", 5)
    kafka.flush()
    assert find_topic(log, TOPIC) == TOPIC
    assert find_topic(log, STOCK_LEVELS.name) == second.topic
    [row] = read_records(log, second.topic, EARLIEST, None, 3)
    assert describe(row)["value"]["units_on_hand"] == 5
