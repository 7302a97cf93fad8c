"""One record, one verdict: the first thing that is wrong with it, in a word."""

import io
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import fastavro
import pytest

from contracts import (
    ADJUSTMENTS,
    DIMENSIONS,
    NOTICE,
    ON_ITS_WAY,
    RECEIPTS,
    RELEASES,
    Contract,
    build_avro_schema,
    encode,
    encode_key,
    holds_from,
)
from contracts.partitions import choose_partition, murmur2
from contracts.times import render_span, to_instant
from contracts.validation import VALIDATED, Rejection, validate

RECEIPT = RECEIPTS.examples[0]
RELEASE = RELEASES.examples[0]
MINUTE_MS = 60_000


def happened_ms(event: Mapping[str, Any]) -> int:
    happened: datetime = event["event_time"]
    return round(happened.timestamp() * 1000)


def find_reason(contract: Contract, event: Mapping[str, Any], after_ms: int = 0) -> str | None:
    key, written = encode_key(contract, event), encode(contract, event)
    verdict = validate(contract, key, written, happened_ms(event) + after_ms)
    return verdict.reason if isinstance(verdict, Rejection) else None


def reject(key: bytes | None, value: bytes | None) -> Rejection:
    verdict = validate(RECEIPTS, key, value, happened_ms(RECEIPT))
    assert isinstance(verdict, Rejection)
    return verdict


@pytest.mark.parametrize("contract", VALIDATED.values(), ids=VALIDATED)
def test_every_invalid_example_is_rejected_by_its_rule(contract: Contract) -> None:
    examples = [
        example for example in contract.invalid_examples if not example.rule.endswith("is given")
    ]
    assert examples  # what is not given cannot be encoded
    for example in examples:
        assert find_reason(contract, example.value) == example.rule


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b"\0\xff\xff\xff\xff", "the id 4294967295"),
        (encode(ADJUSTMENTS, ADJUSTMENTS.examples[0]), "no schema of public.sales.receipt.v1"),
        (encode(RECEIPTS, RECEIPT)[:-1], "does not decode: it ends too soon"),
    ],
)
def test_what_does_not_decode_says_why(value: bytes, found: str) -> None:
    assert reject(b"S003", value).reason == "undecodable"
    assert found in reject(b"S003", value).found


def test_the_key_is_looked_at_before_the_rules() -> None:
    broken = encode(RECEIPTS, {**RECEIPT, "event_id": ""})
    assert reject(None, broken).reason == "wrong-key"
    assert reject(b"S003", broken).reason == "event_id has a length of at least 1"


def test_the_rules_are_held_in_the_order_of_the_contract() -> None:
    [line, *_] = RECEIPT["lines"]
    both = {**RECEIPT, "register_id": "", "lines": [line, {**line, "units": 0}]}
    assert find_reason(RECEIPTS, both) == "register_id has a length of at least 1"
    assert find_reason(RECEIPTS, {**both, "register_id": "R"}) == "lines[].units is at least 1"


def test_a_rejection_holds_what_the_record_says() -> None:
    broken = encode(RECEIPTS, {**RECEIPT, "cashier_id": ""})
    rejection = reject(b"S003", broken)
    assert rejection.event is not None
    assert rejection.event["event_id"] == RECEIPT["event_id"]
    assert rejection.found == "found ['']"


@pytest.mark.parametrize(
    ("at_ms", "reason"), [(2**60 // 1000, "future"), (2**63 // 1000 + 1, "undecodable")]
)
def test_a_time_that_no_calendar_has_is_ahead_and_one_that_no_engine_has_undecodable(
    at_ms: int, reason: str
) -> None:
    assert to_instant(at_ms) is None
    never = encode(RECEIPTS, {**RECEIPT, "event_time": at_ms})
    assert reject(b"S003", never).reason == reason


@pytest.mark.parametrize("units", [2**34, -(2**34) - 1, 2**32 + 7, -(2**32) - 7, 2**31])
def test_an_integer_of_more_than_32_bits_on_the_wire_is_undecodable(units: int) -> None:
    wide = {**ADJUSTMENTS.examples[0], "units": units}
    fields = [
        {**field, "type": "long"} if field["name"] == "units" else field
        for field in build_avro_schema(ADJUSTMENTS)["fields"]
    ]
    body = io.BytesIO()
    fastavro.schemaless_writer(body, {**build_avro_schema(ADJUSTMENTS), "fields": fields}, wide)
    written = encode(ADJUSTMENTS, ADJUSTMENTS.examples[0])[:5] + body.getvalue()
    verdict = validate(ADJUSTMENTS, encode_key(ADJUSTMENTS, wide), written, happened_ms(wide))
    assert isinstance(verdict, Rejection)
    assert verdict.reason == "undecodable"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("topic", "public.pricing.price-change.v1"),
        ("topic", "public.sales.refund.v1"),
        ("value", b"{}"),
        ("record_key", "S004"),
        ("original_event_id", "S003-8412-R19"),
    ],
)
def test_a_release_that_wraps_something_else_is_unreleasable(field: str, value: object) -> None:
    assert find_reason(RELEASES, {**RELEASE, field: value}) == "unreleasable"


def test_a_release_is_not_late_by_the_time_of_the_original() -> None:
    assert find_reason(RELEASES, {**RELEASE, "original_event_time": 0}) is None
    assert find_reason(RELEASES, RELEASE, 61 * MINUTE_MS) == "late"


def test_a_length_of_time_is_told_in_its_largest_unit() -> None:
    lengths = timedelta(days=2), timedelta(hours=2), timedelta(minutes=90), timedelta(seconds=1)
    assert [render_span(length) for length in lengths] == ["2 d", "2 h", "90 min", "1 s"]


@pytest.mark.parametrize("contract", VALIDATED.values(), ids=VALIDATED)
def test_an_event_comes_after_what_holds_at_its_moment(contract: Contract) -> None:
    assert (contract.skew or timedelta()) + ON_ITS_WAY <= NOTICE


def test_every_topic_with_a_moment_from_which_it_holds_is_one_of_facts() -> None:
    names = {name: {field.name for field in topic.fields} for name, topic in VALIDATED.items()}
    assert {name for name in names if "effective_at" in names[name]} == set(DIMENSIONS)


@pytest.mark.parametrize(("notice", "later"), [(11, 0), (10, 0), (9, 1), (0, 10), (-60, 70)])
def test_a_fact_holds_when_it_says_or_once_it_has_had_its_notice(notice: int, later: int) -> None:
    effective_ms = 1_000 * MINUTE_MS
    published_ms = effective_ms - notice * MINUTE_MS
    assert holds_from(effective_ms, published_ms) == effective_ms + later * MINUTE_MS


@pytest.mark.parametrize(
    ("key", "hashed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_the_one_in_kafka_s_own_test(key: bytes, hashed: int) -> None:
    assert murmur2(key) == hashed % 2**32


def test_stores_spread_over_the_partitions() -> None:
    assert {choose_partition(f"S{number:03d}".encode(), 4) for number in range(12)} == {0, 1, 2, 3}
