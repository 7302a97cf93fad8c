"""A change that is only half made: what is wrong is told, and whom the rest of it breaks."""

from pathlib import Path

import pytest

from tests.contracts.evolution.editing import (
    ADJUSTMENT,
    INVENTORY,
    LOYALTY,
    RECEIPT,
    SHIPMENT,
    STOCK_LEVEL,
    Edit,
    check_contracts,
    copy_contracts,
    edit,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_contracts(tmp_path)


def test_who_breaks_by_a_new_name_is_told_while_the_examples_have_the_old_one(
    folder: Path,
) -> None:
    rename = ("            - name: units\n", "            - name: quantity\n")
    report = check_contracts(edit(folder, {RECEIPT: [rename]}))
    for number in range(3):
        told = f"examples.{number}: expected a record of this contract, found fields that"
        assert any(told in fault for fault in report.faults)
    [removed] = [each for each in report.breaks if each.change.place == "lines[].units"]
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
    assert {each.contract for each in report.breaks} == {"public.inventory.stock-level.v1"}
    [units] = [each for each in report.breaks if each.change.place == "units_on_hand"]
    assert "api" in units.readers_broken


@pytest.mark.parametrize(
    ("file", "change"),
    [
        (RECEIPT, ("physicalType: int", "physicalType: i")),
        (ADJUSTMENT, ("notEqual: 0", "notEqual: zero")),
        (RECEIPT, ("value: [store_id]", "value: [shop_id]")),
        (RECEIPT, ("apiVersion", "[")),
        (INVENTORY, ("relies_on:", "relies_upon:")),
    ],
    ids=["a field", "a condition", "the key", "a whole contract", "a consumer"],
)
def test_what_is_not_understood_breaks_nobody(file: str, change: Edit, folder: Path) -> None:
    report = check_contracts(edit(folder, {file: [change]}))
    assert report.breaks == ()
    assert report.faults
    assert all(fault.startswith(f"{file}:") for fault in report.faults), report.faults


def test_a_new_contract_that_is_not_understood_breaks_nobody(folder: Path) -> None:
    (folder / "topics/sales/exchange.v1.yaml").write_text("id: 7")
    edit(folder, {LOYALTY: [("reads:\n", "writes: [public.sales.exchange.v1]\n\nreads:\n")]})
    report = check_contracts(folder)
    assert report.breaks == ()
    assert all(fault.startswith("topics/sales/exchange.v1.yaml") for fault in report.faults)


@pytest.mark.parametrize(
    ("change", "line", "told"),
    [
        (("name: register_id\n", "name: RegisterId\n"), "name: RegisterId", "'RegisterId'"),
        (("- event_id: S003-8412-R18", "- event_idd: S"), "event_idd: S", "event_idd"),
        (("unit: m\n", "unit: weeks\n"), "unit: weeks", "'weeks'"),
    ],
)
def test_a_fault_has_its_line(change: Edit, line: str, told: str, folder: Path) -> None:
    [fault] = check_contracts(edit(folder, {RECEIPT: [change]})).faults
    before, _, _ = (folder / RECEIPT).read_text().partition(line)
    number = before.count("\n") + 1
    assert fault.startswith(f"{RECEIPT}:{number}: ")
    assert told in fault
