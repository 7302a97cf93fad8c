"""Each threshold of a rule: one less than what was measured, exactly that, and one more."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from contracts.times import MILLISECOND
from tests.pipelines.fraud.examples import CARD, MINUTE, NINE, SECOND, TEN, sell_often, travel
from tests.timeline import WINE, Timeline

Happening = Callable[[Timeline], object]


def give_away(shop: Timeline) -> None:
    """Three receipts on which a bottle of £10 costs £1: 2,700 cents."""
    for n in range(3):
        shop.sell(TEN + n * MINUTE, (WINE, 1, 100))


def refund_unknown(shop: Timeline) -> None:
    """3,000 cents for a receipt that nobody issued, nine hours later."""
    shop.refund(NINE + timedelta(hours=9), (WINE, 3, 1_000), receipt="R", issued=NINE)


def refund_in_cash(shop: Timeline) -> None:
    """Seven refunds of 1,000 cents without a receipt."""
    for n in range(7):
        shop.refund(TEN + n * MINUTE)


def buy_in_bulk(shop: Timeline) -> None:
    """27 bottles of packs of six, on three receipts of one card: 150 hundredths of a pack each."""
    for n in range(3):
        shop.sell(TEN + n * MINUTE, (WINE, 9, 1_000), card=CARD)


sell_six = partial(sell_often, times=6, apart=110 * SECOND)
"""On one card: 550 seconds from the first to the last."""
go_to_london = partial(travel, duration=30 * MINUTE)
"""272 km from Leeds: 543 km/h."""
take_a_train = partial(travel, duration=60 * MINUTE)
"""The same way: 271 km/h."""


@pytest.mark.parametrize(
    ("rule", "happens", "limit", "last"),
    [
        ("card-velocity", sell_six, "card_sales_per_window_max", 5),
        ("impossible-travel", go_to_london, "speed_kmh_max", 542),
        ("impossible-travel", go_to_london, "distance_km_min", 271),
        ("impossible-travel", take_a_train, "speed_kmh_max", 270),
        ("sweethearting", give_away, "given_away_cents_max", 2_699),
        ("sweethearting", give_away, "given_away_receipts_min", 3),
        ("refund-without-receipt", refund_unknown, "unbacked_cents_max", 2_999),
        ("refund-rate", refund_in_cash, "blind_refunds_max", 6),
        ("refund-rate", refund_in_cash, "blind_refund_cents_min", 1_000),
        ("bulk-purchase", buy_in_bulk, "packs_hundredths_max", 449),
        ("bulk-purchase", buy_in_bulk, "packs_line_hundredths_min", 150),
        ("card-velocity", sell_six, "card_sales_window", 550 * SECOND + MILLISECOND),
        ("impossible-travel", go_to_london, "travel_gap_max", 30 * MINUTE),
    ],
)
def test_an_alert_is_raised_up_to_this_limit_and_no_further(
    shop: Timeline, rule: str, happens: Happening, limit: str, last: Any
) -> None:
    """Or from this span of time on."""
    happens(shop)
    further = -MILLISECOND if isinstance(last, timedelta) else 1
    limits = [{limit: number} for number in (last - further, last, last + further)]
    assert [len(shop.compute_alerts(rule, **each)) for each in limits] == [1, 1, 0]
