"""What a client of somebody else publishes, as the oracle reads it in the log of a real broker."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import pytest

from contracts import CONTRACTS, HEARTBEATS, RECEIPTS
from infra.kafka import Record, create_admin, read_end_offsets
from infra.settings import Settings
from ops.faults import records
from ops.verify.log import read
from ops.verify.validation import Content, Unreadable, read_record
from tests.services.broker import KafkaLog
from tests.services.world import announce

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def _clock(kafka: Settings) -> None:
    announce(log := KafkaLog(kafka))
    log.flush()


def read_topic(kafka: Settings, topic: str) -> list[Record]:
    return list(read(kafka, read_end_offsets(create_admin(kafka), [topic])))


def list_contents(found: list[Record]) -> Iterator[Content]:
    for record in found:
        with suppress(Unreadable):
            yield read_record(record)


def test_half_of_what_is_published_in_transactions_is_aborted(kafka: Settings) -> None:
    before = len(read_topic(kafka, RECEIPTS.name))
    assert records.publish_transactions(kafka, 5, seconds=0.1) == 20
    assert len(read_topic(kafka, RECEIPTS.name)) - before == 10


def test_each_id_of_a_restarted_counter_comes_at_two_times(kafka: Settings) -> None:
    assert records.publish_restarted(kafka, "AGAIN", 5) == 10
    found = [
        one
        for one in list_contents(read_topic(kafka, RECEIPTS.name))
        if one.movement["store_id"] == "AGAIN"
    ]
    assert set(Counter(one.event_id for one in found).values()) == {2}
    assert len({(one.event_id, one.movement["event_time"]) for one in found}) == 10
    assert {one.untimely for one in found} == {None}


def test_backdated_receipts_come_twice_and_are_in_time_by_their_own_timestamps(
    kafka: Settings,
) -> None:
    now_ms = records.find_world_ms(kafka)
    assert records.publish_backdated(kafka, 5) == 10
    found = [
        one for one in read_topic(kafka, RECEIPTS.name) if b"fault-back-" in (one.value or b"")
    ]
    assert all(one.published_ms < now_ms - 4 * 3_600_000 for one in found)
    said = list(list_contents(found))
    assert list(Counter(one.event_id for one in said).values()) == [2] * 5
    assert {one.untimely for one in said} == {None}


def test_heartbeats_of_another_time_are_untimely_where_their_timestamps_tell(
    kafka: Settings,
) -> None:
    assert records.publish_beats(kafka) == 4
    beats = [
        one
        for one in list_contents(read_topic(kafka, HEARTBEATS.name))
        if one.movement["event_id"].startswith("fault-")
    ]
    assert Counter(one.untimely for one in beats) == {None: 2, "future": 1, "late": 1}


def test_copies_by_another_partitioner_are_in_another_partition_or_copies(kafka: Settings) -> None:
    before = read_topic(kafka, RECEIPTS.name)
    assert records.publish_elsewhere(kafka) == len(before)
    after = read_topic(kafka, RECEIPTS.name)
    places = {(one.partition, one.offset): one.value for one in before}
    copies = [one for one in after if (one.partition, one.offset) not in places]
    assert Counter(one.value for one in copies) == Counter(places.values())
    home = {one.value: one.partition for one in before}
    assert any(one.partition != home[one.value] for one in copies)


def test_rubbish_is_in_every_topic(kafka: Settings) -> None:
    client = create_admin(kafka)
    topics = [name for name in CONTRACTS if name in client.list_topics(timeout=10).topics]
    before = read_end_offsets(client, topics)
    published = records.publish_rubbish(kafka)
    after = read_end_offsets(client, topics)
    assert published == sum(after.values()) - sum(before.values())
    assert {at[0] for at, end in after.items() if end > before[at]} == set(topics)
