"""The row of a rejected record in the quarantine: the whole record."""

from contracts import QUARANTINE, RELEASES, Row, encode
from contracts.checks import order_checks
from contracts.times import to_instant
from contracts.validation import VALIDATED, Rejection, validate
from infra.kafka import Record
from ops.control.reading import refuse_newer

FOUND_MAX, EVENT_ID_MAX = 500, 300
"""Characters, by the contract. The value has the whole text."""
ROOM_BYTES = 10_000
"""Room for the bytes that Kafka adds to a value: the key and the batch."""
VALUE_BYTES_MAX = int(QUARANTINE.settings.config["max.message.bytes"]) - ROOM_BYTES
BEGIN_MS, END_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999."""


def create_row(record: Record) -> Row | None:
    """The row of a record in the quarantine, times in epoch milliseconds.

    None for an accepted record. Raises NewerSchema.
    """
    contract = VALIDATED[record.topic]
    found = validate(contract, record.key, record.value, record.published_ms, record.partition)
    if not isinstance(found, Rejection):
        return None
    refuse_newer(contract, record.value)
    if contract is RELEASES and found.event is not None:
        original = VALIDATED.get(found.event["topic"])
        if original is not None:
            refuse_newer(original, found.event["value"])
    return _build_row(record, found)


def _build_row(record: Record, found: Rejection) -> Row:
    event = found.event or {}
    happened = event.get(VALIDATED[record.topic].event_time or "")
    identity = event.get("event_id")
    whole = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "reason": found.reason,
        "found": found.found[:FOUND_MAX],
        "published_at": min(max(record.published_ms, BEGIN_MS), END_MS),
        "event_id": identity if identity and len(identity) <= EVENT_ID_MAX else None,
        "event_time": None if happened is None or to_instant(happened) is None else happened,
        "key": record.key,
        "value": record.value,
        "headers": [{"name": name, "value": value} for name, value in record.headers],
    }
    keeps_contract = all(asked.holds(whole) for asked in order_checks(QUARANTINE))
    if keeps_contract and len(encode(QUARANTINE, whole)) <= VALUE_BYTES_MAX:
        return whole
    size = len(record.key or b"") + len(record.value or b"")
    text = f"{size} bytes with {len(record.headers)} headers, too large to be copied: see its topic"
    text = f"{text}; {found.found}"[:FOUND_MAX]
    return {**whole, "found": text, "key": None, "value": None, "headers": []}
