"""Every order is confirmed once, whatever is killed; its id decides when and how much comes."""

from collections import Counter
from datetime import timedelta
from threading import Event
from typing import Any

import pytest

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, Row, decode, encode, encode_key
from contracts.checks import compile_checks, find_broken
from infra.kafka import create_admin, read_end_offsets, send
from infra.processes import start_module
from infra.settings import Settings
from infra.wait import wait_until
from services.supplier import Reliability, confirm_orders, create_confirmation
from tests.brokers import get_producer, read_all
from tests.seeds import create_random
from tests.services.at_work import Died, at_work, limit_life

ORDER = PURCHASE_ORDERS.examples[0]
GOOD = Reliability(late_share=0.0, short_share=0.0)
MANY = 500
SECONDS_MAX = 60


def order(kafka: Settings, *order_ids: str) -> None:
    client = get_producer(kafka)
    for order_id in order_ids:
        row = {**PURCHASE_ORDERS.examples[0], "purchase_order_id": order_id}
        key, value = encode_key(PURCHASE_ORDERS, row), encode(PURCHASE_ORDERS, row)
        send(client, PURCHASE_ORDERS.name, key, value)


def count_confirmed(kafka: Settings) -> Counter[str]:
    records = read_all(kafka, CONFIRMATIONS.name)
    return Counter(decode(value).value["purchase_order_id"] for value in records)


def await_confirmed(kafka: Settings, *order_ids: str) -> None:
    wait_until(
        lambda: set(order_ids) <= count_confirmed(kafka).keys(),
        "the orders are obeyed",
        SECONDS_MAX,
    )


@pytest.mark.e2e
def test_an_id_is_obeyed_once_however_often_it_is_read(kafka: Settings) -> None:
    order(kafka, "a", "b", "a")
    with at_work(confirm_orders, kafka):
        await_confirmed(kafka, "a", "b")
        order(kafka, "b", "c")
        await_confirmed(kafka, "c")
    order(kafka, "c", "d")
    with at_work(confirm_orders, kafka):
        await_confirmed(kafka, "d")
    assert count_confirmed(kafka) == Counter("abcd")


@pytest.mark.e2e
def test_who_dies_between_reading_and_answering_answers_once(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = create_random("deaths of the supplier")
    life = limit_life(monkeypatch, "services.supplier")
    for turn in range(3):
        wanted = [f"{turn}-{number}" for number in range(10)]
        order(kafka, *wanted)
        life.rows_left = chance.randint(1, len(wanted))
        with pytest.raises(Died):
            confirm_orders(kafka, Event())
        with at_work(confirm_orders, kafka):
            await_confirmed(kafka, *wanted)
    assert set(count_confirmed(kafka).values()) == {1}


@pytest.mark.e2e
def test_a_killed_supplier_answers_once(kafka: Settings) -> None:
    """kill -9, as soon as its answers are seen, committed or not."""
    chance = create_random("kills of the supplier")
    wanted = [f"killed-{number}" for number in range(50)]
    before = sum(read_end_offsets(create_admin(kafka), [CONFIRMATIONS.name]).values())
    seen = before + chance.randint(1, len(wanted))
    order(kafka, *wanted)
    killed = start_module(kafka, kafka.data_dir / "supplier.log", "services.supplier")
    wait_until(
        lambda: sum(read_end_offsets(create_admin(kafka), [CONFIRMATIONS.name]).values()) >= seen,
        "it answers",
        SECONDS_MAX,
    )
    killed.kill()
    killed.wait(30)
    with at_work(confirm_orders, kafka):
        await_confirmed(kafka, *wanted)
    assert set(count_confirmed(kafka).values()) == {1}


def confirm_many(reliability: Reliability = Reliability(), **fields: Any) -> list[Row]:  # noqa: B008
    orders = [{**ORDER, **fields, "purchase_order_id": f"PO-{number}"} for number in range(MANY)]
    return [create_confirmation(order, 1, reliability) for order in orders]


def test_a_good_supplier_ships_all_within_the_lead_time() -> None:
    found = create_confirmation(ORDER, 1, GOOD)
    assert found["shipped_units"] == found["ordered_units"] == ORDER["units"]
    lead_time = timedelta(days=ORDER["lead_time_days"], hours=ORDER["lead_time_hours"])
    assert lead_time == timedelta(hours=4)
    assert found["arrives_at"] == ORDER["ordered_at"] + lead_time


def test_the_same_order_has_the_same_answer_and_another_world_another() -> None:
    assert confirm_many() == confirm_many()
    assert confirm_many() != [
        create_confirmation({**ORDER, **order}, 2, Reliability()) for order in confirm_many()
    ]


def test_some_come_late_and_some_short_in_whole_packs() -> None:
    found, in_time = confirm_many(), confirm_many(GOOD)[0]["arrives_at"]
    late = [answer for answer in found if answer["arrives_at"] > in_time]
    short = [answer for answer in found if answer["shipped_units"] < answer["ordered_units"]]
    assert 0.05 < len(late) / MANY < 0.2
    assert 0 < len(short) / MANY < 0.1
    assert all(answer["shipped_units"] % ORDER["pack_size_units"] == 0 for answer in found)


def test_what_is_late_is_no_later_than_the_limit() -> None:
    in_time, late_max = confirm_many(GOOD)[0]["arrives_at"], Reliability().late_max
    delays = [
        answer["arrives_at"] - in_time for answer in confirm_many(Reliability(late_share=1.0))
    ]
    assert timedelta() < min(delays)
    assert 0.99 * late_max < max(delays) <= late_max


def test_every_answer_keeps_its_contract() -> None:
    rules = compile_checks(CONFIRMATIONS.fields, CONFIRMATIONS.rules)
    for answer in confirm_many(lead_time_days=0):
        row = {
            name: round(value.timestamp() * 1000) if name.endswith("_at") else value
            for name, value in answer.items()
        }
        assert not list(find_broken(rules, row))
