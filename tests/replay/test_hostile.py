"""What a contract just lets through, and hot keys, are answered as by the oracle."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from contracts import HEARTBEATS, RECEIPTS, REFUNDS, Contract
from ops.verify.inventory import Row
from pipelines.common.pipeline import list_pipelines
from pipelines.common.transform.full_sums import SUMS_IN_FULL
from pipelines.fraud.thresholds import Thresholds as FraudThresholds
from pipelines.visits.thresholds import Thresholds as VisitThresholds
from tests.replay.answer import check
from tests.replay.hostile import build_hostile_log, order
from tests.replay.log import select_read
from tests.replay.playing import Schedule, play
from tests.replay.running import InSession, Work
from tests.seeds import create_random
from tests.timeline import MILK, Timeline, parse_clock

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(900)]

NUMBER = 100_000
HOT = "HOT"
STORES = 150
MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("work", list_pipelines(), indirect=True)
def test_a_hostile_world_is_answered_as_by_the_oracle(work: Work, running: InSession) -> None:
    log = select_read(build_hostile_log(), work.pipeline)
    schedule = Schedule("hostile", chunks=2, kills=1, lead_ms=0, burst_max=500)
    play(log, schedule, running, create_random("hostile"))
    found = check(work)
    assert running.kills > 0
    assert sum(book.quarantined for book in found.books.values()) > 0
    in_full = [
        row for rows in found.rows.values() for row in rows.values() if row.get(SUMS_IN_FULL)
    ]
    assert bool(in_full) == any(
        field.name == SUMS_IN_FULL for view in work.pipeline.writes for field in view.fields
    )


def fill_shift(shop: Timeline) -> None:
    """Refunds of one cashier, in less than an hour."""
    began = parse_clock("10:00")
    for number in range(NUMBER):
        shop.refund(began + number * timedelta(milliseconds=30), (MILK, 1, 500), cashier=HOT)
    for minutes in range(60):
        shop.put(HEARTBEATS, began + minutes * MINUTE, world="world")


def fill_day(shop: Timeline) -> None:
    """Receipts of one customer, all day long but for an hour of every five: of everybody without a
    card, say, for whom a till writes one name."""
    time = parse_clock("0:00")
    for number in range(NUMBER):
        shop.sell(time, (MILK, 1, 100), customer=HOT, store=f"S{number % STORES:03d}")
        time += timedelta(milliseconds=650)
        if number % 22_000 == 21_999:
            time += 60 * MINUTE
    for minutes in range(0, 24 * 60, 10):
        shop.put(HEARTBEATS, parse_clock("0:00") + minutes * MINUTE, world="world")


def fill_shelf(shop: Timeline) -> None:
    """Receipts of one product in one store, in less than an hour."""
    began = parse_clock("10:00")
    for number in range(NUMBER):
        shop.sell(began + number * timedelta(milliseconds=30), (MILK, 1, 100))
    for minutes in range(60):
        shop.put(HEARTBEATS, began + minutes * MINUTE, world="world")


def check_alerts(rows: list[Row]) -> None:
    [left_out] = {row["signals_left_out"] for row in rows if row["rule"] == "refund-rate"}
    assert left_out == NUMBER - FraudThresholds().signals_max


def check_visits(rows: list[Row]) -> None:
    visits = [row for row in rows if row["status"] == "counted"]
    assert len(visits) == 5
    assert sum(row["receipts"] for row in visits) == NUMBER
    assert {row["stores"] for row in visits} == {VisitThresholds().stores_max}
    assert len(rows) <= 24 * 2


def check_stock(rows: list[Row]) -> None:
    assert [row["units_sold"] for row in rows] == [NUMBER]


@pytest.mark.parametrize(
    ("work", "topic", "fill", "look"),
    [
        ("fraud", REFUNDS, fill_shift, check_alerts),
        ("visits", RECEIPTS, fill_day, check_visits),
        ("inventory", RECEIPTS, fill_shelf, check_stock),
    ],
    indirect=["work"],
)
def test_a_hundred_thousand_events_of_one_key_are_answered_as_by_the_oracle(
    work: Work,
    running: InSession,
    topic: Contract,
    fill: Callable[[Timeline], None],
    look: Callable[[list[Row]], None],
) -> None:
    shop = Timeline()
    fill(shop)
    schedule = Schedule("hot", chunks=2, kills=1, lead_ms=0, burst_max=5_000)
    play(select_read(order(shop), work.pipeline), schedule, running, create_random("hot"))
    found = check(work)
    assert (
        sum(book.applied for partition, book in found.books.items() if partition[0] == topic.name)
        == NUMBER
    )
    look([row for rows in found.rows.values() for row in rows.values()])
