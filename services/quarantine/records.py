"""What is kept of a rejected record: all of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contracts import QUARANTINE, RELEASES, Contract, Undecodable, codec, encode
from contracts.checks import in_order
from contracts.judging import JUDGED, Rejection, instant, judge
from contracts.schemas import registered_since
from infra.errors import Trouble

Headers = Sequence[tuple[str, bytes | None]]

FOUND_MAX, EVENT_ID_MAX = 500, 300
"""Characters, as its contract has it; the value tells all of it."""
ROOM_BYTES = 10_000
"""What Kafka adds to a value: the key, the batch around it."""
VALUE_BYTES_MAX = int(QUARANTINE.settings.config["max.message.bytes"]) - ROOM_BYTES
BEGIN_MS, END_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999."""


class NewerSchema(Trouble):
    """A record that only a newer version of this project can read."""

    def __init__(self, topic: str, number: int) -> None:
        super().__init__(
            f"{topic} has records of schema {number}, which is in the lock file by now, but not in "
            "this process: it reads no further, and nothing is lost. Start it again with the "
            "present code: make down && make up"
        )


@dataclass(frozen=True, slots=True)
class Record:
    """A record as the broker has it."""

    topic: str
    partition: int
    offset: int
    published_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers


def rejected(record: Record) -> dict[str, Any] | None:
    """The record's row in the quarantine; None if it is accepted. Raises NewerSchema."""
    contract = JUDGED[record.topic]
    found = judge(contract, record.key, record.value, record.published_ms)
    if not isinstance(found, Rejection):
        return None
    _refuse_newer(contract, record.value)
    if contract is RELEASES and found.event is not None:
        original = JUDGED.get(found.event["topic"])
        if original is not None:
            _refuse_newer(original, found.event["value"])
    return row(record, found)


def row(record: Record, found: Rejection) -> dict[str, Any]:
    event = found.event or {}
    happened = event.get(JUDGED[record.topic].event_time or "")
    identity = event.get("event_id")
    bare: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "reason": found.reason,
        "found": found.found[:FOUND_MAX],
        "published_at": min(max(record.published_ms, BEGIN_MS), END_MS),
        "event_id": identity if identity and len(identity) <= EVENT_ID_MAX else None,
        "event_time": None if happened is None or instant(happened) is None else happened,
        "key": None,
        "value": None,
        "headers": [],
    }
    headers = [{"name": name, "value": value} for name, value in record.headers]
    whole = bare | {"key": record.key, "value": record.value, "headers": headers}
    return whole if fits(whole) else bare | {"found": too_large(record, found)}


def fits(row: dict[str, Any]) -> bool:
    """Whether it keeps its contract and is small enough to be sent."""
    kept = all(asked.holds(row) for asked in in_order(QUARANTINE))
    return kept and len(encode(QUARANTINE, row)) <= VALUE_BYTES_MAX


def too_large(record: Record, found: Rejection) -> str:
    size = len(record.key or b"") + len(record.value or b"")
    told = f"{size} bytes with {len(record.headers)} headers, too large to be copied: see its topic"
    return f"{told}; {found.found}"[:FOUND_MAX]


def _refuse_newer(contract: Contract, value: bytes | None) -> None:
    try:
        number = codec.frame(value).schema_id
    except Undecodable:
        return
    if number in registered_since({contract.name}):
        raise NewerSchema(contract.name, number)
