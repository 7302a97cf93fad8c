"""From a change in a view to a web hook, over a real broker and real connections."""

import json
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus

import pytest

from contracts import STOCK_LEVELS
from infra.kafka import send_all
from infra.processes import start_module
from infra.settings import Settings
from infra.wait import wait_until
from services.api.app import create_sources
from services.api.commands import Commands
from services.clock import get_wall_ms
from services.subscriptions import courier, finder, matching
from services.subscriptions.courier import ATTEMPTS_MAX
from services.subscriptions.records import PARKED, Subscription
from services.subscriptions.signature import derive_secret, locate_key, read_key
from tests.brokers import get_producer
from tests.services.serving import TOKEN, serving
from tests.services.subscriptions.receiver import receiving, verify
from tests.services.subscriptions.subscribing import LOW, Subscribed
from tests.services.writing import Writing

pytestmark = pytest.mark.e2e


@pytest.fixture
def shop(kafka: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Subscribed]:
    """A view with a shelf of each kind at its first marker; what fails is tried again at once."""
    monkeypatch.setattr(courier, "PAUSE_SECONDS_MIN", 0.05)
    monkeypatch.setattr(courier, "PAUSE_SECONDS_MAX", 0.2)
    with receiving() as receiver:
        made = Subscribed(kafka, receiver)
        made.rows(low=2, high=9)
        made.promote(made.stock)
        yield made
        made.end_all()


def test_what_begins_or_ceases_to_match_is_sent_in_order_and_signed(shop: Subscribed) -> None:
    subscription = shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        for units in (8, 3, 1, 7, 9, 5):
            shop.row("high", units)
        shop.rows(low=6)
        hooks = shop.receiver.await_hooks(4)
        shop.await_progress(subscription, delivered=4, waiting=0)
    assert sorted(shop.receiver.list_matches()) == sorted(
        [("S001/high", True), ("S001/high", False), ("S001/high", True), ("S001/low", False)]
    )
    high = [one.event for one in hooks if one.event["subject"] == "S001/high"]
    assert [one["data"]["row"]["units_on_hand"] for one in high] == [3, 7, 5]
    assert [one["sequence"] for one in high] == sorted(one["sequence"] for one in high)
    secret = derive_secret(read_key(shop.settings), subscription.subscription_id)
    for hook in hooks:
        event = hook.event
        assert verify(hook, secret)
        assert not verify(replace(hook, body=hook.body + b" "), secret)
        assert abs(int(hook.headers["webhook-timestamp"]) - get_wall_ms() / 1000) < 60
        assert event["id"] == hook.headers["webhook-id"]
        assert event["specversion"] == "1.0"
        assert event["source"] == f"/v1/views/{subscription.view}"
        assert event["type"] in (courier.BEGAN, courier.CEASED)
        assert event["partitionkey"] == event["subject"]
        assert event["data"]["subscription"] == subscription.subscription_id


def test_from_the_beginning_rows_that_match_already_are_sent(shop: Subscribed) -> None:
    shop.subscribe(from_beginning=True)
    with shop.working():
        shop.receiver.await_hooks(1)
        shop.rows(high=1)
        shop.receiver.await_hooks(2)
    assert shop.receiver.list_matches() == [("S001/low", True), ("S001/high", True)]


def test_changes_between_the_stated_marker_and_the_start_are_sent(shop: Subscribed) -> None:
    shop.subscribe()
    shop.rows(low=9, high=1)
    shop.rows(low=1)
    with shop.working():
        shop.receiver.await_hooks(3)
    said = shop.receiver.list_matches()
    assert [one for one in said if one[0] == "S001/low"] == [
        ("S001/low", False),
        ("S001/low", True),
    ]
    assert ("S001/high", True) in said


