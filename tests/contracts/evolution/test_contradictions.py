"""What contradicts itself among contracts and consumers is caught, with who declares it."""

import shutil
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

LEDGER = "  private.simulation.ledger.v1: {for: Curiosity., fields: all}\n"
PER_SKU = "property: per, value: sku"
FAULTS: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "a private topic is read from outside its domain": (
        lambda at: edit(at, {LOYALTY: [("reads:\n", f"reads:\n{LEDGER}")]}),
        "loyalty reads private.simulation.ledger.v1, which is private to the domain simulation",
    ),
    "a permission is taken away": (
        lambda at: edit(at, {QUARANTINE: [("value: [api, verify]", "value: [verify]")]}),
        "api reads private.quarantine.record.v1, which is private to the domain quarantine",
    ),
    "a permission is given to nobody": (
        lambda at: edit(at, {QUARANTINE: [("value: [api, verify]", "value: [api, verify, apo]")]}),
        "readers names apo, who is not in contracts/consumers",
    ),
    "a consumer reads a field that is not there": (
        lambda at: edit(at, {LOYALTY: [("customer_id", "costumer_id")]}),
        "loyalty reads public.sales.receipt.v1: field costumer_id, which it does not have",
    ),
    "a consumer reads a topic that is not there": (
        lambda at: edit(at, {LOYALTY: [("public.sales.receipt.v1", "public.sales.recipe.v1")]}),
        "loyalty reads public.sales.recipe.v1, which is no contract",
    ),
    "a consumer takes cents for dollars": (
        lambda at: edit(
            at, {LOYALTY: [('unit_price_cents": cents', 'unit_price_cents": dollars')]}
        ),
        "loyalty reads public.sales.receipt.v1: lines[].unit_price_cents: relies on dollars, "
        "found cents",
    ),
    "a consumer takes any number for a positive one": (
        lambda at: edit(
            at,
            {
                INVENTORY: [
                    (
                        "units: {units: units}",
                        "units: {units: units}\n      sign: {units: positive}",
                    )
                ]
            },
        ),
        "inventory reads public.inventory.adjustment.v1: units: relies on positive, found anything",
    ),
    "a consumer has room for fewer items than may come": (
        lambda at: edit(
            at, {LOYALTY: [("relies_on:\n", "relies_on:\n      at_most: {lines: 1999}\n")]}
        ),
        "loyalty reads public.sales.receipt.v1: lines: relies on at most 1999, found at most 2000",
    ),
    "a consumer remembers less than the horizon": (
        lambda at: edit(at, {LOYALTY: [("late: 2 h", "late: 1 h")]}),
        "loyalty reads public.sales.receipt.v1: late: relies on at most 1 h, found 2 h",
    ),
    "a consumer counts on another order": (
        lambda at: edit(at, {INVENTORY: [("order: [record_key]", "order: [topic]")]}),
        "inventory reads public.quarantine.release.v1: order: relies on the key topic",
    ),
    "a consumer relies on a field that it does not use": (
        lambda at: edit(at, {LOYALTY: [('      - "lines[].unit_price_cents"\n', "")]}),
        "relies on lines[].unit_price_cents, which is not among its fields",
    ),
    "a consumer reads a price, and not what it is per": (
        lambda at: edit(at, {LOYALTY: [('      - "lines[].measure"\n', "")]}),
        "loyalty reads public.sales.receipt.v1: field lines[].unit_price_cents without "
        "lines[].measure, which says what it is per",
    ),
    "a price is per a field that is always there": (
        lambda at: edit(at, {RECEIPT: [("property: per, value: measure", PER_SKU)]}),
        "expected per: a string beside it that may be absent, of measure, found sku",
    ),
    "nobody writes a topic": (
        lambda at: edit(
            at, {"consumers/simulator.yaml": [("  - private.simulation.ledger.v1\n", "")]}
        ),
        "private.simulation.ledger.v1: nobody in contracts/consumers writes it",
    ),
    "a released version is changed": (
        lambda at: edit(
            at, {"released/topics/sales/receipt.v1/1.0.0.yaml": [("till", "cash desk")]}
        ),
        "released/topics/sales/receipt.v1/1.0.0.yaml should be as it was released, but was changed",
    ),
    "a released version is removed": (
        lambda at: (at / "released/topics/sales/receipt.v1/1.0.0.yaml").unlink(),
        "receipt.v1/1.0.0.yaml should be there as it was released, but is gone",
    ),
    "a version is slipped in": (
        lambda at: shutil.copy(
            edit(at, {RECEIPT: [("version: 1.3.0", "version: 1.4.0")]}) / RECEIPT,
            at / "released/topics/sales/receipt.v1/1.4.0.yaml",
        ),
        "released/topics/sales/receipt.v1/1.4.0.yaml should have a line in digests.txt",
    ),
    "a successor without a sunset for the one before": (
        lambda at: (at / "topics/sales/receipt.v2.yaml").write_text(
            (at / RECEIPT).read_text().replace("receipt.v1", "receipt.v2").replace("1.3.0", "2.0.0")
        ),
        "public.sales.receipt.v1 has a successor, public.sales.receipt.v2, but no sunset",
    ),
    "a sunset without a successor": (
        lambda at: edit(
            at,
            {
                RECEIPT: [
                    ("status: active", "status: deprecated"),
                    (
                        "  - {property: visibility, value: public}\n",
                        "  - {property: visibility, value: public}\n"
                        "  - {property: sunset, value: 2027-03-31}\n",
                    ),
                ]
            },
        ),
        "public.sales.receipt.v1 has a sunset, 2027-03-31, but no successor",
    ),
}


@pytest.mark.parametrize("mistake", FAULTS)
def test_a_contradiction_is_caught_with_who_declares_it(mistake: str, tmp_path: Path) -> None:
    make, expected = FAULTS[mistake]
    make(copy_contracts(tmp_path))
    report = check_contracts(tmp_path)
    assert not report.good
    assert any(expected in fault for fault in report.faults), report.faults
