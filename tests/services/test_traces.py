"""An id is found wherever a record holds it, and not where a sound event has it by chance."""

from typing import Any

import pytest

from contracts import (
    QUARANTINE,
    RECEIPTS,
    REFUNDS,
    RELEASES,
    STOCK_LEVELS,
    VISITS,
    encode,
    encode_key,
)
from contracts.shape import Contract
from infra.kafka import Headers, Record
from services.quarantine.follower import create_row
from services.traces import Traces, find_contract, may_name

NAME = "C77"
TRACES = Traces(frozenset({NAME, "tok_77"}))
FAR_MS = 2**60
"""Milliseconds that no calendar of Python has."""
SOLD: dict[str, Any] = {**RECEIPTS.examples[0], "customer_id": None, "card_token": None}


def create_record(
    contract: Contract, event: Any, key: bytes | None = None, headers: Headers = ()
) -> Record:
    return Record(
        contract.name, 1, 2, 3, key or encode_key(contract, event), encode(contract, event), headers
    )


def sold(**fields: Any) -> Record:
    return create_record(RECEIPTS, {**SOLD, **fields})


def of_bytes(value: bytes | None, topic: str = RECEIPTS.name) -> Record:
    return Record(topic, 1, 2, 3, b"S001", value, ())


def wrap(record: Record) -> Record:
    """The row of a rejected record in the quarantine."""
    row = create_row(record)
    assert row is not None
    return create_record(QUARANTINE, row)


def release(value: bytes) -> Record:
    return create_record(RELEASES, {**RELEASES.examples[0], "value": value})


def refunded_in_no_year() -> Record:
    far = {"event_time": FAR_MS, "customer_id": NAME, "card_token": None}
    return create_record(REFUNDS, {**REFUNDS.examples[0], **far})


@pytest.mark.parametrize(
    "record",
    [
        sold(customer_id=NAME),
        sold(card_token="tok_77"),
        refunded_in_no_year(),
        wrap(refunded_in_no_year()),
        of_bytes(b"\0\0\0\0\x09" + NAME.encode()),
        of_bytes(b'{"customer_id": "C77"}'),
        of_bytes(b'{"customer_id": "C77"}', "public.inventory.adjustment.v1"),
        of_bytes(encode(RECEIPTS, SOLD) + NAME.encode()),
        of_bytes(sold(customer_id=NAME).value, REFUNDS.name),
        wrap(of_bytes(b'{"customer_id": "C77"}')),
        wrap(sold(customer_id=NAME, event_id="")),
        wrap(create_record(RECEIPTS, SOLD, key=NAME.encode())),
        wrap(create_record(RECEIPTS, {**SOLD, "register_id": "x" * 1_100_000}, key=NAME.encode())),
        release(sold(customer_id=NAME).value or b""),
        release(b"of C77"),
        create_record(RECEIPTS, SOLD, key=NAME.encode()),
        create_record(RECEIPTS, SOLD, headers=[("customer", NAME.encode())]),
        create_record(RECEIPTS, SOLD, headers=[(NAME, None)]),
    ],
)
def test_an_id_is_found_wherever_a_record_holds_it(record: Record) -> None:
    assert TRACES.are_in(record)


@pytest.mark.parametrize(
    "record",
    [
        sold(),
        sold(event_id="till-C77-1", register_id=NAME),
        wrap(sold(event_id="till-C77-1", lines=[])),
        release(sold(event_id="till-C77-1").value or b""),
        of_bytes(b"\0\0"),
        of_bytes(None),
        create_record(RECEIPTS, {**SOLD, "store_id": NAME}),
        create_record(RECEIPTS, SOLD, headers=[("sent_at", b"....." + NAME.encode())]),
    ],
)
def test_a_part_of_another_text_is_no_trace(record: Record) -> None:
    assert not TRACES.are_in(record)


def test_the_changelog_of_a_view_that_names_customers_is_read_too() -> None:
    assert find_contract("public.analytics.visit.v2.g7") is VISITS
    assert may_name("public.analytics.visit.v2.g7")
    assert not may_name(f"{STOCK_LEVELS.name}.g7")
    assert not may_name("__consumer_offsets")
