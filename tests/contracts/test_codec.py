"""Bytes on the wire: there and back, and a reason for each failure; and the digest of a view."""

import contextlib
import io
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import (
    ADJUSTMENTS,
    ALERTS,
    BOOKS,
    CONTRACTS,
    GENERATIONS,
    RECEIPTS,
    RELEASES,
    STOCK_LEVELS,
    Contract,
    Undecodable,
    Unencodable,
    build_avro_schema,
    compute_digest,
    decode,
    encode,
    encode_key,
    get_contract,
    get_schema_id,
)
from tests.contracts.broken_rules import find_broken_rules
from tests.contracts.strategies import valid

ADJUSTMENT = ADJUSTMENTS.examples[0]


@pytest.mark.parametrize("name", CONTRACTS)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_what_is_encoded_is_decoded_and_is_what_any_avro_writer_writes(
    name: str, data: st.DataObject
) -> None:
    agreed = CONTRACTS[name]
    record = data.draw(valid(agreed))
    assert find_broken_rules(agreed, record) == set()
    encoded, number = encode(agreed, record), get_schema_id(agreed)
    decoded = decode(encoded)
    assert decoded.contract is agreed
    assert (decoded.value, decoded.schema_id) == (record, number)
    body = io.BytesIO()
    fastavro.schemaless_writer(body, build_avro_schema(agreed), record)
    assert encoded == b"\0" + number.to_bytes(4, "big") + body.getvalue()


def test_a_timestamp_may_be_given_in_milliseconds() -> None:
    decoded = decode(encode(ADJUSTMENTS, {**ADJUSTMENT, "event_time": 1_772_448_067_120}))
    assert decoded.value["event_time"] == datetime(2026, 3, 2, 10, 41, 7, 120_000, tzinfo=UTC)


def test_an_absent_optional_field_comes_back_as_none() -> None:
    cash = {name: value for name, value in RECEIPTS.examples[0].items() if name != "card_token"}
    assert decode(encode(RECEIPTS, cash)).value["card_token"] is None


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda _: None, "no value"),
        (lambda _: b"", "too short"),
        (lambda whole: whole[:4], "too short"),
        (lambda whole: b"{" + whole[1:], "wrong magic byte 123"),
        (lambda whole: b"\0\0\1\0\0" + whole[5:], "unknown schema id 65536"),
        (lambda whole: whole[:5], "does not decode"),
        (lambda whole: whole[:-1], "does not decode"),
        (lambda whole: whole[:5] + b"\x01" + whole[6:], "does not decode"),
    ],
)
def test_what_does_not_decode_says_why(
    damage: Callable[[bytes], bytes | None], reason: str
) -> None:
    with pytest.raises(Undecodable, match=reason):
        decode(damage(encode(ADJUSTMENTS, ADJUSTMENT)))


def test_what_follows_the_body_is_ignored_as_spark_does() -> None:
    assert decode(encode(ADJUSTMENTS, ADJUSTMENT) + b"\0\0").value == ADJUSTMENT


@given(noise=st.binary(max_size=80))
def test_noise_never_ends_in_another_error(noise: bytes) -> None:
    frame = encode(RECEIPTS, RECEIPTS.examples[0])[:5]
    with contextlib.suppress(Undecodable):
        assert decode(frame + noise).contract is RECEIPTS


LINE = RECEIPTS.examples[0]["lines"][0]
UNFIT: list[tuple[Contract, str, Any]] = [
    *((ADJUSTMENTS, "units", units) for units in ("many", 0.5, 2**31)),
    (ADJUSTMENTS, "colour", "red"),
    *((ADJUSTMENTS, "event_time", time) for time in ("noon", 2**63, 0.5, 1772448067120.7)),
    (ADJUSTMENTS, "event_time", datetime(2026, 3, 2)),  # noqa: DTZ001
    *((RECEIPTS, "lines", lines) for lines in (7, [{"sku": "SKU-7"}], [None])),
    (RECEIPTS, "lines", [{**LINE, "colour": "red"}]),
]


