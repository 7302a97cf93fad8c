"""What contradicts itself among contracts and consumers is caught, with who declares it."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.contracts.evolution.editing import (
    INVENTORY,
    LOYALTY,
    QUARANTINE,
    RECEIPT,
    check_contracts,
    copy_contracts,
    edit,
)

SIMULATOR = "consumers/simulator.yaml"
LEDGER = "  private.simulation.ledger.v1: {for: Curiosity., fields: all}\n"
UNITS = "units: {units: units}"
PUBLIC = "  - {property: visibility, value: public}\n"
# fmt: off
# The file, a text in it, another one in its place, and what the check says.
EDITS: Mapping[str, tuple[str, str, str, str]] = {
    "a private topic is read from outside its domain": (
        LOYALTY, "reads:\n", f"reads:\n{LEDGER}",
        "loyalty reads private.simulation.ledger.v1, which is private to the domain simulation"),
    "a permission is taken away": (
        QUARANTINE, "value: [api, verify]", "value: [verify]",
        "api reads private.quarantine.record.v1, which is private to the domain quarantine"),
    "a permission is given to nobody": (
        QUARANTINE, "value: [api, verify]", "value: [api, verify, apo]",
        "readers names apo, who is not in contracts/consumers"),
    "a consumer reads a field that is not there": (
        LOYALTY, "customer_id", "costumer_id",
        "loyalty reads public.sales.receipt.v1: field costumer_id, which it does not have"),
    "a consumer reads a topic that is not there": (
        LOYALTY, "public.sales.receipt.v1", "public.sales.recipe.v1",
        "loyalty reads public.sales.recipe.v1, which is no contract"),
    "a consumer takes cents for dollars": (
        LOYALTY, 'unit_price_cents": cents', 'unit_price_cents": dollars',
        "public.sales.receipt.v1: lines[].unit_price_cents: relies on dollars, found cents"),
    "a consumer takes any number for a positive one": (
        INVENTORY, UNITS, f"{UNITS}\n      sign: {{units: positive}}",
        "public.inventory.adjustment.v1: units: relies on positive, found anything"),
    "a consumer remembers less than the horizon": (
        LOYALTY, "late: 2 h", "late: 1 h",
        "loyalty reads public.sales.receipt.v1: late: relies on at most 1 h, found 2 h"),
    "a consumer counts on another order": (
        INVENTORY, "order: [record_key]", "order: [topic]",
        "inventory reads public.quarantine.release.v1: order: relies on the key topic"),
    "a consumer relies on a field that it does not use": (
        LOYALTY, '      - "lines[].unit_price_cents"\n', "",
        "relies on lines[].unit_price_cents, which is not among its fields"),
    "a consumer reads a price, and not what it is per": (
        LOYALTY, '      - "lines[].measure"\n', "",
        "field lines[].unit_price_cents without lines[].measure, which says what it is per"),
    "a price is per a field that is always there": (
        RECEIPT, "property: per, value: measure", "property: per, value: sku",
        "expected per: a string beside it that may be absent, of measure, found sku"),
    "nobody writes a topic": (
        SIMULATOR, "  - private.simulation.ledger.v1\n", "",
        "private.simulation.ledger.v1: nobody in contracts/consumers writes it"),
}
# fmt: on


@pytest.mark.parametrize("mistake", EDITS)
def test_a_contradiction_is_caught_with_who_declares_it(mistake: str, tmp_path: Path) -> None:
    file, old, new, expected = EDITS[mistake]
    check_faults(edit(copy_contracts(tmp_path), {file: [(old, new)]}), expected)


def check_faults(folder: Path, expected: str) -> None:
    report = check_contracts(folder)
    assert not report.good
    assert any(expected in fault for fault in report.faults), report.faults


def write_successor(folder: Path) -> None:
    text = (folder / RECEIPT).read_text()
    text = text.replace("receipt.v1", "receipt.v2").replace("1.3.0", "2.0.0")
    (folder / "topics/sales/receipt.v2.yaml").write_text(text)


def end_without_successor(folder: Path) -> None:
    sunset = "  - {property: sunset, value: 2027-03-31}\n"
    changes = [("status: active", "status: deprecated"), (PUBLIC, PUBLIC + sunset)]
    edit(folder, {RECEIPT: changes})


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (write_successor, "public.sales.receipt.v1 has a successor, public.sales.receipt.v2, but"),
        (end_without_successor, "public.sales.receipt.v1 has a sunset, 2027-03-31, but no succ"),
    ],
)
def test_versions_that_do_not_follow_each_other_are_caught(
    change: Callable[[Path], object], expected: str, tmp_path: Path
) -> None:
    change(copy_contracts(tmp_path))
    check_faults(tmp_path, expected)