@pytest.mark.parametrize("status", [500, 404, 302])
def test_what_is_not_taken_is_sent_again_before_what_comes_after(
    shop: Subscribed, status: int
) -> None:
    shop.receiver.answer = lambda number: status if number <= 3 else 200
    subscription = shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        shop.rows(high=1)
        shop.rows(high=9)
        hooks = shop.receiver.await_hooks(5)
        progress = shop.await_progress(subscription, delivered=2)
    assert shop.receiver.list_matches() == [("S001/high", True)] * 4 + [("S001/high", False)]
    assert len({one.event["id"] for one in hooks[:4]}) == 1
    assert (progress.attempts, progress.error, progress.waiting) == (0, None, 0)


def test_a_receiver_that_was_down_misses_nothing(shop: Subscribed) -> None:
    subscription = shop.subscribe()
    shop.receiver.down()
    with shop.working():
        shop.await_started(subscription)
        for units in (1, 9, 2, 8, 3):
            shop.rows(high=units, low=units)
        # low matched at the marker, so it has one change less
        shop.await_progress(subscription, waiting=9)
        progress = shop.read_progress(subscription)
        assert progress.attempts > 0
        assert progress.waiting_since is not None
        assert progress.error is not None
        assert "refused" in progress.error
        shop.receiver.up()
        shop.await_progress(subscription, delivered=9, waiting=0)
    for key, begins in (("S001/high", True), ("S001/low", False)):
        said = [matches for one, matches in shop.receiver.list_matches() if one == key]
        assert said == [begins if at % 2 == 0 else not begins for at in range(len(said))]


def test_a_restart_goes_on_where_it_was(shop: Subscribed) -> None:
    subscription = shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        shop.rows(high=1)
        shop.await_progress(subscription, delivered=1)
    shop.rows(high=9, low=8)
    with shop.working():
        shop.receiver.await_hooks(3)
        shop.rows(high=2)
        shop.await_progress(subscription, delivered=4, waiting=0)
    said = shop.receiver.list_matches()
    assert [one for one in said if one[0] == "S001/high"] == [
        ("S001/high", True),
        ("S001/high", False),
        ("S001/high", True),
    ]
    assert len(said) == 4


def test_a_killed_process_loses_nothing_and_keeps_the_order(shop: Subscribed) -> None:
    """kill -9 as soon as the first hook is there, whether its delivery is written or not."""
    subscription = shop.subscribe()
    log = shop.settings.data_dir / "subscriptions.log"
    process = start_module(shop.settings, log, "services.subscriptions")
    try:
        shop.await_started(subscription)
        for units in (1, 9, 2, 8, 3):
            shop.row("high", units)
        shop.mark()
        shop.receiver.await_hooks(1)
    finally:
        process.kill()
        process.wait()
    with shop.working():
        shop.await_progress(subscription, delivered=5, waiting=0)
    received = [one.event["data"]["row"]["units_on_hand"] for one in shop.receiver.hooks]
    told = list(dict.fromkeys(received))
    assert told == [1, 9, 2, 8, 3]
    # after the kill it begins again at most where it began, and goes on in order
    restart = next(
        (at for at in range(1, len(received)) if received[at] in received[:at]), len(received)
    )
    assert received[restart:] == told[5 - len(received[restart:]) :] or restart == len(received)


def fail_until_parked(shop: Subscribed, monkeypatch: pytest.MonkeyPatch, attempts: int) -> None:
    """Let the receiver refuse so many attempts, the last of which parks the subscription."""
    monkeypatch.setattr(courier, "ATTEMPTS_MAX", attempts)
    shop.receiver.answer = lambda number: 500 if number <= attempts else 200


