"""Three brokers on one machine: what is lost with one of them, and with two. Nothing."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka.admin import PartitionMetadata

from contracts import HEARTBEATS
from infra import kafka
from infra.settings import HOST, Settings
from infra.wait import wait_for, wait_until
from tests.brokers import read_all, start_broker
from tests.ports import free_port_base

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.timeout(400)]

SECONDS_MAX = 90.0
REFUSED_SECONDS = 5.0
"""How long a record waits for an acknowledgement that cannot come."""
KEY = b"world"


class Three:
    """Brokers by their ids; each may be killed and started again."""

    def __init__(self, folder: Path) -> None:
        bases = {number: free_port_base() for number in (1, 2, 3)}
        alone = {number: Settings(port_base=base) for number, base in bases.items()}
        voters = ",".join(
            f"{number}@{HOST}:{settings.controller_port}" for number, settings in alone.items()
        )
        self._each = {
            number: settings.model_copy(
                update={
                    "data_dir": folder / str(number),
                    "broker_voters": voters,
                    "broker_address": f"{HOST}:{settings.api_port}",  # no API runs here
                }
            )
            for number, settings in alone.items()
        }
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        addresses = ",".join(str(settings.broker_address) for settings in self._each.values())
        self.settings = Settings(
            data_dir=folder, kafka_bootstrap_servers=addresses, kafka_replication_factor=3
        )

    def start(self, *numbers: int) -> None:
        for number in numbers:
            self._each[number].data_dir.mkdir(exist_ok=True)
            self._running[number] = start_broker(self._each[number])

    def kill(self, *numbers: int) -> None:
        for number in numbers:
            process = self._running.pop(number)
            process.kill()
            process.wait(30)

    def stop(self) -> None:
        self.kill(*self._running)

    def describe(self) -> PartitionMetadata:
        """The topic's only partition, as a broker that answers knows it."""
        metadata = kafka.create_admin(self.settings).list_topics(
            HEARTBEATS.name, timeout=SECONDS_MAX
        )
        return metadata.topics[HEARTBEATS.name].partitions[0]

    def send(self, value: bytes, seconds_max: float = SECONDS_MAX) -> None:
        """Raises NotDelivered; the record does not arrive later either."""
        producer = kafka.create_producer(
            self.settings, message_timeout_ms=round(seconds_max * 1000)
        )
        kafka.send(producer, HEARTBEATS.name, KEY, value, seconds_max=2 * seconds_max)

    def read(self) -> list[bytes]:
        return list(read_all(self.settings, HEARTBEATS.name))


@contextmanager
def three(folder: Path) -> Iterator[Three]:
    brokers = Three(folder)
    try:
        brokers.start(1, 2, 3)
        wait_until(lambda: kafka.is_answering(brokers.settings), "the brokers answer", SECONDS_MAX)
        kafka.apply_topics(brokers.settings, {HEARTBEATS.name: HEARTBEATS})
        yield brokers
    finally:
        brokers.stop()


def test_no_broker_leads_without_what_was_acknowledged(tmp_path: Path) -> None:
    """One is lost, and misses a record; then another one, the leader. The third one waits.

    The first one comes back. It makes a majority with the third one, but does not lead.
    """
    with three(tmp_path) as brokers:
        wait_until(
            lambda: set(brokers.describe().isrs) == {1, 2, 3}, "all are in sync", SECONDS_MAX
        )
        brokers.send(b"by three")
        leader = brokers.describe().leader
        behind, third = {1, 2, 3} - {leader}
        brokers.kill(behind)
        wait_until(lambda: behind not in brokers.describe().isrs, "it is behind", SECONDS_MAX)
        brokers.send(b"by two")
        brokers.kill(leader)
        with pytest.raises(kafka.NotDelivered):
            brokers.send(b"by nobody", REFUSED_SECONDS)
        brokers.start(behind)
        assert wait_for(lambda: brokers.describe().leader == third, SECONDS_MAX)
        assert brokers.read() == [b"by three", b"by two"]
        brokers.send(b"by two again")
        assert brokers.read()[2:] == [b"by two again"]
