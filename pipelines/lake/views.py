"""Views as tables: the rows of the promoted generation, as they were at a marker of it.

Whoever reads a version knows which offsets of the log it covers. A promotion or a rollback makes
the next version anew, from the other generation's changelog.
"""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import KafkaException

from contracts import ALERTS, CONTRACTS, STOCK_LEVELS, Contract, Row, encode_key
from contracts.arrow import build_arrow_schema
from contracts.consumer import create_reader
from infra.folder import Folder
from infra.kafka import Offsets
from infra.lake import Coverage, Folders, flatten_topics, group_by_topic, read_note
from infra.settings import Settings
from ops.control.reading import Reader, read_newest_rows
from ops.generations.marker import MARKERS_READ_MAX, Marker, read_markers
from ops.generations.record import Generation, read_promoted
from pipelines.lake.states import StateTable

VIEWS: Mapping[str, str] = {STOCK_LEVELS.name: "stock", ALERTS.name: "alerts"}
"""The table of each view whose row is a state. Sums of windows are in daily facts, or can be had of
silver: as tables of their own they would be written whole for a few new rows."""

log = logging.getLogger("lake")

READER = Reader(create_reader("lake"))

OFFSETS = ("ends", "outputs")


@dataclass(frozen=True)
class ViewCoverage(Coverage):
    """The marker at which a version of a table is the view; `ends` are its inputs."""

    generation: int = 0
    marker: int = -1
    outputs: Offsets = field(default_factory=dict)
    """The next offset of each partition of the changelog."""

    @classmethod
    def read(cls, folder: Folder, version: int | None = None) -> "ViewCoverage":
        """That of the table, now or at a version; `batch` is 0 if there is no table.

        Raises UnknownCoverage.
        """
        note = read_note(folder, version)
        return cls(**note | {name: flatten_topics(note[name]) for name in OFFSETS if note})

    def to_json(self) -> str:
        offsets = {name: group_by_topic(getattr(self, name)) for name in OFFSETS}
        return json.dumps(vars(self) | offsets)

    def leads_to(self, outputs: Offsets) -> bool:
        """Whether the changelog goes on from here to there; else it is another one."""
        return self.outputs.keys() == outputs.keys() and all(
            end <= outputs[place] for place, end in self.outputs.items()
        )


def locate_view(folders: Folders, view: Contract) -> StateTable:
    """The table of one of VIEWS."""
    return StateTable(folders.gold(VIEWS[view.name]), build_arrow_schema(view))


def refresh_views(settings: Settings, folders: Folders) -> None:
    """Bring each table to the newest marker of the promoted generation, if it changed a row.

    A table whose changelog cannot be read stays as it is: it must not stop the archive. Raises as
    `read_markers` does.
    """
    promoted = read_promoted(settings, READER)
    markers = read_markers(settings, READER, MARKERS_READ_MAX)
    for generation in promoted:
        for name in sorted(VIEWS.keys() & set(generation.views)):
            if (marker := markers.get(generation.name)) is not None:
                try:
                    refresh_view(settings, folders, CONTRACTS[name], generation, marker)
                except (KafkaException, TimeoutError) as error:
                    log.warning("the table %s stays as it is: %s", VIEWS[name], error)


def refresh_view(
    settings: Settings, folders: Folders, view: Contract, generation: Generation, marker: Marker
) -> None:
    """Bring the view's table to the marker of the generation, if it changed a row."""
    table, topic = locate_view(folders, view), generation.outputs[view.name]
    before = ViewCoverage.read(table.folder)
    outputs = {place: end for place, end in marker.outputs.items() if place[0] == topic}
    if before.outputs == outputs or not table.is_due():
        return
    starts = before.outputs if before.leads_to(outputs) else {}
    changed = read_newest_rows(settings, READER, view, starts, outputs).values()
    after = ViewCoverage(
        batch=before.batch + 1,
        ends=marker.inputs,
        generation=generation.number,
        marker=marker.batch,
        outputs=outputs,
    )
    rows = merge(view, table.read() if starts else [], changed)
    table.write(rows, after)


def merge(view: Contract, rows: Iterable[Row], changed: Iterable[Row]) -> list[Row]:
    """The rows after the change of some, without those whose retention is over.

    It counts from the newest row, as for every reader: deletions in the changelog say no more.
    """
    by_key = {encode_key(view, row): row for row in (*rows, *changed)}
    merged = [*by_key.values()]
    if view.retention is None or view.began is None or not merged:
        return merged
    oldest = max(row[view.began] for row in merged) - view.retention
    return [row for row in merged if row[view.began] >= oldest]
