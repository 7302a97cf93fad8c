"""A change that is only half made: all that is wrong is told at once, with whom it breaks."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from contracts.evolution.check import Report
from contracts.evolution.verdict import Finding
from tests.contracts.evolution.editing import (
    ADJUSTMENT,
    INVENTORY,
    LOYALTY,
    RECEIPT,
    SHIPMENT,
    STOCK_LEVEL,
    check_contracts,
    copy_contracts,
    edit,
)

RECEIPTS, STOCK = "public.sales.receipt.v1", "public.inventory.stock-level.v1"
RENAME = ("            - name: units\n", "            - name: quantity\n")
UNITS = (
    "physicalType: {}\n              required: true\n              logicalTypeOptions: {{minimum: 1"
)
TO_LONG = (UNITS.format("int"), UNITS.format("long"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_contracts(tmp_path)


def find_break(report: Report, contract: str, place: str) -> Finding:
    found = [
        finding
        for finding in report.breaks
        if (finding.contract, finding.change.place) == (contract, place)
    ]
    assert len(found) == 1, [(finding.contract, finding.change.place) for finding in report.breaks]
    return found[0]


def test_who_breaks_by_a_new_name_is_told_while_examples_and_rules_have_the_old_one(
    folder: Path,
) -> None:
    report = check_contracts(edit(folder, {RECEIPT: [RENAME]}))
    told = "\n".join(report.faults)
    assert "examples 1, 2, 3" in told
    for limit in ("least 1", "most 1000000"):
        assert f"'lines[].units is at {limit}', which is no rule" in told
    assert "'lines[].units', which is no field" in told
    removed = find_break(report, RECEIPTS, "lines[].units")
    assert "renamed? lines[].units → lines[].quantity" in removed.change.text
    assert {"inventory", "fraud", "loyalty"} <= set(removed.readers_broken)
    assert len(removed.readers_broken) == 11
    assert "forgetting" in removed.readers_going_on


def test_a_fault_of_one_contract_hides_none_of_another(folder: Path) -> None:
    edits = {
        RECEIPT: [("status: active", "status: [")],
        SHIPMENT: [("description: ", "descripton: ")],
        ADJUSTMENT: [("engine: predicate", "engine: soda")],
        STOCK_LEVEL: [("physicalType: long", "physicalType: int")],
        LOYALTY: [("relies_on:", "relies_upon:")],
    }
    report = check_contracts(edit(folder, edits))
    for name in (RECEIPT, SHIPMENT, ADJUSTMENT, LOYALTY):
        assert any(fault.startswith(f"{name}:") for fault in report.faults), name
    assert {finding.contract for finding in report.breaks} == {STOCK}
    assert "api" in find_break(report, STOCK, "units_on_hand").readers_broken


def test_what_breaks_within_a_contract_is_told_beside_all_of_its_faults(folder: Path) -> None:
    edits = [
        TO_LONG,
        ("description: Who sat at the till.", "descripton: Who sat at the till."),
        ("status: active", "status: active\nteem: {name: tills}"),
        ("value: 4}", "value: 0}"),
        ("examples: [S003-R2]", "examples: [7]"),
        ("id: public.sales.receipt.v1", "id: public.sales.receipts.v1"),
        ("breaks: lines has", "breaks: lines had"),
    ]
    report = check_contracts(edit(folder, {RECEIPT: edits}))
    told = "\n".join(report.faults)
    for part in (
        "Did you mean description?",
        "Did you mean team?",
        "partitions: expected 1 to",
        "field register_id: expected examples of type string",
        "expected public.sales.receipt.v1, found public.sales.receipts.v1",
        "'lines had a length of at least 1', which is no rule",
    ):
        assert part in told
    [only] = report.breaks
    assert (only.change.place, only.change.text) == ("lines[].units", "int → long")
    assert {"inventory", "loyalty"} <= set(only.readers_broken)


# What is not understood, the file, a text in it and another one in its place.
UNREAD: Mapping[str, tuple[str, str, str]] = {
    "the type of a field": (RECEIPT, "physicalType: int", "physicalType: i"),
    "the limit of a rule": (RECEIPT, "{minItems: 1,", "{minItems: one,"),
    "a condition": (ADJUSTMENT, "notEqual: 0", "notEqual: zero"),
    "the key": (RECEIPT, "value: [store_id]", "value: [shop_id]"),
    "the topic's settings": (RECEIPT, 'retention.ms: "-1"', "retention.ms: 1"),
    "a horizon": (RECEIPT, "unit: h", "unit: weeks"),
    "the visibility": (RECEIPT, "value: public", "value: secret"),
    "a whole contract": (RECEIPT, "apiVersion", "["),
    "a consumer": (INVENTORY, "relies_on:", "relies_upon:"),
}


@pytest.mark.parametrize("part", UNREAD)
def test_what_is_not_understood_breaks_nobody(part: str, folder: Path) -> None:
    file, old, new = UNREAD[part]
    report = check_contracts(edit(folder, {file: [(old, new)]}))
    assert report.breaks == ()
    assert report.faults
    assert all(fault.startswith(file) for fault in report.faults), report.faults


def test_a_new_contract_that_is_not_understood_breaks_nobody(folder: Path) -> None:
    (folder / "topics/sales/exchange.v1.yaml").write_text("id: 7")
    edit(folder, {LOYALTY: [("reads:\n", "writes: [public.sales.exchange.v1]\n\nreads:\n")]})
    report = check_contracts(folder)
    assert report.breaks == ()
    assert all(fault.startswith("topics/sales/exchange.v1.yaml") for fault in report.faults)


def test_a_fault_has_its_line(folder: Path) -> None:
    edits = [
        ("name: register_id\n", "name: RegisterId\n"),
        ("      - event_id: S003-8412-R18\n", "      - event_idd: S003-8412-R18\n"),
        ("unit: m\n", "unit: weeks\n"),
    ]
    faults = check_contracts(edit(folder, {RECEIPT: edits})).faults
    lines = (folder / RECEIPT).read_text().splitlines()
    for text, problem in (
        ("name: RegisterId", "'RegisterId'"),
        ("event_idd", "does not have: event_idd"),
        ("property: skew", "5 weeks"),
    ):
        line = next(number for number, line in enumerate(lines, 1) if text in line)
        assert any(f.startswith(f"{RECEIPT}:{line}: ") and problem in f for f in faults), faults
