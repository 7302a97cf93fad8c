"""Values as JSON spells them, there and back."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from contracts import CONTRACTS, RECEIPTS, Contract, build_model
from contracts.documents import from_document, to_document
from contracts.faults import check_timing, find_faults

EVENTS = [
    contract for contract in CONTRACTS.values() if contract.kind == "topic" and contract.event_time
]
RECEIPT = RECEIPTS.examples[0]


@pytest.mark.parametrize("contract", EVENTS, ids=str)
def test_an_example_comes_back_from_json_as_it_was_and_has_no_faults(contract: Contract) -> None:
    for example in contract.examples:
        given = {name: value for name, value in example.items() if not isinstance(value, bytes)}
        written = json.loads(json.dumps(to_document(contract, given)))
        create = build_model(contract).model_construct
        kept = {name: _drop_none(value) for name, value in given.items() if value is not None}
        assert create(**from_document(contract, written)) == create(**kept)
        if given == example:
            assert find_faults(contract, from_document(contract, written)) == ()


def _drop_none(value: Any) -> Any:
    if isinstance(value, list):
        return [
            {name: inner for name, inner in item.items() if inner is not None} for item in value
        ]
    return value


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"event_time": "soon"}, "event_time: Input should be a valid datetime, found 'soon'"),
        ({"event_time": 7}, "event_time: Input should be a valid datetime, found 7"),
        ({"lines": [7]}, "lines[0]: Input should be a valid dictionary"),
        ({"lines": None}, "lines: lines is given, found nothing"),
        ({"till": 7}, "till: Extra inputs are not permitted, found 7"),
        ({"store_id": "x" * 99}, f"found '{'x' * 79}"),
    ],
)
def test_a_fault_says_where_what_and_what_was_found(changes: dict[str, Any], message: str) -> None:
    document = to_document(RECEIPTS, RECEIPT) | changes
    [fault] = find_faults(RECEIPTS, from_document(RECEIPTS, document))
    assert message in str(fault)


def test_a_fault_of_time_has_the_words_of_validation() -> None:
    event = {**RECEIPT, "event_time": datetime(2026, 3, 2, 10, 0, tzinfo=UTC)}
    noon_ms = int(datetime(2026, 3, 2, 12, 0, tzinfo=UTC).timestamp()) * 1000
    assert check_timing(RECEIPTS, event, noon_ms) == ()
    [late] = check_timing(RECEIPTS, event, noon_ms + 1)
    assert (late.place, late.problem) == ("event_time", "late")
    assert late.found.endswith("later than the horizon of 2 h")
