"""The Python model refuses values that the wire cannot hold, and names every fault at once."""

from datetime import datetime
from typing import Any

import pytest

from contracts import ADJUSTMENTS, RECEIPTS, RELEASES, STOCK_LEVELS, build_model
from tests.contracts.broken_rules import find_broken_rules

ADJUSTMENT = ADJUSTMENTS.examples[0]
RECEIPT = RECEIPTS.examples[0]


@pytest.mark.parametrize(
    "units", [True, 1.0, "1", 2**31, -(2**31) - 1], ids=["bool", "float", "text", "big", "small"]
)
def test_a_value_of_another_type_is_refused(units: object) -> None:
    assert len(find_broken_rules(ADJUSTMENTS, {**ADJUSTMENT, "units": units})) == 1


def test_bytes_are_not_text() -> None:
    assert find_broken_rules(RELEASES, {**RELEASES.examples[0], "value": "AAAA"})


def test_in_json_bytes_are_base64() -> None:
    released = build_model(RELEASES).model_validate({**RELEASES.examples[0], "value": b"\xff\x00"})
    assert released.model_dump(mode="json")["value"] == "/wA="


def test_an_unknown_field_is_refused() -> None:
    assert find_broken_rules(ADJUSTMENTS, {**ADJUSTMENT, "colour": "red"})


def test_an_unknown_field_of_an_item_is_refused() -> None:
    [line, *_] = RECEIPT["lines"]
    assert find_broken_rules(RECEIPTS, {**RECEIPT, "lines": [{**line, "colour": "red"}]})


@pytest.mark.parametrize(
    "at", ["2026-03-02T10:41:07", "2026-03-02T10:41:07.120500+00:00"], ids=["no zone", "too fine"]
)
def test_a_timestamp_is_aware_and_in_whole_milliseconds(at: str) -> None:
    assert find_broken_rules(ADJUSTMENTS, {**ADJUSTMENT, "event_time": datetime.fromisoformat(at)})


def test_every_fault_is_reported_at_once() -> None:
    faulty: dict[str, Any] = {
        "event_id": "",
        "event_time": None,
        "store_id": "a/" * 40,
        "sku": "SKU-00417",
        "units": 0,
        "reason": 7,
    }
    assert find_broken_rules(ADJUSTMENTS, faulty) == {
        "event_id has a length of at least 1",
        "event_time is given",
        "store_id matches ^[^/]{1,64}$",
        "units is not 0",
        "Input should be a valid string",
    }


def test_an_optional_field_may_be_left_out() -> None:
    paid_in_cash = {name: value for name, value in RECEIPT.items() if name != "card_token"}
    assert find_broken_rules(RECEIPTS, paid_in_cash) == set()


def test_what_is_no_record_is_refused() -> None:
    assert find_broken_rules(RECEIPTS, ["a", "list"])


def test_the_model_explains_its_fields() -> None:
    properties = build_model(STOCK_LEVELS).model_json_schema()["properties"]
    assert properties["units_sold"]["description"] == "What receipts took from it."
    assert properties["units_sold"]["unit"] == "units"
    assert properties["units_sold"]["examples"] == [31]
    assert properties["units_sold"]["minimum"] == 0
