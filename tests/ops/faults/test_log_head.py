"""What is deleted of the log of a real broker, and what stays."""

from random import Random
from types import SimpleNamespace

import pytest

from contracts import HEARTBEATS, RECEIPTS
from infra.errors import UserError
from infra.kafka import Offsets, create_admin, read_end_offsets, read_start_offsets
from infra.lake import Coverage
from infra.settings import Settings
from ops.faults import log_head, records
from ops.faults.fault import Scene
from ops.faults.log_head import delete_head, find_unsaid_of, list_readers, refuse_deletion
from tests.brokers import get_producer
from tests.services.broker import KafkaLog
from tests.services.world import announce

Headers = dict[str, str | bytes | None]

pytestmark = pytest.mark.e2e


def scene(settings: Settings, *parts: str) -> Scene:
    return Scene(settings, dict.fromkeys(parts, 7), 1.0, Random(1))


def test_without_an_archive_it_is_refused() -> None:
    assert "LAKE=on" in (refuse_deletion(scene(Settings(), "broker")) or "")
    assert refuse_deletion(scene(Settings(), "broker", "lake")) is None


def test_what_a_reader_has_not_passed_stays(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce(log := KafkaLog(kafka))
    log.flush()
    records.publish_backlog(kafka, "CUT-OFF", 40)
    have_passed(monkeypatch, read_ends(kafka), {})
    with pytest.raises(UserError, match="should begin later"):
        delete_head(scene(kafka))


def test_half_of_what_every_reader_has_passed_is_deleted_each_time(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = read_ends(kafka)
    archived = {partition: max(0, end - 4) for partition, end in ends.items()}
    have_passed(monkeypatch, ends, archived)
    assert "of 1 partitions" in delete_head(scene(kafka))
    assert read_starts(kafka) == {partition: end // 2 for partition, end in archived.items()}
    delete_head(scene(kafka))
    assert read_starts(kafka) == {
        partition: (end // 2 + end) // 2 for partition, end in archived.items()
    }


def test_a_replay_lacks_an_archive_to_begin_in(kafka: Settings) -> None:
    assert "the records in between are lost" in (find_unsaid_of(kafka, "inventory") or "")


def test_the_last_record_of_the_simulator_stays(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others have published more after it."""
    topic = "public.sales.refund.v1"
    producer = get_producer(kafka)
    for number in range(10):
        headers: Headers = {"sequence": number.to_bytes(8, "big")} if number < 3 else {}
        producer.produce(topic, b"refund", key=b"S000", partition=1, headers=headers)
    producer.flush()
    ends = read_ends(kafka)
    have_passed(monkeypatch, ends, ends)
    delete_head(scene(kafka))
    assert read_starts(kafka)[topic, 1] == 2


def test_each_running_generation_is_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """One without a marker has passed nothing; of a topic that it does not read, all."""
    running = SimpleNamespace(running=[SimpleNamespace(number=1), SimpleNamespace(number=2)])
    marker = SimpleNamespace(inputs={(RECEIPTS.name, 0): 5, (HEARTBEATS.name, 0): 3})
    have_passed(monkeypatch, {}, {})
    monkeypatch.setattr(log_head, "read_generations", lambda _: {"inventory": running})
    monkeypatch.setattr(log_head, "read_markers", lambda _: {("inventory", 1): marker})
    ends = {(RECEIPTS.name, 0): 9, ("public.sales.refund.v1", 0): 7}
    *_, first, second = list_readers(Settings(), ends)
    assert {partition: first[partition] for partition in ends} == {**ends, (RECEIPTS.name, 0): 5}
    assert second == {}


def have_passed(monkeypatch: pytest.MonkeyPatch, listed: Offsets, archived: Offsets) -> None:
    monkeypatch.setattr(log_head, "read_progress", lambda _: listed)
    monkeypatch.setattr(log_head, "read_coverage", lambda _: Coverage(1, archived))


def read_ends(settings: Settings) -> Offsets:
    return read_end_offsets(create_admin(settings), log_head.TOPICS)


def read_starts(settings: Settings) -> Offsets:
    return read_start_offsets(create_admin(settings), log_head.TOPICS)
