"""The events in an alert's evidence, as the lake holds them."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, TypedDict

import pyarrow.compute as pc

from contracts import Contract
from contracts.times import to_epoch_ms
from services.api.lake.tables import LakeSnapshot, to_timestamp
from services.api.store.tables import Document, to_document


class NamedEvent(TypedDict):
    """The name of an event in an alert's evidence."""

    topic: str
    event_id: str
    event_time: str


class EvidenceRecord(NamedTuple):
    """A record of an event; `published_at` in milliseconds since 1970."""

    topic: str
    event_id: str
    partition: int
    offset: int
    published_at: int
    event: Document
    """The fields of the topic's contract, as JSON."""


def find_records(
    snapshot: LakeSnapshot, topic: Contract, named: Sequence[NamedEvent]
) -> list[EvidenceRecord]:
    """The topic's records of these events, one per partition that has a copy.

    The times of the events limit the files that are read. Raises LakeTooSlow.
    """
    wanted = [each for each in named if each["topic"] == topic.name]
    times = [to_epoch_ms(datetime.fromisoformat(each["event_time"])) for each in wanted]
    happened, identity = pc.field("event_time"), pc.field("event_id")
    within = (happened >= to_timestamp(min(times))) & (happened <= to_timestamp(max(times)))
    among = identity.isin([each["event_id"] for each in wanted])
    table = snapshot.tables[topic]
    snapshot.register("named", table.read(table.dataset.schema.names, within & among))
    return [
        EvidenceRecord(
            topic=topic.name,
            event_id=row["event_id"],
            partition=row["_partition"],
            offset=row["_offset"],
            published_at=to_epoch_ms(row["_published"]),
            event=to_document({field.name: row[field.name] for field in topic.fields}),
        )
        for row in snapshot.query("from named order by _partition")
    ]
