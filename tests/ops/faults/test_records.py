"""Records of a fault, as the oracle reads them in the log of a real broker."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta

import pytest

from contracts import CONTRACTS, HEARTBEATS, RECEIPTS
from contracts.validation import FUTURE, LATE
from generators.event import Dirt
from infra.errors import UserError
from infra.kafka import Record, create_admin, read_end_offsets
from infra.settings import Settings
from ops.faults import records
from ops.verify.log import read_topic
from ops.verify.validation import Content, Unreadable, read_record
from tests.services.broker import KafkaLog
from tests.services.world import NOON, announce

pytestmark = pytest.mark.e2e


def receipts(kafka: Settings) -> list[Record]:
    return list(read_topic(kafka, RECEIPTS.name))


def list_new(kafka: Settings, before: list[Record]) -> list[Record]:
    """The receipts beside those that there were before."""
    places = {(record.partition, record.offset) for record in before}
    return [record for record in receipts(kafka) if (record.partition, record.offset) not in places]


def list_contents(found: Iterable[Record]) -> Iterator[Content]:
    for record in found:
        with suppress(Unreadable):
            yield read_record(record)


def test_without_a_clock_nothing_is_published(kafka: Settings) -> None:
    with pytest.raises(UserError, match="world clock should be in its topic"):
        records.publish_spoilt(kafka, Dirt.MALFORMED, 1)


def test_receipts_of_a_store_that_was_cut_off_are_late_and_in_time(kafka: Settings) -> None:
    announce(log := KafkaLog(kafka))
    log.flush()
    assert records.publish_backlog(kafka, "CUT-OFF", 30) == 30
    contents = [read_record(record) for record in receipts(kafka)]
    assert len({content.event_id for content in contents}) == 30
    assert {content.untimely for content in contents} == {None}
    assert {content.movement["store_id"] for content in contents} == {"CUT-OFF"}
    oldest = min(content.movement["event_time"] for content in contents)
    assert NOON - oldest == timedelta(minutes=records.OFFLINE_MINUTES)


def test_copies_are_the_same_bytes_in_the_same_partitions(kafka: Settings) -> None:
    before = Counter((record.partition, record.key, record.value) for record in receipts(kafka))
    assert records.publish_copies(kafka, 3) == 90
    after = Counter((record.partition, record.key, record.value) for record in receipts(kafka))
    assert after == Counter({record: 4 * count for record, count in before.items()})


@pytest.mark.parametrize(
    ("minutes", "reason"), [(records.AHEAD_MINUTES, FUTURE), (-records.BEHIND_MINUTES, LATE)]
)
def test_receipts_by_a_wrong_clock_are_untimely_until_it_is_right(
    kafka: Settings, minutes: int, reason: str
) -> None:
    before = receipts(kafka)
    assert records.publish_by_wrong_clock(kafka, f"WRONG{minutes}", 20, minutes) == 40
    new = [read_record(record) for record in list_new(kafka, before)]
    assert [content.untimely for content in new] == [reason] * 20 + [None] * 20
    assert len({content.event_id for content in new}) == 40


@pytest.mark.parametrize("dirt", [Dirt.MALFORMED, Dirt.UNKNOWN_SCHEMA])
def test_nobody_can_read_what_is_spoilt(kafka: Settings, dirt: Dirt) -> None:
    before = receipts(kafka)
    assert records.publish_spoilt(kafka, dirt, 24) == 24
    new = list_new(kafka, before)
    assert len(new) == 24
    assert len({record.partition for record in new}) > 1
    for record in new:
        assert record.published_ms == NOON.timestamp() * 1000
        with pytest.raises(Unreadable):
            read_record(record)


def test_half_of_what_is_published_in_transactions_is_aborted(kafka: Settings) -> None:
    before = len(receipts(kafka))
    assert records.publish_transactions(kafka, 5, seconds=0.1) == 20
    assert len(receipts(kafka)) - before == 10


def test_each_id_of_a_restarted_counter_comes_at_two_times(kafka: Settings) -> None:
    assert records.publish_restarted(kafka, "AGAIN", 5) == 10
    contents = list_contents(receipts(kafka))
    found = [content for content in contents if content.movement["store_id"] == "AGAIN"]
    assert set(Counter(content.event_id for content in found).values()) == {2}
    assert len({(content.event_id, content.movement["event_time"]) for content in found}) == 10
    assert {content.untimely for content in found} == {None}


def test_backdated_receipts_come_twice_and_are_in_time_by_their_own_timestamps(
    kafka: Settings,
) -> None:
    now_ms = records.find_world_ms(kafka)
    assert records.publish_backdated(kafka, 5) == 10
    found = [record for record in receipts(kafka) if b"fault-back-" in (record.value or b"")]
    assert all(record.published_ms < now_ms - 4 * 3_600_000 for record in found)
    said = list(list_contents(found))
    assert list(Counter(content.event_id for content in said).values()) == [2] * 5
    assert {content.untimely for content in said} == {None}


def test_heartbeats_of_another_time_are_untimely_where_their_timestamps_tell(
    kafka: Settings,
) -> None:
    assert records.publish_beats(kafka) == 4
    contents = list_contents(read_topic(kafka, HEARTBEATS.name))
    beats = [beat for beat in contents if beat.movement["event_id"].startswith("fault-")]
    assert Counter(beat.untimely for beat in beats) == {None: 2, "future": 1, "late": 1}


def test_copies_by_another_partitioner_are_in_another_partition_or_copies(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "COPIES_READ_MAX", 100_000)
    before = receipts(kafka)
    assert records.publish_copies(kafka, in_place=False) == len(before)
    copies = list_new(kafka, before)
    assert Counter(copy.value for copy in copies) == Counter(record.value for record in before)
    home = {record.value: record.partition for record in before}
    assert any(record.partition != home[record.value] for record in copies)


def test_rubbish_is_in_every_topic(kafka: Settings) -> None:
    client = create_admin(kafka)
    topics = [name for name in CONTRACTS if name in client.list_topics(timeout=10).topics]
    before = read_end_offsets(client, topics)
    published = records.publish_rubbish(kafka)
    after = read_end_offsets(client, topics)
    assert published == sum(after.values()) - sum(before.values())
    assert {partition[0] for partition, end in after.items() if end > before[partition]} == set(
        topics
    )
