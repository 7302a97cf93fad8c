"""Records of a fault, as the oracle reads them in the log of a real broker."""

from collections import Counter
from datetime import timedelta

import pytest

from contracts import RECEIPTS
from contracts.validation import FUTURE, LATE
from generators.event import Dirt
from infra.errors import UserError
from infra.kafka import Record, create_admin, read_end_offsets
from infra.settings import Settings
from ops.faults import records
from ops.verify.log import read
from ops.verify.validation import Unreadable, read_record
from tests.services.broker import KafkaLog
from tests.services.world import NOON, announce

pytestmark = pytest.mark.e2e


def receipts(kafka: Settings) -> list[Record]:
    return list(read(kafka, read_end_offsets(create_admin(kafka), [RECEIPTS.name])))


def test_without_a_clock_nothing_is_published(kafka: Settings) -> None:
    with pytest.raises(UserError, match="world clock should be in its topic"):
        records.publish_spoilt(kafka, Dirt.MALFORMED, 1)


def test_receipts_of_a_store_that_was_cut_off_are_late_and_in_time(kafka: Settings) -> None:
    announce(log := KafkaLog(kafka))
    log.flush()
    assert records.publish_backlog(kafka, "CUT-OFF", 30) == 30
    contents = [read_record(one) for one in receipts(kafka)]
    assert len({one.event_id for one in contents}) == 30
    assert {one.untimely for one in contents} == {None}
    assert {one.movement["store_id"] for one in contents} == {"CUT-OFF"}
    oldest = min(one.movement["event_time"] for one in contents)
    assert NOON - oldest == timedelta(minutes=records.OFFLINE_MINUTES)


def test_copies_are_the_same_bytes_in_the_same_partitions(kafka: Settings) -> None:
    before = Counter((one.partition, one.key, one.value) for one in receipts(kafka))
    assert records.publish_copies(kafka, 3) == 90
    after = Counter((one.partition, one.key, one.value) for one in receipts(kafka))
    assert after == Counter({record: 4 * count for record, count in before.items()})


def test_no_more_than_the_newest_receipts_are_copied(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "COPIES_READ_MAX", RECEIPTS.settings.partitions * 2)
    partitions = {one.partition for one in receipts(kafka)}
    assert records.publish_copies(kafka, 1) == 2 * len(partitions)


@pytest.mark.parametrize(
    ("minutes", "reason"),
    [(records.AHEAD_MINUTES, FUTURE), (-records.BEHIND_MINUTES, LATE)],
)
def test_receipts_by_a_wrong_clock_are_untimely_until_it_is_right(
    kafka: Settings, minutes: int, reason: str
) -> None:
    before = {(one.partition, one.offset) for one in receipts(kafka)}
    assert records.publish_by_wrong_clock(kafka, f"WRONG{minutes}", 20, minutes) == 40
    new = [read_record(one) for one in receipts(kafka) if (one.partition, one.offset) not in before]
    assert [one.untimely for one in new] == [reason] * 20 + [None] * 20
    assert len({one.event_id for one in new}) == 40


@pytest.mark.parametrize("dirt", [Dirt.MALFORMED, Dirt.UNKNOWN_SCHEMA])
def test_nobody_can_read_what_is_spoilt(kafka: Settings, dirt: Dirt) -> None:
    before = {(one.partition, one.offset) for one in receipts(kafka)}
    assert records.publish_spoilt(kafka, dirt, 24) == 24
    new = [one for one in receipts(kafka) if (one.partition, one.offset) not in before]
    assert len(new) == 24
    assert len({one.partition for one in new}) > 1
    for one in new:
        assert one.published_ms == NOON.timestamp() * 1000
        with pytest.raises(Unreadable):
            read_record(one)
