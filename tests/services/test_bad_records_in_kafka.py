"""Readers of a broker meet what any client may publish, and go on to the good record."""

import pytest
from confluent_kafka import Producer

from contracts import (
    CLOCKS,
    CONFIRMATIONS,
    GENERATIONS,
    MARKERS,
    PURCHASE_ORDERS,
    READERS,
    Contract,
    decode,
)
from infra.settings import Settings
from infra.wait import wait_until
from ops.control.world_clock import read_clock
from ops.generations.marker import read_markers
from ops.generations.record import read_generations
from ops.replay.readers import find_alive
from services.ordering.gate import read_orders
from services.supplier import confirm_orders
from tests.bad_records import get_good, list_bad
from tests.brokers import read_all
from tests.services.at_work import at_work

pytestmark = pytest.mark.e2e
SECONDS_MAX = 60


def publish(kafka: Settings, contract: Contract) -> None:
    """Bad records, a good one, and bad ones again, with a client that is not ours."""
    client = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    bad = list(list_bad(contract).values())
    for key, value in (*bad, get_good(contract), *bad):
        client.produce(contract.name, key=key or b"none", value=value)
    assert client.flush(SECONDS_MAX) == 0


def test_control_records_are_read_past_the_bad_ones(kafka: Settings) -> None:
    for contract in (GENERATIONS, MARKERS, CLOCKS, READERS):
        publish(kafka, contract)
    assert read_generations(kafka)["inventory"].known
    assert ("inventory", 1) in read_markers(kafka)
    assert read_clock(kafka) is not None
    assert find_alive(kafka) == {}  # it was alive long ago


def test_orders_are_read_and_confirmed_past_the_bad_ones(kafka: Settings) -> None:
    publish(kafka, PURCHASE_ORDERS)
    publish(kafka, CONFIRMATIONS)
    wanted = PURCHASE_ORDERS.examples[0]["purchase_order_id"]
    assert wanted in {order_id for order_id, *_ in read_orders(kafka) or ()}
    other = get_good(PURCHASE_ORDERS, purchase_order_id="PO-other")
    client = Producer({"bootstrap.servers": kafka.bootstrap_servers})

    def is_confirmed() -> bool:
        values = list(read_all(kafka, CONFIRMATIONS.name))
        good = [value for value in values if value[5:] and b"PO-other" in value]
        return [decode(value).value["purchase_order_id"] for value in good] == ["PO-other"]

    with at_work(confirm_orders, kafka):
        client.produce(PURCHASE_ORDERS.name, key=other[0], value=other[1])
        client.flush(SECONDS_MAX)
        wait_until(is_confirmed, "the good order is confirmed", SECONDS_MAX)
