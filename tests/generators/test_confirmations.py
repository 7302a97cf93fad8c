"""A world that is refilled by orders: nothing comes but what is confirmed, and it is heard once."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from confluent_kafka import Message

from contracts import CONFIRMATIONS, SHIPMENTS
from generators import confirmations
from generators.confirmations import Journal, Orders
from generators.event import Publication
from generators.supply import Confirmed
from generators.ticks import HOUR_MS, START_MS, TICKS_PER_HOUR, to_tick_start_ms
from generators.world import World
from infra.settings import Settings
from tests.bad_records import Bad, create_message, get_good, list_bad
from tests.generators.worlds import CLEAN

BY_ORDERS = replace(CLEAN, stores=1, products=20, refill="orders")
HEARD_AT = 10
ARRIVES_MS = START_MS + HOUR_MS
ORDER = Confirmed("PO-1", "S000", "SKU-00000", 24, 12, START_MS, ARRIVES_MS)


def run_world(heard: Sequence[Confirmed], hours: int = 2) -> tuple[World, list[Publication]]:
    world = World(BY_ORDERS)
    published = []
    for tick in range(hours * TICKS_PER_HOUR):
        published += world.tick(heard if tick == HEARD_AT else ())
    return world, published


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


def test_a_world_goes_on_with_what_is_planned() -> None:
    late = ORDER._replace(dispatches_ms=START_MS + 90 * 60_000, arrives_ms=START_MS + 3 * HOUR_MS)
    world = World(BY_ORDERS)
    for tick in range(TICKS_PER_HOUR):
        world.tick([late] if tick == HEARD_AT else ())
    again = World(BY_ORDERS)
    again.restore(world.dump_state())
    for _ in range(3 * TICKS_PER_HOUR):
        assert again.tick() == world.tick()


def test_what_was_heard_is_heard_again_at_the_same_tick_and_never_twice(tmp_path: Path) -> None:
    first = Journal(tmp_path, "a world")
    first.hear(7, [ORDER, ORDER])
    first.hear(9, [ORDER, ORDER._replace(order_id="PO-2")])
    for journal in (first, Journal(tmp_path, "a world")):
        heard = [order.order_id for tick in range(12) for order in journal.list_heard(tick)]
        assert heard == ["PO-1", "PO-2"]
        assert journal.list_heard(7) == [ORDER]
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


def listen(monkeypatch: pytest.MonkeyPatch, folder: Path, waiting: list[Bad]) -> Orders:
    """The confirmations of a world, of which so many records wait in Kafka."""

    def consume(most: int, timeout: float) -> list[Message]:
        taken = [waiting.pop(0) for _ in range(min(most, len(waiting)))]
        return [create_message(CONFIRMATIONS, record) for record in taken]

    reader = SimpleNamespace(assign=lambda _: None, consume=consume)
    monkeypatch.setattr(confirmations, "RECORDS_PER_TICK_MAX", PER_TICK)
    monkeypatch.setattr(confirmations, "create_consumer", lambda _: reader)
    monkeypatch.setattr(confirmations, "create_admin", lambda _: None)
    monkeypatch.setattr(confirmations, "list_partitions", lambda *_: [])
    return Orders(Settings(data_dir=folder), Journal(folder, "a world"), newest_ms=0)


@pytest.mark.parametrize("count", [PER_TICK - 1, PER_TICK, PER_TICK + 1, 10 * PER_TICK])
def test_more_than_a_tick_hears_is_heard_in_the_next_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int
) -> None:
    names = [f"PO-{number}" for number in range(count)]
    waiting: list[Bad] = [get_good(CONFIRMATIONS, purchase_order_id=name) for name in names]
    heard = listen(monkeypatch, tmp_path, waiting)
    ticks = range(10 + 1)
    order_ids = [[order.order_id for order in heard.take_due(tick)] for tick in ticks]
    assert order_ids == [names[tick * PER_TICK : (tick + 1) * PER_TICK] for tick in ticks]
    again = Journal(tmp_path, "a world")
    assert [[order.order_id for order in again.list_heard(tick)] for tick in ticks] == order_ids


def test_a_world_goes_on_past_bad_confirmations(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bad = list_bad(CONFIRMATIONS).values()
    heard = listen(monkeypatch, tmp_path, [*bad, get_good(CONFIRMATIONS)])
    order_ids = [order.order_id for tick in range(len(bad)) for order in heard.take_due(tick)]
    assert order_ids == [CONFIRMATIONS.examples[0]["purchase_order_id"]]
