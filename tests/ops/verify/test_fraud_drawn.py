"""Properties of the fraud rules on drawn timelines, with limits that are easily reached."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts import ALERTS, DIMENSIONS, RECEIPTS, build_model, compute_digest
from contracts.times import EPOCH, MILLISECOND
from infra.kafka import Record
from ops.verify.fraud import FraudOracle
from ops.verify.inventory import Row
from ops.verify.validation import parse_event
from pipelines.fraud.thresholds import Thresholds
from tests.timeline import (
    BORDERS,
    DELAYS_MINUTES,
    DIMENSION_KINDS,
    LEEDS,
    LIMITS,
    LONDON,
    MILK,
    NOTICES_MINUTES,
    WINE,
    YORK,
    Timeline,
)

pytestmark = pytest.mark.thorough

CARDS = (None, "tok_1", "tok_2")

MOMENTS = st.builds(
    lambda border, minutes: border + timedelta(minutes=minutes),
    st.sampled_from(BORDERS),
    st.integers(-40, 40),
)
DELAYS = st.sampled_from(DELAYS_MINUTES).map(lambda minutes: timedelta(minutes=minutes))
LINES = st.lists(
    st.tuples(
        st.sampled_from((MILK, WINE)), st.sampled_from((1, 2, 8)), st.sampled_from((0, 100, 1_000))
    ),
    min_size=1,
    max_size=2,
)
CASHIERS = st.sampled_from(("K1", "K2"))
SALES = st.tuples(
    MOMENTS,
    DELAYS,
    LINES,
    st.sampled_from(CARDS),
    st.sampled_from((LEEDS, YORK, LONDON)),
    CASHIERS,
    st.booleans(),
)
REFUNDS = st.tuples(
    MOMENTS, DELAYS, LINES, st.sampled_from(CARDS), CASHIERS, st.none() | st.integers(0, 5)
)

FACTS_TOLD = st.tuples(
    st.sampled_from(DIMENSION_KINDS),
    MOMENTS,
    st.sampled_from(NOTICES_MINUTES).map(lambda minutes: timedelta(minutes=minutes)),
    st.integers(1, 3),
)


@st.composite
def timelines(draw: st.DrawFn) -> list[Record]:
    """Records by the time of publication, as a log has them."""
    shop = Timeline()
    for what, effective_at, notice, number in draw(st.lists(FACTS_TOLD, max_size=6)):
        shop.change_dimension(what, effective_at, effective_at - notice, number)
    sold: list[tuple[str, datetime]] = []
    for happened, delay, lines, card, store, cashier, known in draw(
        st.lists(SALES, min_size=4, max_size=16)
    ):
        sale = shop.sell(
            happened,
            *lines,
            card=card,
            store=store,
            cashier=cashier,
            customer="C1" if known else None,
            published=happened + delay,
        )
        sold.append((sale, happened))
    for happened, delay, lines, card, cashier, number in draw(st.lists(REFUNDS, max_size=10)):
        receipt, issued = (
            sold[number] if number is not None and number < len(sold) else (None, None)
        )
        shop.refund(
            happened,
            *lines,
            receipt=receipt,
            issued=issued,
            card=card,
            cashier=cashier,
            published=happened + delay,
        )
    return sorted(shop.records, key=lambda record: record.published_ms)


def alerts(records: Iterable[Record], limits: Thresholds = LIMITS) -> dict[bytes, Row]:
    rows = FraudOracle(records, limits).compute_view()
    for row in rows:
        build_model(ALERTS).model_validate(row)
    return {f"{row['rule']}/{row['subject']}/{row['interval_start']}".encode(): row for row in rows}


many = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
BOUNDS = st.sampled_from((LIMITS, replace(LIMITS, signals_max=3, receipt_signals_max=3)))
"""Where all signals count, and where most keys have more than count."""


@given(timelines(), BOUNDS)
@many
def test_an_alert_is_decided_by_the_first_record_with_which_it_is_open(
    records: list[Record], limits: Thresholds
) -> None:
    raised = alerts(records, limits)
    for moment in {row["decided_at"] for row in raised.values()}:
        until_ms = (moment - EPOCH) // MILLISECOND
        then = alerts((one for one in records if one.published_ms <= until_ms), limits)
        before = alerts((one for one in records if one.published_ms < until_ms), limits)
        for identity, row in raised.items():
            if row["decided_at"] == moment:
                assert then[identity]["decided_at"] == moment
                if row["status"] == "open":
                    assert then[identity]["status"] == "open"
                    assert before.get(identity, {}).get("status") != "open"


@given(timelines(), st.randoms(use_true_random=False), BOUNDS)
@many
def test_a_row_never_goes_away_and_changes_only_with_its_version(
    records: list[Record], chance: Random, limits: Thresholds
) -> None:
    """A reader may have seen any part of the log: what it wrote has to be written over."""
    part = [record for record in records if record.topic in DIMENSIONS or chance.random() < 0.6]
    whole = alerts(records, limits)
    for identity, row in alerts(part, limits).items():
        assert whole[identity] == row or whole[identity]["version"] > row["version"]


@given(timelines(), st.randoms(use_true_random=False), BOUNDS)
@many
def test_the_order_of_reading_does_not_matter(
    records: list[Record], chance: Random, limits: Thresholds
) -> None:
    shuffled = list(records)
    chance.shuffle(shuffled)
    rows = alerts(shuffled, limits).values()
    assert compute_digest(ALERTS, rows) == compute_digest(ALERTS, alerts(records, limits).values())


@given(timelines())
@many
def test_velocity_is_what_every_window_says(records: list[Record]) -> None:
    """Windows that slide over all sales of a card, without intervals."""
    expected: dict[tuple[str, datetime], int] = {}
    for card, times in sales_by_card(records).items():
        for last in times:
            count = sum(last - LIMITS.card_sales_window < one <= last for one in times)
            if count > LIMITS.card_sales_per_window_max:
                identity = card, last - timedelta(minutes=last.minute)
                expected[identity] = max(count, expected.get(identity, 0))
    raised = [row for row in alerts(records).values() if row["rule"] == "card-velocity"]
    assert {(row["subject"], row["interval_start"]): row["measured"] for row in raised} == expected


def sales_by_card(records: Iterable[Record]) -> Mapping[str, list[datetime]]:
    sales: dict[str, list[datetime]] = defaultdict(list)
    for record in records:
        happened = parse_event(record)
        if record.topic == RECEIPTS.name and happened["card_token"]:
            sales[happened["card_token"]].append(happened["event_time"])
    return sales


def test_what_is_drawn_raises_alerts_of_every_rule() -> None:
    """Otherwise nothing of the above says much."""
    rules, statuses = set[str](), set[str]()

    @given(timelines())
    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
    def draw(records: list[Record]) -> None:
        if len(rules) == 6 and len(statuses) == 2:
            return  # nothing is left to be seen
        for row in alerts(records).values():
            rules.add(row["rule"])
            statuses.add(row["status"])

    draw()
    assert len(rules) == 6
    assert statuses == {"open", "withdrawn"}
