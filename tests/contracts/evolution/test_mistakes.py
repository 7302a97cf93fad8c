"""Mistakes that people make with contracts: each is caught, by name, with whom it breaks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from contracts.evolution.check import Report
from tests.contracts.evolution.editing import (
    CLOCK,
    RECEIPT,
    REGISTER,
    SHIPMENT,
    STOCK_LEVEL,
    Edit,
    check_contracts,
    copy_contracts,
    edit,
)

RECEIPTS = "public.sales.receipt.v1"
SHIPMENTS = "public.logistics.shipment.v1"
SHELVES = "public.inventory.stock-level.v1"


@dataclass(frozen=True)
class Break:
    """What the message says: the contract, the change, and who breaks by it."""

    contract: str
    place: str
    text: str
    readers: Sequence[str] = ()
    not_readers: Sequence[str] = ()
    writers: Sequence[str] = ()


def add_field(name: str, after: str) -> Edit:
    """A field more, after the line that ends another."""
    message = (
        f"      - name: {name}\n        description: New.\n        logicalType: string\n"
        "        required: true\n        examples: [x]\n"
    )
    return (after, after + message)


REGISTER_EXAMPLES = (
    "            register_id: S003-R2\n",
    "            register_id: S003-R1\n",
    '          - {breaks: register_id has a length of at least 1, set: {register_id: ""}}\n',
    "          - {breaks: register_id has a length of at most 64, repeat: {register_id: 65}}\n",
)
CUSTOMER = """      - name: customer_id
        description: The customer, if a loyalty card was shown.
        logicalType: string
        required: false
        classification: personal
        customProperties:
          - property: purpose
            value: Visits are counted and points given by customer; the fraud rules know who buys
              in bulk.
          - {property: retention, value: for ever}
        logicalTypeOptions: {minLength: 1, maxLength: 64}
        examples: [C000417]
