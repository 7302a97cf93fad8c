"""Whether a record is accepted. The record alone decides, so every reader gets the same answer at
any time.

pipelines/engine/java/Validate.java does the same in Spark, told by portable.py: it gives
the same faults the same names, in the same order, from any bytes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import fastavro

from contracts import codec
from contracts.catalog import ADJUSTMENTS, CONTRACTS, RECEIPTS, REFUNDS, RELEASES, SHIPMENTS
from contracts.checks import compile_path, order_checks
from contracts.errors import Undecodable
from contracts.mapping import build_avro_schema
from contracts.partitions import choose_partition
from contracts.projection import list_fields
from contracts.schemas import find_schemas
from contracts.shape import Contract, Row
from contracts.times import MILLISECOND, render_span, to_instant

UNDECODABLE = "undecodable"
WRONG_KEY = "wrong-key"
WRONG_PARTITION = "wrong-partition"
"""The record is not in the partition of its key: copies of its event may be in another one."""
LATE = "late"
FUTURE = "future"
UNRELEASABLE = "unreleasable"
"""A release whose content is no valid movement of stock."""

RELEASABLE: Mapping[str, Contract] = {
    topic.name: topic for topic in (RECEIPTS, REFUNDS, SHIPMENTS, ADJUSTMENTS)
}
"""The topics whose events can be released: running sums may count them at any time. A version of a
dimension is published again instead."""

VALIDATED: Mapping[str, Contract] = {
    topic.name: topic
    for topic in CONTRACTS.values()
    if topic.kind == "topic" and topic.visibility == "public" and topic.event_time
}
"""Every topic of events: its rejected records go to quarantine."""

OPEN: Mapping[str, Contract] = {
    name: topic
    for name, topic in sorted(VALIDATED.items())
    if topic.domain not in ("quarantine", "world")  # what this project says of itself
}
"""The topics of events that anybody may publish to."""

INT_END = 2**31
TIME_END_MS = 2**63 // 1000 + 1  # Spark counts in microseconds
SHOWN_MAX = 200


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a record is rejected: one word or the rule's name, and the value found."""

    reason: str
    found: str
    event: Row | None = None
    """The event, if the record decodes."""


def validate(
    contract: Contract,
    key: bytes | None,
    value: bytes | None,
    published_ms: int,
    partition: int | None = None,
) -> Row | Rejection:
    """The event, its times in milliseconds of 1970, or its first fault.

    `partition`: where the record is; None for a record that Kafka does not hold yet.
    """
    event = read(contract, value)
    if isinstance(event, Rejection):
        return event
    return (
        find_first_fault(contract, key, event)
        or find_place_fault(contract, key, partition, event)
        or find_timing_fault(contract, event, published_ms)
        or (_find_release_fault(event) if contract is RELEASES else None)
        or event
    )


def read(contract: Contract, value: bytes | None) -> dict[str, Any] | Rejection:
    """The decoded value. Times are milliseconds of 1970: a calendar may not have them."""
    try:
        schema_id = codec.parse_schema_id(value)
        schemas = _load_schemas(contract).get(schema_id)
        if schemas is None:
            raise Undecodable(f"no schema of {contract.name} has the id {schema_id}")
        event = codec.decode_body(value, *schemas)
    except Undecodable as error:
        return Rejection(UNDECODABLE, error.reason)
    for values in _select_fields(contract, "int"):
        if not all(-INT_END <= value < INT_END for value in values(event)):
            return Rejection(UNDECODABLE, f"{_render(values(event))}, expected integers of 32 bits")
    for values in _select_fields(contract, "timestamp"):
        if not all(-TIME_END_MS < value < TIME_END_MS for value in values(event)):
            return Rejection(UNDECODABLE, f"{_render(values(event))}, expected times of 64 bits")
    return event


def find_first_fault(contract: Contract, key: bytes | None, event: Row) -> Rejection | None:
    """The first fault that does not depend on the time of publication."""
    expected = codec.encode_key(contract, event)
    if key != expected:
        return Rejection(WRONG_KEY, f"key {_render(key)}, expected {_render(expected)}", event)
    for asked in order_checks(contract):
        if not asked.holds(event):
            return Rejection(asked.name, f"found {_render(asked.values(event))}", event)
    return None


