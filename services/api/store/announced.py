"""Announcements: an event as a row with the time from which it holds."""

import logging

from contracts import Contract, Row, holds_from
from contracts.times import to_instant
from contracts.validation import Rejection, validate
from services.api.store.changelog import Record
from services.api.store.tables import Stored

log = logging.getLogger("api.mirror")


def read_event(contract: Contract, record: Record) -> Row | None:
    """The event in a record, its times in milliseconds; None for a rejected record, which goes to
    the quarantine.
    """
    event = validate(contract, record.key, record.value, record.published_ms)
    if isinstance(event, Rejection):
        log.info("%s/%d at %d: %s", *record.partition, record.offset, event.reason)
        return None
    return event


def build_row(
    record: Record, event: Row, measures: tuple[int, ...], times: tuple[str, ...]
) -> Stored | None:
    """The row of an announcement: its place, names, measures, times, and when it takes over."""
    since_ms = holds_from(event["effective_at"], record.published_ms)
    moments = (*(event[name] for name in times), record.published_ms, since_ms)
    if any(to_instant(at) is None for at in moments):
        return None  # no calendar has the time, so no client can ask for it
    place = (record.partition[1], record.offset)
    return *place, event["event_id"], event["sku"], *measures, *moments
