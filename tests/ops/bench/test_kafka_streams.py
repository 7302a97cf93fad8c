"""What Kafka Streams counts is what a count of the log alone says: the yardstick does its work."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from contracts import RECEIPTS, decode, encode
from contracts.errors import Undecodable
from infra.kafka import create_admin, create_producer, read_between, read_end_offsets
from infra.settings import Settings
from ops.bench.kafka_streams import run_kafka_streams
from ops.bench.receipts import create_receipt
from tests.seeds import create_random

pytestmark = [pytest.mark.thorough, pytest.mark.e2e]

EVENTS = 2_000
APART_MS = 10_000
"""Five and a half hours in all: ids are forgotten on the way."""
MEMORY_MS = timedelta(hours=2, minutes=5) // timedelta(milliseconds=1)
FORGOTTEN = MEMORY_MS // APART_MS + 1
"""The number of events after which an id is forgotten."""
FRAME_BYTES = 5

Units = Counter[tuple[str, str]]
"""Sold by store_id and sku."""


def test_units_sold_are_those_that_the_log_alone_says(kafka: Settings) -> None:
    publish(kafka, create_random("receipts"))
    once, every = count_units(kafka, MEMORY_MS), count_units(kafka, -1)
    assert once != every, "there are copies"
    with run_kafka_streams(kafka) as streams:
        with streams.create_application() as name:
            assert streams.run(name) > 0
            assert streams.read_answer(name) == once
        assert not [topic for topic in create_admin(kafka).list_topics().topics if name in topic]


def publish(kafka: Settings, draw: Random) -> None:
    """Receipts, three stores' of twelve: a partition may stay empty. Copies, and what is none."""
    client = create_producer(kafka)
    for number in range(EVENTS):
        at, event = create_receipt(0)["event_time"] + number * APART_MS, create_receipt(number)
        if number % 12 < 3:
            for value in vary_receipt(event, number, draw):
                client.produce(RECEIPTS.name, value, event["store_id"].encode(), timestamp=at)
        client.poll(0)
    assert client.flush(30) == 0


def vary_receipt(event: dict[str, Any], number: int, draw: Random) -> Iterator[bytes | None]:
    """What is published at a moment: the receipt, and what may go wrong beside it."""
    whole = encode(RECEIPTS, event)
    yield whole
    if draw.random() < 0.1:
        yield whole
    if draw.random() < 0.1 and number >= FORGOTTEN:
        again = number - FORGOTTEN // 12 * 12 - draw.choice((-12, 0, 12, 24))
        yield encode(RECEIPTS, create_receipt(max(again, number % 12)))
    if draw.random() < 0.2:
        yield draw.choice(
            (
                None,
                b"",
                b"?" + whole[1:],
                whole[:1] + b"\xff" + whole[2:],
                whole[: draw.randrange(FRAME_BYTES, len(whole))],
            )
        )


def count_units(kafka: Settings, memory_ms: int) -> Units:
    """Units sold: of what is published within the memory of its first copy, that one alone."""
    sold, known = Units(), dict[str, int]()
    for message in read_between(kafka, {}, read_end_offsets(create_admin(kafka), [RECEIPTS.name])):
        try:
            event = decode(message.value()).value
        except Undecodable:
            continue
        at = message.timestamp()[1]
        if at - known.get(event["event_id"], at - memory_ms - 1) <= memory_ms:
            continue
        known[event["event_id"]] = at
        for line in event["lines"]:
            sold[event["store_id"], line["sku"]] += line["units"]
    return sold
