"""Announcements: an event as a row with the time from which it holds."""

from collections.abc import Sequence

from contracts import Contract, Row, holds_from
from contracts.times import to_epoch_ms, to_instant
from services.api.store.changelog import Record, read_row
from services.api.store.mirror import Layout
from services.api.store.tables import Stored


def create_announced_layout(
    contract: Contract, table: str, measures: Sequence[str], times: Sequence[str], since: str
) -> Layout:
    """The table of a topic of announcements about products.

    Its columns are the place, `event_id`, `sku`, the measures and times of the event,
    `published_at` and `holds_from`. An index finds the rows of a product by the time in `since`.
    A second copy of an event changes nothing: the first copy counts.
    """
    numbers = (*measures, *times, "published_at", "holds_from")
    columns = ", ".join(f"{name} integer not null" for name in numbers)

    def build_row(record: Record) -> Stored | None:
        event = read_row(contract, record)
        return None if event is None else _build_row(record, event, measures, times)

    return Layout(
        topic=contract.name,
        create=(
            f'create table {table} (partition integer not null, "offset" integer not null, '
            f"event_id text not null, sku text not null, {columns}, "
            'primary key (partition, "offset"), unique (partition, event_id, event_time)) '
            "without rowid",
            f'create index "{table} by sku" on {table} (sku, {since}, "offset")',
        ),
        insert=f"insert or ignore into {table} values ({', '.join('?' * (4 + len(numbers)))})",
        row=build_row,
    )


def _build_row(
    record: Record, event: Row, measures: Sequence[str], times: Sequence[str]
) -> Stored | None:
    since_ms = holds_from(to_epoch_ms(event["effective_at"]), record.published_ms)
    moments = (*(to_epoch_ms(event[name]) for name in times), record.published_ms, since_ms)
    if any(to_instant(at) is None for at in moments):
        return None  # no calendar has the time, so no client can ask for it
    place = (record.partition[1], record.offset)
    return *place, event["event_id"], event["sku"], *(event[name] for name in measures), *moments