def test_after_so_many_attempts_it_is_parked_and_can_be_resumed(
    shop: Subscribed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ATTEMPTS_MAX == 40
    fail_until_parked(shop, monkeypatch, 3)
    subscription = shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        shop.rows(high=1)
        progress = shop.await_progress(subscription, state=PARKED)
        assert progress.attempts == 3
        assert progress.error == "Expected a status of 200 to 299, found 500."
        shop.rows(low=9)
        shop.await_progress(subscription, waiting=2)
        assert len(shop.receiver.hooks) == 3
    with shop.working():
        shop.rows(third=1)
        shop.await_progress(subscription, waiting=3)
        assert len(shop.receiver.hooks) == 3, "it is parked after a restart, too"
        shop.resume(subscription)
        shop.await_progress(subscription, state="active", delivered=3, waiting=0)
    told = [("S001/low", False), ("S001/third", True)]
    assert shop.receiver.list_matches() == [("S001/high", True)] * 4 + told


def test_a_notification_that_is_never_taken_can_be_skipped(
    shop: Subscribed, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_until_parked(shop, monkeypatch, 2)
    subscription = shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        shop.rows(high=1)
        shop.rows(low=9)
        head = shop.await_progress(subscription, state=PARKED, waiting=2).head
        shop.resume(subscription, skipped=head)
        shop.await_progress(subscription, delivered=1, waiting=0)
    assert shop.receiver.list_matches() == [("S001/high", True)] * 2 + [("S001/low", False)]


def test_a_host_that_leads_into_a_private_network_is_not_sent_to(shop: Subscribed) -> None:
    shop.settings = shop.settings.model_copy(update={"subscription_networks": ""})
    subscription = shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        shop.rows(high=1)
        progress = shop.await_progress(subscription, state=PARKED)
    assert "private network" in (progress.error or "")
    assert shop.receiver.hooks == []


def test_a_promotion_sends_only_what_the_new_generation_says_otherwise(shop: Subscribed) -> None:
    subscription = shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        shop.rows(gone=1, other=1)
        shop.receiver.await_hooks(2)
        candidate = shop.create_generation()
        for sku, units in (("low", 9), ("low", 1), ("other", 1), ("other", 8), ("high", 7)):
            shop.row(sku, units, candidate)
        shop.mark(candidate)
        shop.promote(candidate)
        shop.await_progress(subscription, generation=candidate.generation, delivered=4)
        shop.rows(high=1)
        hooks = shop.receiver.await_hooks(5)
    said = shop.receiver.list_matches()
    assert sorted(said[2:4]) == [("S001/gone", False), ("S001/other", False)]
    assert said[4:] == [("S001/high", True)]
    [gone] = [one.event for one in hooks[2:4] if one.event["subject"] == "S001/gone"]
    assert gone["data"]["row"] is None
    assert gone["data"]["generation"] == candidate.generation
    assert "time" not in gone


def test_who_drops_what_came_before_by_its_id_ends_with_the_right_rows(shop: Subscribed) -> None:
    subscription = shop.subscribe()
    first, second = shop.stock, shop.create_generation()
    shop.row("high", 1, second)
    shop.row("low", 9, second)
    shop.mark(second)
    with shop.working():
        before = shop.await_started(subscription)
        for generation, delivered in ((second, 2), (first, 4), (second, 6)):
            shop.promote(generation)
            shop.await_progress(
                subscription, generation=generation.generation, delivered=delivered, waiting=0
            )
            assert shop.receiver.find_matching({"S001/low"}) == find_low(shop, first)
    sent = len(shop.receiver.hooks)
    assert len({one.event["id"] for one in shop.receiver.hooks}) == sent == 6
    send_all(get_producer(shop.settings), [before.to_record()])
    with shop.working():
        shop.receiver.await_hooks(2 * sent)
        shop.rows(low=1)
        shop.await_progress(subscription, waiting=0, generation=second.generation)
        shop.receiver.await_hooks(2 * sent + 1)
    assert len({one.event["id"] for one in shop.receiver.hooks}) == sent + 1
    assert shop.receiver.find_matching({"S001/low"}) == {"S001/high", "S001/low"}


def find_low(shop: Subscribed, first: Writing) -> set[str]:
    """The rows that match: each generation has another one."""
    return {"S001/low"} if shop.stock is first else {"S001/high"}


def test_what_was_ended_is_sent_no_more_and_nothing_is_kept_of_it(shop: Subscribed) -> None:
    subscription, other = shop.subscribe(), shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        shop.await_started(other)
        shop.end(subscription)
        wait_until(lambda: not shop.list_kept(subscription.subscription_id), "it is forgotten")
        shop.rows(high=1)
        shop.await_progress(other, delivered=1)
        assert shop.list_kept(subscription.subscription_id) == []
    assert len(shop.list_kept(other.subscription_id)) == 3  # low, high, its progress
    assert [one.event["data"]["subscription"] for one in shop.receiver.hooks] == [
        other.subscription_id
    ]


def test_one_receiver_that_is_down_holds_up_no_other(shop: Subscribed) -> None:
    with receiving() as down:
        down.down()
        hosts = f"{shop.receiver.place},{down.place}"
        shop.settings = shop.settings.model_copy(update={"subscription_hosts": hosts})
        held, free = shop.subscribe(address=down.address), shop.subscribe()
        with shop.working():
            shop.await_started(held)
            shop.await_started(free)
            shop.rows(high=1)
            shop.await_progress(free, delivered=1)
            assert shop.await_progress(held, waiting=1).delivered == 0


def test_a_filter_that_too_many_rows_match_is_parked(
    shop: Subscribed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "ROWS_MAX", 2)
    subscription = shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        shop.rows(high=1)
        shop.receiver.await_hooks(1)
        shop.rows(third=1)
        progress = shop.await_progress(subscription, state=PARKED)
    assert "a filter that fewer rows match" in (progress.error or "")


@pytest.mark.parametrize("changes", [2, 3, 4, 10])
def test_many_changes_are_found_in_rounds_and_none_is_left_out(
    shop: Subscribed, monkeypatch: pytest.MonkeyPatch, changes: int
) -> None:
    monkeypatch.setattr(finder, "RECORDS_PER_ROUND_MAX", 3)
    subscription = shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        shop.rows(**{f"sku{number}": 1 for number in range(changes)})
        shop.await_progress(subscription, delivered=changes, waiting=0)
    assert len(set(shop.receiver.list_matches())) == changes


def test_no_secret_is_in_a_topic_a_log_or_an_address(
    shop: Subscribed, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    subscription = shop.subscribe()
    with shop.working():
        shop.await_started(subscription)
        shop.rows(high=1)
        shop.await_progress(subscription, delivered=1)
    secret = derive_secret(read_key(shop.settings), subscription.subscription_id)
    key = locate_key(shop.settings).read_text().strip()
    kept = json.dumps(Subscription.to_row(subscription)) + str(shop.read_progress(subscription))
    for one in (secret, secret.removeprefix("whsec_"), key):
        assert one not in caplog.text
        assert one not in kept
        assert all(
            one not in str(hook.headers) + hook.body.decode() for hook in shop.receiver.hooks
        )


def test_what_the_api_is_asked_for_is_sent_and_listed(shop: Subscribed) -> None:
    sources = replace(create_sources(shop.settings), commands=Commands(("echo",), lambda: TOKEN))
    with serving(sources) as api, shop.working():
        asked = {"view": STOCK_LEVELS.name, "address": shop.receiver.address, "filter": LOW}
        path, token = "/v1/subscriptions", {"Authorization": f"Bearer {TOKEN}"}
        api.ready().eventually(path, lambda told: told["subscriptions"] == [])
        made = api.request("POST", path, params=asked, headers=token).json()
        one = f"{path}/{made['subscription_id']}"
        shop.rows(high=1)
        [hook] = shop.receiver.await_hooks(1)
        assert hook.match == ("S001/high", True)
        assert verify(hook, made["secret"])
        api.eventually(one, lambda told: told["delivered"] == 1 and told["lag_records"] == 0)
        assert api.request("DELETE", one, headers=token).status_code == HTTPStatus.NO_CONTENT
        wait_until(lambda: not shop.list_kept(made["subscription_id"]), "it is forgotten")
        shop.rows(low=9)
        assert api.json(path)["subscriptions"] == []
    assert len(shop.receiver.hooks) == 1