@pytest.mark.parametrize(("contract", "field", "value"), UNFIT, ids=str)
def test_a_value_that_does_not_fit_is_not_encoded(
    contract: Contract, field: str, value: Any
) -> None:
    with pytest.raises(Unencodable, match=contract.name):
        encode(contract, {**contract.examples[0], field: value})


@pytest.mark.parametrize("name", CONTRACTS)
def test_without_a_required_field_nothing_is_encoded(name: str) -> None:
    agreed = CONTRACTS[name]
    for field in (each.name for each in agreed.fields if each.required):
        absent = {other: value for other, value in agreed.examples[0].items() if other != field}
        for event in (absent, {**absent, field: None}):
            with pytest.raises(Unencodable, match=name):
                encode(agreed, event)


def test_a_key_joins_its_fields() -> None:
    assert encode_key(STOCK_LEVELS, STOCK_LEVELS.examples[0]) == b"S003/SKU-00417"
    assert encode_key(BOOKS, BOOKS.examples[0]) == b"inventory/1/public.sales.receipt.v1/2"


def test_a_time_in_a_key_is_milliseconds_however_it_is_given() -> None:
    alert = ALERTS.examples[0]
    for event in (alert, {**alert, "interval_start": 1_772_445_600_000}):
        assert encode_key(ALERTS, event) == b"card-velocity/tok_9a31/1772445600000"


def test_an_unknown_contract_names_those_that_are_known() -> None:
    with pytest.raises(LookupError, match=RECEIPTS.name):
        get_contract("public.sales.recipe.v1")


SHELF = STOCK_LEVELS.examples[0]
SHELVES = [{**SHELF, "sku": f"SKU-{number}"} for number in range(20)]

MORE: dict[str, Any] = {"string": "x", "timestamp": timedelta(milliseconds=1)}
"""What makes another value of a field of this type; of a number: one."""

IN_MS = {"first_event_time": 1_772_409_600_000, "last_event_time": 1_772_448_067_120}
ALIKE: dict[str, tuple[list[Any], list[Any]]] = {
    "rows in another order": (random.Random(1).sample(SHELVES, len(SHELVES)), SHELVES),
    "fields in another order": ([dict(reversed(list(SHELF.items())))], [SHELF]),
    "times in milliseconds": ([{**SHELF, **IN_MS}], [SHELF]),
}


@pytest.mark.parametrize("rows", ALIKE.values(), ids=ALIKE)
def test_what_says_the_same_has_the_same_digest(rows: tuple[list[Any], list[Any]]) -> None:
    assert compute_digest(STOCK_LEVELS, rows[0]) == compute_digest(STOCK_LEVELS, rows[1])


@pytest.mark.parametrize("field", STOCK_LEVELS.fields, ids=lambda field: field.name)
def test_every_field_counts(field: Any) -> None:
    changed = {**SHELF, field.name: SHELF[field.name] + MORE.get(field.type, 1)}
    assert compute_digest(STOCK_LEVELS, [changed]) != compute_digest(STOCK_LEVELS, [SHELF])


def test_every_row_what_is_within_an_array_and_bytes_that_are_no_text_count() -> None:
    assert compute_digest(STOCK_LEVELS, SHELVES[1:]) != compute_digest(STOCK_LEVELS, SHELVES)
    [promoted, *others] = GENERATIONS.examples[0]["generations"]
    changed = {"generations": [{**promoted, "code_digest": "other"}, *others]}
    for contract, change in ((GENERATIONS, changed), (RELEASES, {"value": b"\xff"})):
        row = contract.examples[0]
        assert compute_digest(contract, [{**row, **change}]) != compute_digest(contract, [row])


def test_the_form_is_settled() -> None:
    # printf '{"store_id":"S003",…}\n' | sha256sum
    assert compute_digest(STOCK_LEVELS, [SHELF]).startswith("8513642e")
    assert compute_digest(STOCK_LEVELS, []).startswith("e3b0c442")


def test_two_rows_of_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="found two of S003/SKU-00417"):
        compute_digest(STOCK_LEVELS, [SHELF, {**SHELF, "version": 38}])
