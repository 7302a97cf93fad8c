"""Record accounting: how many records a pipeline has read, applied and quarantined."""

from pydantic import BaseModel, Field

from contracts import BOOKS
from services.api.store.snapshots import Snapshot
from services.api.store.tables import Table

TABLE = Table(BOOKS)
NEWEST_PUBLISHED = (
    f"select max(published_max) from {TABLE.name} where pipeline = ? and generation = ?"
)
ACCOUNTS = (
    f"select topic, partition, applied, quarantined from {TABLE.name} "
    "where pipeline = ? and generation = ?"
)


class Account(BaseModel):
    """One input partition's account: read = applied + duplicate + quarantined, in records."""

    topic: str
    partition: int
    read: int = Field(description="records read so far")
    applied: int = Field(description="records counted into the view")
    quarantined: int = Field(description="records that broke their contract")
    duplicate: int = Field(description="records whose event had been seen before")


def read_accounts(snapshot: Snapshot) -> list[Account]:
    """The account of each input partition at the snapshot's marker."""
    marker = snapshot.marker
    kept = snapshot.select(ACCOUNTS, (marker.pipeline, marker.generation)).fetchall()
    counted = {(topic, partition): counts for topic, partition, *counts in kept}
    entries: list[Account] = []
    # An earlier version counted offsets, not records.
    read_records = marker.inputs if marker.records is None else marker.records
    for (topic, partition), read in sorted(read_records.items()):
        applied, quarantined = counted.get((topic, partition), (0, 0))
        entries.append(
            Account(
                topic=topic,
                partition=partition,
                read=read,
                applied=applied,
                quarantined=quarantined,
                duplicate=read - applied - quarantined,
            )
        )
    return entries


def read_newest_ms(snapshot: Snapshot) -> int | None:
    """Timestamp of the newest record counted at the marker, in epoch milliseconds of world time."""
    marker = snapshot.marker
    [newest] = snapshot.select(NEWEST_PUBLISHED, (marker.pipeline, marker.generation)).fetchone()
    return None if newest is None else int(newest)
