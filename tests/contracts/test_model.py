"""Every contract: its model in Python, and what it says of fields, rules and its topic."""

from datetime import UTC, datetime
from typing import Any

import pytest

from contracts import (
    ADJUSTMENTS,
    CONTRACTS,
    QUARANTINE,
    READERS,
    RECEIPTS,
    RELEASES,
    STOCK_LEVELS,
    Contract,
    build_model,
)
from contracts.mapping import TYPES
from tests.contracts.broken_rules import find_broken_rules

LINE = RECEIPTS.examples[0]["lines"][0]
REFUSED: list[tuple[Contract, dict[str, Any]]] = [
    *((ADJUSTMENTS, {"units": units}) for units in (True, 1.0, "1", 2**31, -(2**31) - 1)),
    (ADJUSTMENTS, {"colour": "red"}),
    (ADJUSTMENTS, {"event_time": datetime.fromisoformat("2026-03-02T10:41:07")}),
    (ADJUSTMENTS, {"event_time": datetime(2026, 3, 2, 10, 41, 7, 120_500, UTC)}),
    (RELEASES, {"value": "AAAA"}),
    (RECEIPTS, {"lines": [{**LINE, "colour": "red"}]}),
]


@pytest.mark.parametrize(("contract", "change"), REFUSED, ids=str)
def test_what_the_wire_cannot_hold_is_refused(contract: Contract, change: dict[str, Any]) -> None:
    assert len(find_broken_rules(contract, {**contract.examples[0], **change})) == 1


def test_in_json_bytes_are_base64() -> None:
    released = build_model(RELEASES).model_validate({**RELEASES.examples[0], "value": b"\xff\x00"})
    assert released.model_dump(mode="json")["value"] == "/wA="


def test_every_fault_is_reported_at_once() -> None:
    wrong = {"event_id": "", "event_time": None, "store_id": "a/" * 40, "units": 0, "reason": 7}
    assert find_broken_rules(ADJUSTMENTS, {"sku": "SKU-00417", **wrong}) == {
        "event_id has a length of at least 1",
        "event_time is given",
        "store_id matches ^[^/]{1,64}$",
        "units is not 0",
        "Input should be a valid string",
    }


def test_what_is_no_record_is_refused() -> None:
    assert find_broken_rules(RECEIPTS, ["a", "list"])


def test_the_model_explains_its_fields() -> None:
    explained = build_model(STOCK_LEVELS).model_json_schema()["properties"]["units_sold"]
    assert explained["description"] == "What receipts took from it."
    assert (explained["unit"], explained["examples"], explained["minimum"]) == ("units", [31], 0)


EVERY = pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
OF_THE_WALL = {"control"}
"""Domains whose topics record what programs do, by the wall's clock."""


def test_no_type_is_a_float() -> None:
    assert {row.value for row in TYPES.values()}.isdisjoint({float, complex})


@EVERY
def test_topics_of_record_are_kept_for_ever_and_take_world_time(contract: Contract) -> None:
    config = contract.settings.config
    if contract.kind == "topic" and contract.domain not in OF_THE_WALL:
        assert config["message.timestamp.after.max.ms"] == str(2**63 - 1)
    if contract.kind == "view" or contract.domain in OF_THE_WALL or contract is QUARANTINE:
        gone = contract is READERS  # a reader that is gone is to be forgotten
        assert config["cleanup.policy"] == ("compact,delete" if gone else "compact")
    else:
        assert config["retention.ms"] == "-1"


@EVERY
def test_a_view_whose_keys_go_on_with_time_says_how_long_its_rows_are_kept(
    contract: Contract,
) -> None:
    assert (contract.began is None) == (contract.retention is None)


@EVERY
def test_the_examples_show_every_field_and_what_breaks_each_rule_alone(contract: Contract) -> None:
    shown = {name for example in contract.examples for name in example if example[name] is not None}
    assert shown == {field.name for field in contract.fields}
    for valid in contract.examples:
        assert find_broken_rules(contract, valid) == set()
    for invalid in contract.invalid_examples:
        assert find_broken_rules(contract, invalid.value) == {invalid.rule}
    broken = {example.rule for example in contract.invalid_examples}
    assert {rule.name for rule in contract.rules} == broken
