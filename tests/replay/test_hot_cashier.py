"""A cashier with a hundred thousand refunds in one interval: the answer is the oracle's."""

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from audit.timeline import MILK, Timeline, parse_clock
from contracts import HEARTBEATS, REFUNDS
from infra.settings import Settings
from pipelines.fraud.thresholds import Thresholds
from tests.brokers import empty_broker
from tests.replay.answer import answer
from tests.replay.checking import check
from tests.replay.hostile import order
from tests.replay.log import Entry, select_read
from tests.replay.playing import play
from tests.replay.running import InSession, create_work
from tests.replay.schedule import Schedule
from tests.seeds import create_random

pytestmark = [pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(900)]

NUMBER = 100_000
APART = timedelta(milliseconds=30)
HOT = "HOT"


@pytest.mark.crosses("pipelines/fraud/thresholds/signals_max")
def test_a_hundred_thousand_refunds_of_one_cashier_are_answered_as_by_the_oracle(
    spark: SparkSession,
    shared_broker: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work = create_work(empty_broker(shared_broker, tmp_path), "fraud")
    running = InSession(work, spark, monkeypatch)
    schedule = Schedule("hot", chunks=2, kills=1, lead_ms=0, burst_max=5_000)
    play(select_read(build_log(), work.pipeline), schedule, running, create_random("hot"))
    found = answer(work)
    check(found, work)
    assert sum(book.applied for at, book in found.books.items() if at[0] == REFUNDS.name) == NUMBER
    left_out = [row["signals_left_out"] for rows in found.rows.values() for row in rows.values()]
    assert max(left_out) == NUMBER - Thresholds().signals_max


def build_log() -> list[Entry]:
    """The refunds, in less than an hour, and a heartbeat after each minute of them."""
    shop, began = Timeline(), parse_clock("10:00")
    for number in range(NUMBER):
        shop.refund(began + number * APART, (MILK, 1, 500), cashier=HOT)
    for minutes in range(60):
        shop.put(HEARTBEATS, began + timedelta(minutes=minutes), world="world")
    return order(shop)
