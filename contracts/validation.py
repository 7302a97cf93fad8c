"""Whether a record is accepted: the record alone decides, so the answer is the same for every
reader at any time.

The twin of pipelines/common/transform/validate.py: the same names for the same faults, in the same
order.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import fastavro

from contracts import codec
from contracts.catalog import ADJUSTMENTS, CONTRACTS, RECEIPTS, REFUNDS, RELEASES, SHIPMENTS
from contracts.checks import compile_path, order_checks
from contracts.errors import Undecodable
from contracts.mapping import build_avro_schema
from contracts.schemas import find_schemas
from contracts.shape import Contract, Field, Row
from contracts.times import MILLISECOND, render_span, to_instant

UNDECODABLE = "undecodable"
WRONG_KEY = "wrong-key"
LATE = "late"
FUTURE = "future"
UNRELEASABLE = "unreleasable"
"""A release that wraps no movement of stock as its original's contract has it."""

RELEASABLE: Mapping[str, Contract] = {
    topic.name: topic for topic in (RECEIPTS, REFUNDS, SHIPMENTS, ADJUSTMENTS)
}
"""The topics whose events can be released: running sums count them at any time. Dimensions are
announced again instead."""

VALIDATED: Mapping[str, Contract] = {
    topic.name: topic
    for topic in CONTRACTS.values()
    if topic.kind == "topic" and topic.visibility == "public" and topic.event_time
}
"""Every topic of events: what is rejected there goes to quarantine."""

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
    """Why a record is rejected, in one word or by the rule's name, and the value found."""

    reason: str
    found: str
    event: Row | None = None
    """The event, if the record decodes."""


def validate(
    contract: Contract, key: bytes | None, value: bytes | None, published_ms: int
) -> Row | Rejection:
    """The event, its times in milliseconds of 1970, or the first thing that is wrong with it."""
    event = read(contract, value)
    if isinstance(event, Rejection):
        return event
    return (
        find_first_fault(contract, key, event)
        or find_timing_fault(contract, event, published_ms)
        or (_find_release_fault(event) if contract is RELEASES else None)
        or event
    )


def read(contract: Contract, value: bytes | None) -> dict[str, Any] | Rejection:
    """What the value says, its times in milliseconds of 1970: a calendar may not have them."""
    try:
        framed = codec.parse_frame(value)
        schemas = _load_schemas(contract).get(framed.schema_id)
        if schemas is None:
            raise Undecodable(f"no schema of {contract.name} has the id {framed.schema_id}")
        event = codec.decode_body(framed, *schemas)
    except Undecodable as error:
        return Rejection(UNDECODABLE, error.reason)
    for found in _select_fields(contract, "int"):
        if not all(-INT_END <= value < INT_END for value in found(event)):
            return Rejection(UNDECODABLE, f"{_render(found(event))}, expected integers of 32 bits")
    for found in _select_fields(contract, "timestamp"):
        if not all(-TIME_END_MS < value < TIME_END_MS for value in found(event)):
            return Rejection(UNDECODABLE, f"{_render(found(event))}, expected times of 64 bits")
    return event


def find_first_fault(contract: Contract, key: bytes | None, event: Row) -> Rejection | None:
    """The first fault that has nothing to do with when the record was published."""
    expected = codec.encode_key(contract, event)
    if key != expected:
        return Rejection(WRONG_KEY, f"key {_render(key)}, expected {_render(expected)}", event)
    for asked in order_checks(contract):
        if not asked.holds(event):
            return Rejection(asked.name, f"found {_render(asked.values(event))}", event)
    return None


def unwrap(release: Row) -> Row | Rejection:
    """The event in a release that keeps its contract, its times in milliseconds of 1970."""
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
        found = f"original_event_id {_render(release['original_event_id'])}"
        expected = _render(event["event_id"])
        return Rejection(UNRELEASABLE, f"{found}, expected that within, {expected}", release)
    return event


def find_timing_fault(contract: Contract, event: Row, published_ms: int) -> Rejection | None:
    """Whether it is late or ahead, as it would be if it were published at that time."""
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
    found = unwrap(release)
    return found if isinstance(found, Rejection) else None


def _render_time(milliseconds: int) -> str:
    at = to_instant(milliseconds)
    return f"{milliseconds} ms of 1970" if at is None else f"{at:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def _render(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + "…"


@cache
def _select_fields(contract: Contract, kind: str) -> tuple[Callable[[Row], list[Any]], ...]:
    """The fields of a type, which may have more on the wire than the type holds."""
    return tuple(compile_path(path) for path in _list_paths(contract.fields, kind))


def _list_paths(fields: Sequence[Field], kind: str) -> Iterator[tuple[str, ...]]:
    for field in fields:
        if field.type == kind:
            yield (field.name,)
        yield from ((field.name, *path) for path in _list_paths(field.fields, kind))


@cache
def _load_schemas(contract: Contract) -> Mapping[int, tuple[Any, Any]]:
    """Writer and, where it is another, reader, by the ids that the topic's records may have."""
    present = _simplify(build_avro_schema(contract))
    return {
        number: (
            fastavro.parse_schema(_simplify(written)),
            None if _simplify(written) == present else fastavro.parse_schema(present),
        )
        for number, written in find_schemas(contract).items()
    }


def _simplify(schema: Any) -> Any:
    """The schema with its times as plain integers: half as fast again, and none overflows."""
    if isinstance(schema, list):
        return [_simplify(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {name: _simplify(one) for name, one in schema.items() if name != "logicalType"}
