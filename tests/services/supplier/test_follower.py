"""Every order is confirmed once, after a kill between reading it and answering."""

from collections import Counter
from threading import Event

import pytest

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, decode, encode, encode_key
from infra.kafka import create_admin, read_end_offsets, send
from infra.processes import start_module
from infra.settings import Settings
from infra.wait import wait_until
from services.supplier.follower import confirm_orders
from tests.brokers import get_producer, read_all
from tests.seeds import create_random
from tests.services.at_work import at_work
from tests.services.dying import Died, limit_life

pytestmark = pytest.mark.e2e

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


def test_who_dies_between_reading_and_answering_answers_once(
    kafka: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = create_random("deaths of the supplier")
    life = limit_life(monkeypatch, "services.supplier.follower")
    for turn in range(3):
        wanted = [f"{turn}-{number}" for number in range(10)]
        order(kafka, *wanted)
        life.rows_left = chance.randint(1, len(wanted))
        with pytest.raises(Died):
            confirm_orders(kafka, Event())
        with at_work(confirm_orders, kafka):
            await_confirmed(kafka, *wanted)
    assert set(count_confirmed(kafka).values()) == {1}


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
