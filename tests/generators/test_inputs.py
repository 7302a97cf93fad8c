"""What the world hears: orders, prices of others and its load, each once and at one tick."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from confluent_kafka import Message

from contracts import CONFIRMATIONS, LOADS, PRICE_CHANGES, SHIPMENTS, Contract
from generators import inputs
from generators.event import Publication
from generators.inputs import Inputs, Journal
from generators.prices import PriceSet
from generators.publisher import NUMBER_BYTES
from generators.resume import SEQUENCE
from generators.supply import Confirmed
from generators.ticks import HOUR_MS, START_MS, to_tick_start_ms
from generators.world import Input, World
from infra.settings import Settings
from ops.control.load import Load
from tests.bad_records import Bad, create_message, get_good, list_bad
from tests.generators.worlds import CLEAN, live

BY_ORDERS = replace(CLEAN, stores=1, products=20, refill="orders")
HEARD_AT = 10
ARRIVES_MS = START_MS + HOUR_MS
ORDER = Confirmed("PO-1", "S000", "SKU-00000", 24, 12, START_MS, ARRIVES_MS)
PRICE = PriceSet("PO-1", "SKU-00000", 99, START_MS)
LOAD = Load("PO-1", 20_000, None, ["S000"], {"SKU-00001": 200})
"""They have the id of an order, and are something else."""


def run_world(heard: Sequence[Confirmed]) -> tuple[World, list[Publication]]:
    world = World(BY_ORDERS)
    return world, live(world, 2, {HEARD_AT: heard})


def test_what_is_confirmed_leaves_and_arrives_once() -> None:
    world, published = run_world([ORDER])
    left, came = (record.event for record in published if record.topic == SHIPMENTS.name)
    assert (left["status"], left["event_time"]) == ("dispatched", to_tick_start_ms(HEARD_AT))
    assert (came["status"], came["event_time"]) == ("received", ARRIVES_MS)
    assert left["purchase_order_id"] == came["purchase_order_id"] == "PO-1"
    line = {"sku": ORDER.sku, "ordered_units": 24, "dispatched_units": 12}
    assert left["lines"] == [{**line, "received_units": 0}]
    assert came["lines"] == [{**line, "received_units": 12}]
    without, _ = run_world(())
    assert world.count_units("S000")[ORDER.sku] - without.count_units("S000")[ORDER.sku] >= 12


def test_what_was_heard_is_heard_again_at_the_same_tick_and_never_twice(tmp_path: Path) -> None:
    first = Journal(tmp_path, "a world")
    second = ORDER._replace(order_id="PO-2")
    first.hear(7, [ORDER, PRICE, ORDER, PRICE._replace(cents=1)])
    first.hear(9, [ORDER, PRICE, LOAD, second])
    for journal in (first, Journal(tmp_path, "a world")):
        heard = [journal.list_heard(tick) for tick in (7, 8, 9)]
        assert heard == [[ORDER, PRICE], (), [LOAD, second]]
    assert Journal(tmp_path, "another world").list_heard(7) == ()


def test_a_line_that_was_cut_off_was_never_heard(tmp_path: Path) -> None:
    Journal(tmp_path, "a world").hear(7, [ORDER])
    (file,) = tmp_path.iterdir()
    with file.open("a") as cut:
        cut.write('[9, "PO-2", "S0')
    journal = Journal(tmp_path, "a world")
    assert journal.list_heard(9) == ()
    journal.hear(11, [ORDER._replace(order_id="PO-2")])
    assert [len(Journal(tmp_path, "a world").list_heard(tick)) for tick in (7, 9, 11)] == [1, 0, 1]


PER_TICK = 5


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """The records that wait in Kafka; a tick reads PER_TICK of them."""
    messages: list[Message] = []

    def consume(most: int, timeout: float) -> list[Message]:
        return [messages.pop(0) for _ in range(min(most, len(messages)))]

    reader = SimpleNamespace(assign=lambda _: None, consume=consume)
    monkeypatch.setattr(inputs, "RECORDS_PER_TICK_MAX", PER_TICK)
    monkeypatch.setattr(inputs, "create_consumer", lambda _: reader)
    monkeypatch.setattr(inputs, "create_admin", lambda _: None)
    monkeypatch.setattr(inputs, "list_partitions", lambda *_: [])
    return messages


def listen(folder: Path) -> Inputs:
    return Inputs(Settings(data_dir=folder), BY_ORDERS, Journal(folder, "a world"), newest_ms=0)


def list_ids(heard: Sequence[Input]) -> list[str]:
    return [str(given[0]) for given in heard]


@pytest.mark.parametrize("count", [PER_TICK - 1, PER_TICK, PER_TICK + 1, 10 * PER_TICK])
def test_more_than_a_tick_hears_is_heard_in_the_next_ones(
    waiting: list[Message], tmp_path: Path, count: int
) -> None:
    names = [f"PO-{number}" for number in range(count)]
    waiting += [
        create_message(CONFIRMATIONS, get_good(CONFIRMATIONS, purchase_order_id=name))
        for name in names
    ]
    heard = listen(tmp_path)
    ticks = range(10 + 1)
    order_ids = [list_ids(heard.take_due(tick)) for tick in ticks]
    assert order_ids == [names[tick * PER_TICK : (tick + 1) * PER_TICK] for tick in ticks]
    again = Journal(tmp_path, "a world")
    assert [list_ids(again.list_heard(tick)) for tick in ticks] == order_ids


@pytest.mark.parametrize("contract", [CONFIRMATIONS, PRICE_CHANGES, LOADS], ids=str)
def test_a_world_goes_on_past_bad_inputs(
    waiting: list[Message], tmp_path: Path, contract: Contract
) -> None:
    bad: list[Bad] = list(list_bad(contract).values())
    waiting += [create_message(contract, record) for record in [*bad, get_good(contract)]]
    heard = listen(tmp_path)
    ids = [name for tick in range(len(bad)) for name in list_ids(heard.take_due(tick))]
    example = contract.examples[0]
    names = ("purchase_order_id", "event_id", "load_id")
    assert ids == [example[name] for name in names if name in example]


def test_another_s_price_holds_after_its_notice_and_the_world_s_own_ones_are_not_heard(
    waiting: list[Message], tmp_path: Path
) -> None:
    own: dict[str, str | bytes | None] = {SEQUENCE: bytes(NUMBER_BYTES)}
    for name, headers, minute in (("own", own, 0), ("early", {}, -9), ("short", {}, 1)):
        key, value = get_good(
            PRICE_CHANGES, event_id=name, event_time=START_MS, effective_at=START_MS + 60_000
        )
        published_ms = START_MS + minute * 60_000
        waiting.append(
            Message(
                topic=PRICE_CHANGES.name,
                partition=0,
                key=key,
                value=value,
                timestamp=(1, published_ms),
                headers=headers,
            )
        )
    sku, cents = (PRICE_CHANGES.examples[0][field] for field in ("sku", "price_cents"))
    assert listen(tmp_path).take_due(0) == [
        PriceSet("early", sku, cents, START_MS + 60_000),
        PriceSet("short", sku, cents, START_MS + 11 * 60_000),
    ]
