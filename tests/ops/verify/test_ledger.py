"""The audit against a real log: it closes over every kind of dirt, and it can fail."""

from threading import Event as Signal

import pytest

from contracts import (
    ADJUSTMENTS,
    RECEIPTS,
    REFUNDS,
    RELEASES,
    SHIPMENTS,
    decode,
    encode,
    encode_key,
)
from contracts.times import to_epoch_ms
from generators.simulator import simulate
from infra.kafka import Partition, create_admin, read_end_offsets
from infra.settings import Settings
from ops.verify.inventory import Oracle
from ops.verify.ledger import DIRT, SEEN, Audit, audit_ledger
from ops.verify.log import read
from services.quarantine.release import read_record
from tests.services.quarantine.publishing import put
from tests.worlds import shrink_world

pytestmark = pytest.mark.e2e

MOVING = [topic.name for topic in (RECEIPTS, REFUNDS, SHIPMENTS, ADJUSTMENTS)]


@pytest.fixture(scope="module")
def dirty(kafka: Settings) -> Settings:
    """The log of one day in a small and very dirty world."""
    settings = shrink_world(kafka, 4, 60, 2.0, simulator_dirt=40)
    simulate(settings, Signal(), backfill_days=1, live=False)
    return settings


@pytest.fixture
def ends(dirty: Settings) -> dict[Partition, int]:
    return read_end_offsets(create_admin(dirty), MOVING)


@pytest.fixture
def oracle(dirty: Settings, ends: dict[Partition, int]) -> Oracle:
    return Oracle(read(dirty, ends), ends)


def test_at_the_end_of_the_log_everything_closes(dirty: Settings, oracle: Oracle) -> None:
    audited = audit_ledger(dirty, oracle)
    assert all(audited.dirt[kind] > 0 for kind in DIRT)
    assert audited.differences == []
    assert audited.seen["untimely"][0] > 0
    assert audited.seen["unreadable"][0] > 0
    assert audited.agrees
    assert audited.made
    assert audited.quarantined > 0


def test_at_any_other_offsets_everything_closes_too(
    dirty: Settings, ends: dict[Partition, int]
) -> None:
    for share in (0.3, 0.55, 0.8):
        # Most adjustments are openings: the first page lies behind them.
        cut = {
            partition: end if partition[0] == ADJUSTMENTS.name else int(end * share)
            for partition, end in ends.items()
        }
        audited = audit_ledger(dirty, Oracle(read(dirty, cut), cut))
        assert audited.agrees
        assert audited.pages > 0


def test_before_the_first_page_the_audit_is_not_made(
    dirty: Settings, ends: dict[Partition, int]
) -> None:
    first = {partition: min(end, 5) for partition, end in ends.items()}
    audited = audit_ledger(dirty, Oracle(read(dirty, first), first))
    assert (audited.pages, audited.made) == (0, False)


def test_a_line_that_is_lost_is_found(dirty: Settings, oracle: Oracle) -> None:
    oracle.engine.execute(
        'delete from extracted where "offset" = (select max("offset") / 2 from extracted)'
    )
    assert audit_ledger(dirty, oracle).differences


def test_a_released_movement_is_no_longer_missing(dirty: Settings, oracle: Oracle) -> None:
    before = audit_ledger(dirty, oracle)
    missing = oracle.engine.sql(
        """
        select topic, partition, min("offset"), count(distinct sku)
        from extracted
        group by topic, partition, event_id
        having not bool_or(on_time)
        """
    )
    topic, partition, offset, shelves = missing.fetchall()[0]
    original = read_record(dirty, topic, partition, offset)
    movement = decode(original.value).value
    event = {
        **RELEASES.examples[0],
        "topic": topic,
        "record_key": movement["store_id"],
        "original_event_id": movement["event_id"],
        "value": original.value,
    }
    key, value = encode_key(RELEASES, event), encode(RELEASES, event)
    put(dirty, RELEASES, key, value, to_epoch_ms(event["event_time"]))
    ends = read_end_offsets(create_admin(dirty), [*MOVING, RELEASES.name])
    after = audit_ledger(dirty, Oracle(read(dirty, ends), ends))
    assert after.agrees
    assert after.quarantined == before.quarantined - shelves


@pytest.mark.parametrize(
    ("what", "forget"),
    [
        ("unreadable", "delete from unreadable where sequence < 1000"),
        ("untimely", "update extracted set on_time = true"),
        ("repeated", 'update extracted set event_id = event_id || "offset"'),
    ],
)
def test_dirt_that_the_log_does_not_show_is_found(
    dirty: Settings, oracle: Oracle, what: str, forget: str
) -> None:
    oracle.engine.execute(forget)
    audited: Audit = audit_ledger(dirty, oracle)
    ledger, log = audited.seen[what]
    assert ledger != log
    assert not audited.agrees
    assert what in SEEN
