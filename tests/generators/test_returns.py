"""Refunds: some of what was sold comes back, mostly with its receipt."""

from collections import Counter

from contracts import RECEIPTS, REFUNDS
from generators.returns import AFTER_MS_MIN
from tests.generators.worlds import CLEAN, publish_world


def test_a_refund_pays_back_what_its_receipt_says() -> None:
    receipts = {event["event_id"]: event for event in publish_world(CLEAN, RECEIPTS, hours=72)}
    with_receipt = 0
    for refund in publish_world(CLEAN, REFUNDS, hours=72):
        receipt = receipts.get(refund["receipt_event_id"])
        if receipt is None:
            assert refund["receipt_event_id"] is None
            continue
        with_receipt += 1
        (line,) = refund["lines"]
        bought = [
            one["units"]
            for one in receipt["lines"]
            if (one["sku"], one["unit_price_cents"]) == (line["sku"], line["unit_price_cents"])
        ]
        assert line["units"] <= max(bought)
        assert refund["store_id"] == receipt["store_id"]
        assert refund["card_token"] == receipt["card_token"]
        assert refund["event_time"] >= receipt["event_time"] + AFTER_MS_MIN
    assert with_receipt > 100


def test_no_receipt_is_refunded_twice() -> None:
    times = Counter(
        refund["receipt_event_id"] for refund in publish_world(CLEAN, REFUNDS, hours=72)
    )
    del times[None]
    assert set(times.values()) == {1}
