"""A rejected record is kept whole, or says why it is not; a good one is not kept at all."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from contracts import QUARANTINE, RECEIPTS, RELEASES, Contract, decode, encode, encode_key, schemas
from contracts.checks import compile_checks, find_broken
from contracts.partitions import choose_partition
from infra.kafka import Record
from ops.control.reading import NewerSchema
from services.quarantine.follower import create_row

GOOD = RECEIPTS.examples[0]
HOUR_MS = 3_600_000


def create_record(contract: Contract = RECEIPTS, after_ms: int = 0, **fields: Any) -> Record:
    event = {**contract.examples[0], **fields}
    happened_ms = round(contract.examples[0]["event_time"].timestamp() * 1000)
    key = encode_key(contract, event)
    partition = choose_partition(key, contract.settings.partitions)
    headers = [("sequence", b"\0\1"), ("sequence", None)]
    published_ms, value = happened_ms + after_ms, encode(contract, event)
    return Record(contract.name, partition, 10_415, published_ms, key, value, headers)


def decode_row(record: Record) -> dict[str, Any]:
    """The row as a reader of the quarantine decodes it."""
    row = create_row(record)
    assert row is not None
    decoded = decode(encode(QUARANTINE, row)).value
    assert not list(find_broken(compile_checks(QUARANTINE.fields, QUARANTINE.rules), decoded))
    return decoded


def test_a_late_record_is_kept_whole_and_a_good_one_is_not() -> None:
    assert create_row(create_record()) is None
    late = create_record(after_ms=3 * HOUR_MS)
    row = decode_row(late)
    assert (row["topic"], row["partition"], row["offset"]) == (late.topic, late.partition, 10_415)
    assert (row["reason"], row["event_id"]) == ("late", GOOD["event_id"])
    assert row["event_time"] == GOOD["event_time"]
    assert (row["key"], row["value"]) == (late.key, late.value)
    assert [tuple(header.values()) for header in row["headers"]] == list(late.headers)


def test_what_does_not_decode_is_kept_with_its_bytes() -> None:
    row = decode_row(replace(create_record(), key=None, value=b"\xff\0", headers=[]))
    assert (row["reason"], row["key"], row["value"]) == ("undecodable", None, b"\xff\0")
    assert (row["event_id"], row["event_time"]) == (None, None)


def test_an_id_that_is_none_and_times_that_no_calendar_has_are_left_to_the_record() -> None:
    assert decode_row(create_record(event_id=""))["event_id"] is None
    assert decode_row(create_record(event_id="x" * 300))["event_id"] == "x" * 300
    assert decode_row(create_record(event_id="x" * 301))["event_id"] is None
    far = decode_row(replace(create_record(event_time=2**60 // 1000), published_ms=2**60))
    assert far["event_time"] is None
    assert far["published_at"].year == 9999


@pytest.mark.parametrize(
    "large",
    [
        {"value": b"x" * 1_048_577},
        {"key": b"x" * 1_048_577},
        {"value": b"x" * 1_048_576, "key": b"x" * 1_048_576},
        {"value": b"x", "headers": [("h", None)] * 1_001},
    ],
    ids=["value", "key", "both", "headers"],
)
def test_what_is_too_large_to_be_wrapped_says_where_it_is(large: dict[str, Any]) -> None:
    row = decode_row(replace(create_record(after_ms=3 * HOUR_MS), **large))
    assert (row["key"], row["value"], row["headers"]) == (None, None, [])
    assert "too large to be copied" in row["found"]


@pytest.fixture
def newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The id of a schema that the lock file got after this process had loaded it."""
    [*_, last] = schemas.load_lock()
    entries = [asdict(schema) for schema in schemas.load_lock()]
    added = {"id": last.id + 1, "topic": RECEIPTS.name, "schema": {}}
    file = tmp_path / "schemas.lock.json"
    file.write_text(json.dumps([*entries, added]))
    monkeypatch.setattr(schemas, "LOCK", file)
    return last.id + 1


def test_a_schema_that_only_newer_code_knows_stops_and_rejects_nothing(newer: int) -> None:
    value = b"\0" + newer.to_bytes(4, "big") + b"whatever"
    with pytest.raises(NewerSchema, match="Start it again"):
        create_row(replace(create_record(), value=value))
    with pytest.raises(NewerSchema, match=RECEIPTS.name):
        create_row(create_record(RELEASES, value=value))


def test_a_schema_that_nobody_knows_is_undecodable(newer: int) -> None:
    value = b"\0" + (newer + 1).to_bytes(4, "big") + b"whatever"
    assert decode_row(replace(create_record(), value=value))["reason"] == "undecodable"