"""
FROM_LIMIT = "lines[].units is at most 1000000"
TEXTS = ("event_id", "register_id", "cashier_id", "card_token", "customer_id")

BREAKS: Mapping[str, tuple[Mapping[str, Sequence[Edit]], Break]] = {
    "a field that nobody known reads is dropped": (
        {RECEIPT: [(REGISTER, ""), *((one, "") for one in REGISTER_EXAMPLES)]},
        Break(
            RECEIPTS, "register_id", "removed (string)", ["quarantine"], ["inventory", "loyalty"]
        ),
    ),
    "cents become dollars": (
        {RECEIPT: [("property: unit, value: cents", "property: unit, value: dollars")]},
        Break(RECEIPTS, "lines[].unit_price_cents", "cents → dollars", ["loyalty"], ["inventory"]),
    ),
    "a price is no longer per a measure": (
        {RECEIPT: [(", {property: per, value: measure}", "")]},
        Break(
            RECEIPTS,
            "lines[].unit_price_cents",
            "per measure → per piece always",
            ["loyalty", "visits"],
            ["inventory"],
        ),
    ),
    "a required field is added": (
        {
            RECEIPT: [
                add_field("shift_id", REGISTER),
                (
                    "            register_id: S003-R2\n",
                    "            register_id: S003-R2\n            shift_id: x\n",
                ),
                (
                    "            register_id: S003-R1\n",
                    "            register_id: S003-R1\n            shift_id: x\n",
                ),
            ]
        },
        Break(RECEIPTS, "shift_id", "added (required string)"),
    ),
    "a required field may be absent": (
        {RECEIPT: [(REGISTER, REGISTER.replace("required: true", "required: false"))]},
        Break(RECEIPTS, "register_id", "required → optional", ["quarantine"], ["loyalty"]),
    ),
    "an optional field must be there": (
        {RECEIPT: [(CUSTOMER, CUSTOMER.replace("required: false", "required: true"))]},
        Break(RECEIPTS, "customer_id", "optional → required", ["loyalty"], ["inventory"]),
    ),
    "an array's item is renamed": (
        {RECEIPT: [("          name: line\n", "          name: item\n")]},
        Break(RECEIPTS, "lines", "an item is called line → item", ["inventory", "loyalty"]),
    ),
    "a value of an enum is added": (
        {
            SHIPMENT: [
                (
                    "validValues: [dispatched, received]",
                    "validValues: [dispatched, received, lost]",
                ),
                (
                    "status is one of dispatched, received",
                    "status is one of dispatched, received, lost",
                ),
            ]
        },
        Break(SHIPMENTS, "status", "is one of dispatched, received, lost", ["inventory"]),
    ),
    "a rule is tightened": (
        {
            RECEIPT: [
                ("maximum: 1000000", "maximum: 100"),
                (FROM_LIMIT, "lines[].units is at most 100"),
            ]
        },
        Break(
            RECEIPTS,
            "lines[].units",
            "is at most 1000000 → is at most 100",
            (),
            ["inventory", "loyalty"],
            ["simulator", "api"],
        ),
    ),
    "an id becomes longer": (
        {
            RECEIPT: [
                ("maxLength: 64", "maxLength: 65"),
                ("a length of at most 64", "a length of at most 65"),
                *((f"{{{name}: 65}}", f"{{{name}: 66}}") for name in TEXTS),
            ]
        },
        Break(RECEIPTS, "event_id", "a length of at most 65", ["inventory", "fraud"]),
    ),
    "the key is changed": (
        {RECEIPT: [("property: key, value: [store_id]", "property: key, value: [register_id]")]},
        Break(RECEIPTS, "key", "store_id → register_id", ["inventory", "loyalty", "verify"]),
    ),
    "a topic gets more partitions": (
        {RECEIPT: [("property: partitions, value: 4", "property: partitions, value: 8")]},
        Break(RECEIPTS, "partitions", "4 → 8", ["inventory"], ["loyalty"]),
    ),
    "what was kept for ever is kept for a week": (
        {
            RECEIPT: [
                ('retention.ms: "-1"', 'retention.ms: "604800000"'),
                ("property: retention, value: for ever", "property: retention, value: 7 d"),
            ]
        },
        Break(RECEIPTS, "retention.ms", "for ever → 7 d", ["inventory", "loyalty"], ["quarantine"]),
    ),
    "events are compacted": (
        {
            RECEIPT: [
                ('{retention.ms: "-1",', '{cleanup.policy: compact, retention.ms: "-1",'),
                (
                    "property: retention, value: for ever",
                    "property: retention, value: newest per key",
                ),
            ]
        },
        Break(RECEIPTS, "cleanup.policy", "delete → compact", ["inventory", "loyalty"]),
    ),
    "rows are compacted at once": (
        {STOCK_LEVEL: [('min.compaction.lag.ms: "600000"', 'min.compaction.lag.ms: "0"')]},
        Break(SHELVES, "min.compaction.lag.ms", "600000 → 0", ["api"]),
    ),
    "the horizon is longer than readers remember": (
        {RECEIPT: [("value: 2\n    unit: h", "value: 3\n    unit: h")]},
        Break(RECEIPTS, "horizon", "2 h → 3 h", ["inventory", "loyalty"], ["quarantine"]),
    ),
    "the horizon is shorter than writers need": (
        {RECEIPT: [("value: 2\n    unit: h", "value: 1\n    unit: h")]},
        Break(RECEIPTS, "horizon", "2 h → 1 h", (), ["inventory"], ["simulator"]),
    ),
    "smaller records": (
        {RECEIPT: [('{retention.ms: "-1",', '{max.message.bytes: "1000", retention.ms: "-1",')]},
        Break(RECEIPTS, "max.message.bytes", "1048588 → 1000", (), ["inventory"], ["simulator"]),
    ),
    "a private topic takes a field from its reader": (
        {
            CLOCK: [
                ("name: speed_milli", "name: pace_milli"),
                ("speed_milli:", "pace_milli:"),
                ("breaks: speed_milli", "breaks: pace_milli"),
            ]
        },
        Break(
            "private.control.clock.v1",
            "speed_milli",
            "removed",
            ["api", "simulator"],
            ["own-clock"],
        ),
    ),
}


def check_told(report: Report, expected: Break) -> None:
    found = next(
        (
            one
            for one in report.breaks
            if (one.contract, one.change.place) == (expected.contract, expected.place)
            and expected.text in one.change.text
        ),
        None,
    )
    assert found, [(one.contract, one.change.place, one.change.text) for one in report.breaks]
    assert set(expected.readers) <= set(found.readers_broken)
    assert set(expected.not_readers) <= set(found.readers_going_on)
    assert set(expected.writers) <= set(found.writers_broken)
    assert found.change.why
    assert "beside v1" in found.way_out


@pytest.mark.parametrize("mistake", BREAKS)
def test_a_break_is_caught_with_whom_it_breaks(mistake: str, tmp_path: Path) -> None:
    edits, expected = BREAKS[mistake]
    report = check_contracts(edit(copy_contracts(tmp_path), edits))
    assert not report.good
    assert not report.faults
    check_told(report, expected)


def test_a_contract_that_is_removed_breaks_its_readers(tmp_path: Path) -> None:
    (copy_contracts(tmp_path) / RECEIPT).unlink()
    report = check_contracts(tmp_path)
    [found] = report.breaks
    assert (found.contract, found.change.place) == (RECEIPTS, "the contract")
    assert {"inventory", "loyalty"} <= set(found.readers_broken)
