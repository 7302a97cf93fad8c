"""A bounded part of the log is read to its end, and a wait in vain raises an error."""

import pytest

from contracts import RECEIPTS
from infra.kafka import create_admin, read_between, read_end_offsets, read_to_end
from infra.settings import Settings
from tests.brokers import get_producer

pytestmark = pytest.mark.e2e

TOPIC = RECEIPTS.name
AT = (TOPIC, 1)
VALUES = [b"0", b"1", None, b"3", b"4", b"5"]
KEYS = [b"a", b"b", b"a", b"b", b"c", b"d"]


@pytest.fixture(scope="module")
def log(kafka: Settings) -> Settings:
    """A broker with a few records in one partition."""
    client = get_producer(kafka)
    for name, value in zip(KEYS, VALUES, strict=True):
        client.produce(TOPIC, key=name, value=value, partition=AT[1])
    client.flush(30)
    assert read_end_offsets(create_admin(kafka), [TOPIC])[AT] == len(VALUES)
    return kafka


def test_a_part_is_what_lies_between_two_offsets(log: Settings) -> None:
    values = [message.value() for message in read_between(log, {AT: 1}, {AT: 4})]
    assert values == VALUES[1:4]
    assert list(read_between(log, {AT: 4}, {AT: 4})) == []


def test_a_table_has_the_newest_value_of_each_key(log: Settings) -> None:
    assert read_to_end(log, TOPIC) == {b"b": b"3", b"c": b"4", b"d": b"5"}


def test_when_kafka_has_nothing_more_to_say_it_is_told_what_is_missing(
    log: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.kafka.read.IDLE_SECONDS_MAX", 0.5)
    beyond = read_between(log, {}, {AT: len(VALUES) + 1})
    values = [next(beyond).value() for _ in VALUES]
    assert values == VALUES
    with pytest.raises(TimeoutError, match=f"'{TOPIC}', 1"):
        next(beyond)
