"""What comes of an order, drawn from its id."""

from datetime import timedelta
from typing import Any

from contracts import CONFIRMATIONS, PURCHASE_ORDERS, Row
from contracts.checks import compile_checks, find_broken
from services.supplier.shipment import Reliability, create_confirmation

ORDER = PURCHASE_ORDERS.examples[0]
GOOD = Reliability(late_share=0.0, short_share=0.0)
MANY = 500


def confirm_many(reliability: Reliability = Reliability(), **fields: Any) -> list[Row]:  # noqa: B008
    orders = [{**ORDER, **fields, "purchase_order_id": f"PO-{number}"} for number in range(MANY)]
    return [create_confirmation(order, 1, reliability) for order in orders]


def test_a_good_supplier_ships_all_within_the_lead_time() -> None:
    found = create_confirmation(ORDER, 1, GOOD)
    assert found["shipped_units"] == found["ordered_units"] == ORDER["units"]
    assert found["arrives_at"] == ORDER["ordered_at"] + timedelta(days=ORDER["lead_time_days"])


def test_the_same_order_has_the_same_answer_and_another_world_another() -> None:
    assert confirm_many() == confirm_many()
    assert confirm_many() != [
        create_confirmation({**ORDER, **order}, 2, Reliability()) for order in confirm_many()
    ]


def test_some_come_late_and_some_short_in_whole_packs() -> None:
    found, in_time = confirm_many(), confirm_many(GOOD)[0]["arrives_at"]
    late = [confirmation for confirmation in found if confirmation["arrives_at"] > in_time]
    short = [
        confirmation
        for confirmation in found
        if confirmation["shipped_units"] < confirmation["ordered_units"]
    ]
    assert 0.05 < len(late) / MANY < 0.2
    assert 0 < len(short) / MANY < 0.1
    assert all(
        confirmation["shipped_units"] % ORDER["pack_size_units"] == 0 for confirmation in found
    )


def test_what_is_late_is_no_later_than_the_limit() -> None:
    in_time, late_max = confirm_many(GOOD)[0]["arrives_at"], Reliability().late_max
    delays = [
        confirmation["arrives_at"] - in_time
        for confirmation in confirm_many(Reliability(late_share=1.0))
    ]
    assert timedelta() < min(delays)
    assert 0.99 * late_max < max(delays) <= late_max


def test_every_answer_keeps_its_contract() -> None:
    rules = compile_checks(CONFIRMATIONS.fields, CONFIRMATIONS.rules)
    for confirmation in confirm_many(lead_time_days=0):
        row = {
            name: round(value.timestamp() * 1000) if name.endswith("_at") else value
            for name, value in confirmation.items()
        }
        assert not list(find_broken(rules, row))
