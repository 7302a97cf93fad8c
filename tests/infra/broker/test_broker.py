"""The real broker, in a folder whose name is everything that names should not be."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from confluent_kafka import KafkaException

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
from infra.wait import wait_for
from tests.ports import free_port_base

pytestmark = pytest.mark.e2e

SECONDS_MAX = 60
TABLE = "private.test.table.v1"


@dataclass(frozen=True)
class Shape:
    """What a contract says about its topic."""

    partitions: int = 2
    config: dict[str, str] = field(default_factory=lambda: {"cleanup.policy": "compact"})


@dataclass(frozen=True)
class Topic:
    settings: Shape = field(default_factory=Shape)


class Broker:
    """The broker's process, which a test may kill."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.start()

    def start(self) -> None:
        environment = {
            **os.environ,
            "DATA_DIR": str(self.settings.data_dir),
            "PORT_BASE": str(self.settings.port_base),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "infra.broker"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert wait_for(lambda: is_answering(self.settings, 1), SECONDS_MAX)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(SECONDS_MAX)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    home = tmp_path_factory.mktemp("broker") / "a folder, 100% odd ;#é"
    home.mkdir()
    running = Broker(Settings(data_dir=home, port_base=free_port_base()))
    yield running
    running.kill()


@pytest.fixture
def table(broker: Broker) -> Settings:
    """The settings of a broker that has the topic, with three keys, one of them deleted."""
    settings = broker.settings
    apply_topics(settings, {TABLE: Topic()})
    client = create_producer(settings)
    for key, value in [(b"a", b"1"), (b"b", b"2"), (b"c", b"3"), (b"a", b"4")]:
        send(client, TABLE, key, value)
    client.produce(TABLE, key=b"c", value=None)
    client.flush(SECONDS_MAX)
    return settings


def test_topics_are_made_once_and_as_the_contract_says(broker: Broker) -> None:
    wanted = {"public.test.made.v1": Topic(Shape(partitions=3))}
    assert apply_topics(broker.settings, wanted) == ("public.test.made.v1",)
    assert apply_topics(broker.settings, wanted) == ()
    assert len(read_end_offsets(create_admin(broker.settings), wanted)) == 3


def test_a_topic_is_not_made_by_a_typing_mistake(broker: Broker) -> None:
    with pytest.raises((NotDelivered, KafkaException)):
        send(create_producer(broker.settings), "public.test.mistake.v1", b"a", b"1", seconds_max=5)
    with pytest.raises(UnknownTopic, match=r"mistake\.v1.*retail contracts apply"):
        read_end_offsets(create_admin(broker.settings), ["public.test.mistake.v1"])


def test_a_compacted_topic_reads_as_a_table(table: Settings) -> None:
    assert read_to_end(table, TABLE) == {b"a": b"4", b"b": b"2"}


def test_an_empty_topic_reads_as_an_empty_table(broker: Broker) -> None:
    apply_topics(broker.settings, {"private.test.empty.v1": Topic()})
    assert read_to_end(broker.settings, "private.test.empty.v1") == {}


def test_offsets_are_asked_of_every_partition(table: Settings) -> None:
    client = create_admin(table)
    assert set(read_start_offsets(client, [TABLE]).values()) == {0}
    assert sum(read_end_offsets(client, [TABLE]).values()) >= 5


def test_a_killed_broker_comes_back_with_its_records(broker: Broker, table: Settings) -> None:
    before = read_end_offsets(create_admin(table), [TABLE])
    broker.kill()
    assert not is_answering(table, 1)
    broker.start()
    assert read_end_offsets(create_admin(table), [TABLE]) == before
    assert read_to_end(table, TABLE) == {b"a": b"4", b"b": b"2"}
