"""Refunds: some of what was sold comes back, mostly with its receipt."""

from contracts import RECEIPTS, REFUNDS
from generators.returns import AFTER_MS_MIN
from tests.generators.worlds import CLEAN, publish_world


def test_a_refund_pays_back_what_its_receipt_says_once() -> None:
    receipts = {event["event_id"]: event for event in publish_world(CLEAN, RECEIPTS, hours=72)}
    refunded: list[str] = []
    for refund in publish_world(CLEAN, REFUNDS, hours=72):
        receipt = receipts.get(refund["receipt_event_id"])
        if receipt is None:
            assert refund["receipt_event_id"] is None
            continue
        refunded.append(refund["receipt_event_id"])
        (line,) = refund["lines"]
        said = line["sku"], line["unit_price_cents"]
        bought = [
            sold for sold in receipt["lines"] if (sold["sku"], sold["unit_price_cents"]) == said
        ]
        assert line["units"] <= max(sold["units"] for sold in bought)
        assert refund["store_id"] == receipt["store_id"]
        assert refund["card_token"] == receipt["card_token"]
        assert refund["event_time"] >= receipt["event_time"] + AFTER_MS_MIN
    assert len(refunded) > 100
    assert len(set(refunded)) == len(refunded)
