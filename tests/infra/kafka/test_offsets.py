"""The offsets of partitions: while a broker does not answer, and while a topic is made anew."""

import signal
from collections.abc import Iterable
from pathlib import Path
from threading import Timer

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from contracts import HEARTBEATS
from infra.errors import UserError
from infra.kafka import (
    EndOffsets,
    Partition,
    UnknownTopic,
    apply_topics,
    create_admin,
    is_answering,
    offsets,
    read_end_offsets,
)
from infra.kafka.offsets import LED_SECONDS_MAX, REQUEST_SECONDS_MAX
from infra.settings import Settings
from infra.wait import wait_until
from tests.brokers import get_producer, start_broker
from tests.ports import free_port_base

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

PAUSE_SECONDS = 1.2 * REQUEST_SECONDS_MAX
"""Longer than one question waits for its answer."""


def test_offsets_are_asked_for_again_while_no_broker_answers(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, port_base=free_port_base())
    broker = start_broker(settings)
    try:
        wait_until(lambda: is_answering(settings), "the broker answers", seconds_max=60)
        apply_topics(settings, {HEARTBEATS.name: HEARTBEATS})
        assert PAUSE_SECONDS < LED_SECONDS_MAX
        broker.send_signal(signal.SIGSTOP)
        going_on = Timer(PAUSE_SECONDS, broker.send_signal, [signal.SIGCONT])
        going_on.start()
        ends = read_end_offsets(create_admin(settings), [HEARTBEATS.name], patient=True)
        going_on.join()
        assert ends == {(HEARTBEATS.name, 0): 0}
    finally:
        broker.kill()
        broker.wait(30)


def test_ends_of_a_topic_that_is_made_anew_are_of_its_new_partitions(kafka: Settings) -> None:
    client, name = create_admin(kafka), "test.made-anew"
    ends = EndOffsets(client)
    make(client, name, 1)
    assert ends.read([name]) == {(name, 0): 0}
    publish(kafka, name)
    assert ends.read([name]) == {(name, 0): 1}
    remove(client, name)
    with pytest.raises(UnknownTopic):
        ends.read([name])
    make(client, name, 2)
    assert ends.read([name]) == {(name, 0): 0, (name, 1): 0}
    assert ends.read([HEARTBEATS.name]) == {(HEARTBEATS.name, 0): 0}
    remove(client, name)


def test_ends_are_asked_for_without_asking_which_partitions_there_are(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = create_admin(kafka)
    ends = EndOffsets(client)
    first = ends.read([HEARTBEATS.name])
    asked: list[None] = []
    monkeypatch.setattr("infra.kafka.offsets.list_partitions", lambda *_: asked.append(None))
    assert ends.read([HEARTBEATS.name]) == first
    assert not asked


def test_after_a_question_that_failed_the_partitions_are_asked_for_anew(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = EndOffsets(create_admin(kafka))
    first = ends.read([HEARTBEATS.name])
    with monkeypatch.context() as patch:
        patch.setattr("infra.kafka.offsets._answer", raise_timeout)
        patch.setattr("infra.kafka.offsets.LED_SECONDS_MAX", 0.1)
        with pytest.raises(UserError, match="should lead every partition"):
            ends.read([HEARTBEATS.name])
    asked: list[None] = []
    real = offsets.list_partitions

    def count(client: AdminClient, topics: Iterable[str]) -> tuple[Partition, ...]:
        asked.append(None)
        return real(client, topics)

    monkeypatch.setattr(offsets, "list_partitions", count)
    assert ends.read([HEARTBEATS.name]) == first
    assert asked


def raise_timeout(*_: object) -> None:
    """In place of a broker's answer."""
    raise TimeoutError


def make(client: AdminClient, name: str, partitions: int) -> None:
    client.create_topics([NewTopic(name, partitions, 1)])[name].result(REQUEST_SECONDS_MAX)

    def is_there() -> bool:
        known = client.list_topics(timeout=REQUEST_SECONDS_MAX).topics.get(name)
        return known is not None and len(known.partitions) == partitions

    wait_until(is_there, f"{name} is there")


def remove(client: AdminClient, name: str) -> None:
    client.delete_topics([name])[name].result(REQUEST_SECONDS_MAX)
    wait_until(
        lambda: name not in client.list_topics(timeout=REQUEST_SECONDS_MAX).topics,
        f"{name} is gone",
    )


def publish(kafka: Settings, name: str) -> None:
    producer = get_producer(kafka)
    producer.produce(name, value=b"", partition=0)
    assert producer.flush(REQUEST_SECONDS_MAX) == 0
