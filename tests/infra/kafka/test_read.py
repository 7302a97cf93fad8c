"""A bounded part of the log is read to its end, and a wait in vain raises an error."""

from typing import Any

import pytest
from confluent_kafka import OFFSET_INVALID, KafkaError, KafkaException
from confluent_kafka.admin import ListOffsetsResultInfo

from contracts import RECEIPTS
from infra.kafka import (
    create_admin,
    offsets,
    read_all,
    read_between,
    read_end_offsets,
    read_to_end,
)
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


def test_all_values_are_read_up_to_the_ends(log: Settings) -> None:
    assert list(read_all(log, TOPIC)) == [value for value in VALUES if value is not None]
    assert list(read_all(log, TOPIC, {AT: 2})) == VALUES[:2]


def test_a_table_has_the_newest_value_of_each_key(log: Settings) -> None:
    assert read_to_end(log, TOPIC) == {b"b": b"3", b"c": b"4", b"d": b"5"}
    assert read_to_end(log, TOPIC, records_max=2) == {b"c": b"4", b"d": b"5"}


def test_when_kafka_has_nothing_more_to_say_it_is_told_what_is_missing(
    log: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.kafka.read.IDLE_SECONDS_MAX", 0.5)
    beyond = read_between(log, {}, {AT: len(VALUES) + 1})
    values = [next(beyond).value() for _ in VALUES]
    assert values == VALUES
    with pytest.raises(TimeoutError, match=f"'{TOPIC}', 1"):
        next(beyond)


@pytest.mark.parametrize(
    "gone",
    [
        TimeoutError(),
        KafkaException(KafkaError(KafkaError._TIMED_OUT)),
        KafkaException(KafkaError(KafkaError.OFFSET_NOT_AVAILABLE)),
    ],
)
def test_a_leader_that_has_just_gone_is_not_the_last_that_is_asked(
    gone: Exception, log: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A patched first answer simulates a cluster that does not miss its broker yet."""
    answers: list[Exception | None] = [gone, None]

    def answer_gone_first(*asked: Any) -> Any:
        if (error := answers.pop(0)) is not None:
            raise error
        return really(*asked)

    class Watched:
        """A client of which is noted how often it was asked who leads."""

        def __getattr__(self, name: str) -> Any:
            asked.append(name)
            return getattr(client, name)

    really, client, asked = offsets._answer, create_admin(log), list[str]()
    monkeypatch.setattr(offsets, "_answer", answer_gone_first)
    assert read_end_offsets(Watched(), [TOPIC])[AT] == len(VALUES)  # type: ignore[arg-type]
    assert answers == []
    assert asked.count("list_topics") == 2, "a client remembers who led before"


def test_an_answer_without_an_offset_is_asked_for_again(
    log: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A patched first answer simulates a partition between two leaders."""
    asked = 0

    def answer_without_first(*question: Any) -> Any:
        nonlocal asked
        asked += 1
        offsets = really(*question)
        if asked == 1:
            offsets[AT] = ListOffsetsResultInfo(OFFSET_INVALID, -1, -1)
        return offsets

    really = offsets._answer
    monkeypatch.setattr(offsets, "_answer", answer_without_first)
    assert read_end_offsets(create_admin(log), [TOPIC])[AT] == len(VALUES)
    assert asked == 2
