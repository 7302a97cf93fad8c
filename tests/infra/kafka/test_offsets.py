"""The offsets of partitions: while a broker does not answer, and while a topic is made anew."""

import signal
from functools import partial
from pathlib import Path
from threading import Timer

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from contracts import HEARTBEATS
from infra.kafka import (
    EndOffsets,
    UnknownTopic,
    apply_topics,
    create_admin,
    is_answering,
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
        ends = EndOffsets(create_admin(settings), patient=True).read([HEARTBEATS.name])
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
    wait_until(partial(is_unknown, ends, name), f"{name} is unknown")
    make(client, name, 2)
    assert ends.read([name]) == {(name, 0): 0, (name, 1): 0}
    assert ends.read([HEARTBEATS.name]) == {(HEARTBEATS.name, 0): 0}
    remove(client, name)


def is_unknown(ends: EndOffsets, name: str) -> bool:
    """A replica that is about to be deleted may still answer for a moment."""
    try:
        ends.read([name])
    except UnknownTopic:
        return True
    return False


def make(client: AdminClient, name: str, partitions: int) -> None:
    client.create_topics([NewTopic(name, partitions, 1)])[name].result(REQUEST_SECONDS_MAX)

    def is_there() -> bool:
        topic = client.list_topics(timeout=REQUEST_SECONDS_MAX).topics.get(name)
        return topic is not None and len(topic.partitions) == partitions

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
