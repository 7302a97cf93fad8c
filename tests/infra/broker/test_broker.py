"""The real broker, in a folder whose name is everything that names should not be."""

import subprocess
from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from contracts import STOCK_LEVELS
from infra.kafka import (
    UnknownTopic,
    apply_topics,
    create_admin,
    create_producer,
    is_answering,
    read_end_offsets,
    read_start_offsets,
    read_to_end,
)
from infra.kafka.send import NotDelivered, send
from infra.settings import Settings
from infra.wait import wait_until
from tests.brokers import start_broker
from tests.ports import free_port_base

pytestmark = pytest.mark.e2e

SECONDS_MAX = 60
TABLE = "private.test.table.v1"
MISTAKE = "public.test.mistake.v1"


def start(settings: Settings) -> "subprocess.Popen[bytes]":
    process = start_broker(settings)
    wait_until(lambda: is_answering(settings, 1), "the broker answers", SECONDS_MAX)
    return process


def test_topics_are_made_once_and_by_no_mistake_and_outlive_a_kill(tmp_path: Path) -> None:
    home = tmp_path / "a folder, 100% odd ;#é"
    home.mkdir()
    settings = Settings(data_dir=home, port_base=free_port_base())
    process = start(settings)
    try:
        assert apply_topics(settings, {TABLE: STOCK_LEVELS}) == (TABLE,)
        assert apply_topics(settings, {TABLE: STOCK_LEVELS}) == ()
        producer, admin = create_producer(settings), create_admin(settings)
        starts = read_start_offsets(admin, [TABLE])
        assert [*starts.values()] == [0] * STOCK_LEVELS.settings.partitions
        assert read_to_end(settings, TABLE) == {}
        with pytest.raises((NotDelivered, KafkaException)):
            send(create_producer(settings), MISTAKE, b"a", b"1", seconds_max=5)
        with pytest.raises(UnknownTopic, match=r"mistake\.v1.*retail contracts apply"):
            read_end_offsets(admin, [MISTAKE])
        for key, value in [(b"a", b"1"), (b"b", b"2"), (b"c", b"3"), (b"a", b"4")]:
            send(producer, TABLE, key, value)
        producer.produce(TABLE, key=b"c", value=None)
        producer.flush(SECONDS_MAX)
        before = read_end_offsets(admin, [TABLE])
        assert sum(before.values()) == 5
        process.kill()
        process.wait(SECONDS_MAX)
        assert not is_answering(settings, 1)
        process = start(settings)
        assert read_end_offsets(create_admin(settings), [TABLE]) == before
        assert read_to_end(settings, TABLE) == {b"a": b"4", b"b": b"2"}
    finally:
        process.kill()
        process.wait(SECONDS_MAX)
