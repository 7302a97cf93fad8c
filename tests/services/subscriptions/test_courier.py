"""By which id a notification is sent, and what is written down of an attempt that failed."""

from dataclasses import replace
from ipaddress import ip_network

import pytest

from contracts import NOTIFICATIONS, PROGRESS, build_model, decode
from services.subscriptions import courier
from services.subscriptions.addresses import AllowList
from services.subscriptions.courier import ERROR_CHARACTERS_MAX, PLACE, Courier, Undelivered, park
from services.subscriptions.records import PARKED, Notification, Progress
from tests.services.memory import MemoryLog
from tests.services.subscriptions.made import create_subscription
from tests.services.subscriptions.receiver import Receiver, receiving


@pytest.mark.parametrize("more", [-1, 0, 1, 100_000])
def test_of_a_long_error_the_beginning_is_kept(more: int) -> None:
    progress = Progress(subscription_id="9f31c0d2a4b5e6f7", retry_at=1)
    park(progress, Undelivered("x" * (ERROR_CHARACTERS_MAX + more)))
    row = decode(progress.to_record().value).value
    build_model(PROGRESS).model_validate(row)
    assert (row["state"], row["retry_at"]) == (PARKED, None)
    assert row["error"] == "x" * min(ERROR_CHARACTERS_MAX, ERROR_CHARACTERS_MAX + more)


def publish(log: MemoryLog, written_ms: int, matches: bool) -> None:
    """The notification of one row, which was found in the same place of its view each time."""
    one = Notification(
        subscription_id=create_subscription().subscription_id,
        row_key="S001/A",
        generation=1,
        version=1,
        matches=matches,
        partition=0,
        offset=7,
        row="{}",
    ).to_record()
    log.publish(PLACE, one.key, one.value, written_ms)


def deliver(receiver: Receiver, log: MemoryLog) -> None:
    """Send all that the log holds."""
    subscription = replace(create_subscription(), address=receiver.address)
    allowed = AllowList(frozenset({receiver.place}), (ip_network("127.0.0.0/8"),))
    sender = Courier(subscription, "whsec_", allowed)
    with log.open([NOTIFICATIONS.name]) as queue:
        progress = Progress(subscription_id=subscription.subscription_id)
        progress.waiting = sum(queue.read_extent().ends.values())
        queue.start({PLACE: 0})
        while progress.waiting:
            sender.deliver(queue, progress)


def create_log() -> MemoryLog:
    log = MemoryLog()
    log.make(NOTIFICATIONS.name, 1)
    publish(log, 1_000, matches=True)
    return log


def test_what_fills_a_place_of_a_restored_log_anew_is_not_taken_for_what_was_there() -> None:
    lost, restored = create_log(), create_log()
    publish(lost, 2_000, matches=False)
    for written_ms, matches in ((3_000, False), (3_001, True)):
        publish(restored, written_ms, matches=matches)
    with receiving() as receiver:
        deliver(receiver, lost)
        assert receiver.find_matching() == set()
        deliver(receiver, restored)
        assert receiver.find_matching() == {"S001/A"}
    ids = [one.headers["webhook-id"] for one in receiver.hooks]
    assert ids[0] == ids[2]
    assert len(set(ids)) == 4


def test_a_notification_that_is_tried_again_has_the_same_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(courier, "PAUSE_SECONDS_MIN", 0.0)
    with receiving() as receiver:
        receiver.answer = lambda number: 200 if number > 2 else 500
        deliver(receiver, create_log())
    assert len(receiver.hooks) == 3
    assert len({one.headers["webhook-id"] for one in receiver.hooks}) == 1
