"""Readers of the log see what is committed, whatever else has offsets, and come to its end."""

import pytest
from confluent_kafka import Producer

from contracts import ADJUSTMENTS, RECEIPTS
from generators.resume import find_last_published
from infra.kafka import create_admin, read_end_offsets, read_to_end
from infra.settings import Settings
from ops.verify.log import read
from pipelines.engine.backlog import measure_backlog
from pipelines.engine.beats import BeatLimit
from tests.brokers import get_producer, read_all
from tests.transactions import Transactions, open_transaction, write_transaction

pytestmark = pytest.mark.e2e

TOPIC = RECEIPTS.name
AT = (TOPIC, 0)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that waits for a record that will not come fails soon."""
    monkeypatch.setattr("infra.kafka.read.IDLE_SECONDS_MAX", 5.0)
    monkeypatch.setattr("pipelines.engine.backlog.READ_SECONDS_MAX", 5.0)


def write_plain(kafka: Settings, value: bytes, partition: int = 0, sequence: bool = False) -> None:
    headers: dict[str, str | bytes | None] = {"sequence": value} if sequence else {}
    client: Producer = get_producer(kafka)
    client.produce(TOPIC, value, partition=partition, headers=headers)
    assert client.flush(30) == 0


def test_a_log_is_read_up_to_an_open_transaction(kafka: Settings) -> None:
    write_transaction(kafka, AT, [b"aborted"], commits=False)
    write_transaction(kafka, AT, [b"1", b"2"], commits=True)
    with open_transaction(kafka, AT, [b"open"]):
        write_plain(kafka, b"behind")
        end = read_end_offsets(create_admin(kafka), [TOPIC])[AT]
        assert end == 5, "two records and an end, and one record and its end"
        assert list(read_all(kafka, TOPIC)) == [b"1", b"2"]
        assert [record.value for record in read(kafka, {AT: end})] == [b"1", b"2"]
    assert list(read_all(kafka, TOPIC)) == [b"1", b"2", b"behind"]
    assert read_to_end(kafka, TOPIC)


def test_a_log_that_ends_with_aborted_records_alone_is_read_to_its_end(kafka: Settings) -> None:
    """The end of the aborted transaction lies behind the begin of the open one."""
    partition = (TOPIC, 1)
    aborted, still_open = Transactions(kafka), Transactions(kafka)
    aborted.begin()
    still_open.begin()
    write_plain(kafka, b"1", partition=1)
    for number in range(3):
        aborted.write(partition, b"", b"aborted %d" % number, 1)
    still_open.write(partition, b"", b"open", 1)
    aborted.abort()
    try:
        end = read_end_offsets(create_admin(kafka), [TOPIC])[partition]
        assert end == 4
        assert [record.value for record in read(kafka, {partition: end})] == [b"1"]
    finally:
        still_open.abort()


def test_a_backlog_of_gaps_alone_is_measured(kafka: Settings) -> None:
    topics = [ADJUSTMENTS.name]
    read_so_far = read_end_offsets(create_admin(kafka), topics)
    write_transaction(kafka, (ADJUSTMENTS.name, 0), [b"aborted"], commits=False)
    behind = measure_backlog(kafka, topics, read_so_far, BeatLimit.read(kafka))
    assert behind.span.total_seconds() == 0


def test_the_simulator_finds_its_last_record_behind_an_open_transaction(kafka: Settings) -> None:
    partition = (TOPIC, 2)
    write_plain(kafka, b"\1", partition=2, sequence=True)
    with open_transaction(kafka, partition, [b"open"]):
        write_plain(kafka, b"\2", partition=2, sequence=True)
        found = find_last_published(kafka, [TOPIC], "sequence")
    assert found[partition].value() == b"\2"