def find_place_fault(
    contract: Contract, key: bytes | None, partition: int | None, event: Row
) -> Rejection | None:
    """The fault of an event whose record is not in the partition of its key."""
    if partition is None or key is None:
        return None
    expected = choose_partition(key, contract.settings.partitions)
    if partition == expected:
        return None
    found = f"in partition {partition}, expected {expected}, by the hash of Java's clients"
    return Rejection(WRONG_PARTITION, found, event)


def identify(contract: Contract, event: Row) -> tuple[str, Any]:
    """What copies of an event in a partition have in common: its id and when it happened.

    A till that counts anew each morning uses an id again for another event. A copy is in time only
    within the horizon of its event, so a reader may forget an identity after that.
    """
    assert contract.event_time is not None, (
        "a topic of events names the time at which they happened"
    )
    return event["event_id"], event[contract.event_time]


def unwrap(release: Row) -> Row | Rejection:
    """The event within a valid release, its times in milliseconds of 1970, or its fault."""
    original = RELEASABLE.get(release["topic"])
    if original is None:
        listed = ", ".join(RELEASABLE)
        return Rejection(UNRELEASABLE, f"of {release['topic']}, expected one of {listed}", release)
    event = read(original, release["value"])
    if isinstance(event, Rejection):
        return Rejection(UNRELEASABLE, f"the value within: {event.found}", release)
    fault = find_first_fault(original, release["record_key"].encode(), event)
    if fault is not None:
        return Rejection(UNRELEASABLE, f"within: {fault.reason}, {fault.found}", release)
    if event["event_id"] != release["original_event_id"]:
        written = f"original_event_id {_render(release['original_event_id'])}"
        expected = _render(event["event_id"])
        return Rejection(UNRELEASABLE, f"{written}, expected that within, {expected}", release)
    return event


def find_timing_fault(contract: Contract, event: Row, published_ms: int) -> Rejection | None:
    """The fault of an event that is late or ahead if it is published at that time."""
    if contract.event_time is None:
        return None
    happened_ms = event[contract.event_time]
    for reason, limit, by_ms, name in (
        (LATE, contract.horizon, published_ms - happened_ms, "later than the horizon"),
        (FUTURE, contract.skew, happened_ms - published_ms, "earlier than the skew"),
    ):
        if limit is not None and by_ms > limit / MILLISECOND:
            times = f"published {_render_time(published_ms)}, happened {_render_time(happened_ms)}"
            return Rejection(reason, f"{times}: {name} of {render_span(limit)}", event)
    return None


def _find_release_fault(release: Row) -> Rejection | None:
    event = unwrap(release)
    return event if isinstance(event, Rejection) else None


def _render_time(milliseconds: int) -> str:
    time = to_instant(milliseconds)
    if time is None:
        return f"{milliseconds} ms of 1970"
    return f"{time:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def _render(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + "…"


@cache
def _select_fields(contract: Contract, kind: str) -> tuple[Callable[[Row], list[Any]], ...]:
    """The fields of a type; on the wire they may hold more than the type."""
    fields = list_fields(contract.fields)
    return tuple(compile_path(path) for path, field in fields if field.type == kind)


@cache
def _load_schemas(contract: Contract) -> Mapping[int, tuple[Any, Any]]:
    """By schema id: the writer's schema, and the reader's where it differs."""
    present = _simplify(build_avro_schema(contract))
    return {
        number: (
            fastavro.parse_schema(_simplify(written)),
            None if _simplify(written) == present else fastavro.parse_schema(present),
        )
        for number, written in find_schemas(contract).items()
    }


def _simplify(schema: Any) -> Any:
    """The schema with plain integers for times: none overflows, and decoding is faster by half."""
    if isinstance(schema, list):
        return [_simplify(branch) for branch in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {name: _simplify(value) for name, value in schema.items() if name != "logicalType"}
