"""The difference of a candidate after its first batch, which ends at a served marker.

No batch is computed for it. It is there for a short log, whose candidate reads all of it at once.
"""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from contracts import CONTRACTS, MARKERS, Contract
from contracts.consumer import create_reader
from contracts.documents import to_document
from infra.kafka import Offsets, create_admin, read_between, read_end_offsets
from infra.settings import Settings
from ops.control.reading import Reader, read_newest_rows
from ops.generations.marker import Marker
from ops.generations.record import Generation
from ops.replay.compare import Code, Compared, Served, compare_served, fetch_served
from ops.replay.difference import render_json_lines
from pipelines.common.pipeline import Pipeline

READER = Reader(create_reader("command-line"))


@dataclass(frozen=True)
class Before:
    """What readers were served when a candidate was created."""

    settings: Settings
    pipeline: Pipeline
    folder: Path
    """A workplace, until the candidate is compared."""
    seen: Served
    markers: Offsets
    """The end of the topic of markers before the candidate was created."""
    since: float = field(default_factory=time.monotonic)

    @classmethod
    def fetch(cls, settings: Settings, pipeline: Pipeline, folder: Path) -> "Before":
        """Raises ApiDown."""
        markers = read_end_offsets(create_admin(settings), [MARKERS.name])
        seen = fetch_served(settings, pipeline.name, folder)
        return cls(settings, pipeline, folder, seen, markers)

    def compare(self, candidate: Generation, codes: tuple[Path, Code]) -> Compared | None:
        """The difference of a candidate that has caught up.

        `codes`: the code of the served generation, then the candidate's. None: the first batch has
        ended elsewhere, or was so long ago that its rows may have been compacted away.
        """
        marker = self._find_marker(candidate)
        if marker is None or marker.inputs != self.seen.inputs:
            return None
        relations = {
            name: self._keep_rows(CONTRACTS[name], candidate.outputs[name], marker.outputs)
            for name in self.seen.files
        }
        if time.monotonic() - self.since > self._kept_seconds:
            return None
        return compare_served(self.pipeline, self.seen, relations, codes, self.folder)

    @property
    def _kept_seconds(self) -> float:
        """How long each view keeps all rows of a key at least."""
        lags = (view.settings.config["min.compaction.lag.ms"] for view in self.pipeline.writes)
        return min(map(int, lags)) / 1000

    def _find_marker(self, candidate: Generation) -> Marker | None:
        """The marker of the candidate's first batch. A batch run again has published it again."""
        ends = read_end_offsets(create_admin(self.settings), [MARKERS.name])
        for message in read_between(self.settings, self.markers, ends):
            row = READER.read_message(MARKERS, message)
            if row is None:
                continue
            marker = Marker.parse(row)
            identity = marker.pipeline, marker.generation, marker.batch
            if identity == (candidate.pipeline, candidate.number, 0):
                return marker
        return None

    def _keep_rows(self, view: Contract, topic: str, outputs: Offsets) -> str:
        """The rows of a changelog up to these offsets, in a file, as a relation."""
        ends = {at: end for at, end in outputs.items() if at[0] == topic}
        file = self.folder / f"{view.name}.after.ndjson"
        with file.open("w") as kept:
            for row in read_newest_rows(self.settings, READER, view, {}, ends).values():
                document = to_document(view, row)
                kept.write(json.dumps(document) + "\n")
        return render_json_lines(view, file)
