"""Every rejected record is in the quarantine, once under its key, after any kill."""

from collections.abc import Sequence
from threading import Event
from typing import Any

import pytest
from confluent_kafka import Producer

from contracts import ADJUSTMENTS, PRODUCTS, QUARANTINE, RECEIPTS, decode, encode_key
from contracts.validation import VALIDATED
from infra.kafka import Record, create_admin, create_consumer, read_end_offsets, read_to_end
from infra.settings import Settings
from infra.wait import wait_until
from services.quarantine import follower
from services.quarantine.follower import GROUP, commit, copy_rejected, follow, read_progress
from tests.services.at_work import at_work
from tests.services.quarantine.publishing import HOUR_MS, Place, publish
from tests.transactions import open_transaction, write_transaction

pytestmark = pytest.mark.e2e


def is_caught_up(kafka: Settings) -> bool:
    return read_progress(kafka) == read_end_offsets(create_admin(kafka), VALIDATED)


def read_quarantine(kafka: Settings) -> dict[Place, dict[str, Any]]:
    records = read_to_end(kafka, QUARANTINE.name)
    rows = [decode(value).value for value in records.values()]
    assert sorted(records) == sorted(encode_key(QUARANTINE, row) for row in rows)
    return {(row["topic"], row["partition"], row["offset"]): dict(row) for row in rows}


def test_the_rejected_are_listed_and_nothing_else(kafka: Settings) -> None:
    publish(kafka, RECEIPTS)
    late = publish(kafka, RECEIPTS, 3 * HOUR_MS)
    broken = publish(kafka, ADJUSTMENTS, units=0)
    product = publish(kafka, PRODUCTS, sku="a/b")
    with at_work(follow, kafka):
        wait_until(lambda: is_caught_up(kafka), "everything is validated")
    listed = read_quarantine(kafka)
    assert listed.keys() == {late, broken, product}
    assert listed[late]["reason"] == "late"
    assert listed[broken]["reason"] == "units is not 0"


def test_it_passes_what_a_transaction_leaves_in_the_log(kafka: Settings) -> None:
    place = (RECEIPTS.name, 0)
    before = read_quarantine(kafka)
    write_transaction(kafka, place, [b"aborted"], commits=False)
    with at_work(follow, kafka):
        wait_until(lambda: is_caught_up(kafka), "the end of the transaction is passed")
        with open_transaction(kafka, place, [b"open"]):
            publish(kafka, RECEIPTS)
            wait_until(lambda: is_caught_up(kafka), "it waits at the open transaction")
        wait_until(lambda: is_caught_up(kafka), "what is behind it is validated")
    assert read_quarantine(kafka) == before


def test_it_goes_on_where_it_stood(kafka: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[Record] = []

    def note_batch(client: Producer, batch: Sequence[Record]) -> int:
        copied.extend(batch)
        return copy_rejected(client, batch)

    monkeypatch.setattr(follower, "copy_rejected", note_batch)
    late = publish(kafka, RECEIPTS, 4 * HOUR_MS)
    with at_work(follow, kafka):
        wait_until(lambda: is_caught_up(kafka), "everything is validated")
    assert [(record.topic, record.partition, record.offset) for record in copied] == [late]


def test_a_copy_that_was_not_committed_is_made_again_and_changes_nothing(kafka: Settings) -> None:
    with at_work(follow, kafka):
        wait_until(lambda: is_caught_up(kafka), "everything is validated")
    before = read_quarantine(kafka)
    forgotten = dict.fromkeys(read_progress(kafka), 0)
    reader = create_consumer(kafka, GROUP)
    commit(reader, forgotten)
    reader.close()
    assert not is_caught_up(kafka)
    with at_work(follow, kafka):
        wait_until(lambda: is_caught_up(kafka), "everything is validated again")
    assert read_quarantine(kafka) == before


def test_nothing_is_committed_that_was_not_copied(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(_: object, batch: Sequence[Record]) -> int:
        if batch:
            stop.set()
            raise InterruptedError
        return 0

    stop = Event()
    monkeypatch.setattr(follower, "copy_rejected", die)
    publish(kafka, RECEIPTS, 5 * HOUR_MS)
    with pytest.raises(InterruptedError):
        follow(kafka, stop)
    assert not is_caught_up(kafka)
