"""What became of the records that a pipeline has read."""

from typing import Any

from contracts import BOOKS
from services.api.snapshots import Snapshot
from services.api.tables import Table

TABLE = Table(BOOKS)
NEWEST = f"select max(published_max) from {TABLE.name} where pipeline = ? and generation = ?"
BOOKS_OF = (
    f"select topic, partition, applied, quarantined from {TABLE.name} "
    "where pipeline = ? and generation = ?"
)


def books(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Per input partition, at the snapshot's marker: read = applied + duplicate + quarantined."""
    marker = snapshot.marker
    kept = snapshot.rows(BOOKS_OF, (marker.pipeline, marker.generation)).fetchall()
    counted = {(topic, partition): counts for topic, partition, *counts in kept}
    entries = []
    for (topic, partition), read in sorted(marker.inputs.items()):
        applied, quarantined = counted.get((topic, partition), (0, 0))
        entries.append(
            {
                "topic": topic,
                "partition": partition,
                "read": read,
                "applied": applied,
                "quarantined": quarantined,
                "duplicate": read - applied - quarantined,
            }
        )
    return entries


def published_max_ms(snapshot: Snapshot) -> int | None:
    """World time of the newest record counted at the snapshot's marker, in epoch milliseconds."""
    marker = snapshot.marker
    [newest] = snapshot.rows(NEWEST, (marker.pipeline, marker.generation)).fetchone()
    return None if newest is None else int(newest)
