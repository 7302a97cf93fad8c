"""A pipeline's marker, as the API stores it beside the rows."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TypedDict

import ops.generations.marker
from contracts import Row
from infra.kafka import Offsets

_OffsetList = list[tuple[str, int, int]]
"""Topic, partition and offset, in order: JSON has no keys of two parts."""


class _Stored(TypedDict):
    """A marker as it is stored: the fields of `Marker`, in JSON."""

    pipeline: str
    generation: int
    batch: int
    inputs: _OffsetList
    outputs: _OffsetList
    written_at_ms: int
    offset: int
    took_ms: int | None
    state_bytes: int | None
    records: _OffsetList | None


@dataclass(frozen=True)
class Marker(ops.generations.marker.Marker):
    """A marker and its offset."""

    offset: int  # of the marker itself, in the marker topic

    @classmethod
    def read(cls, value: Row, offset: int) -> "Marker":
        """The marker in a decoded record of the marker topic."""
        return cls(**vars(ops.generations.marker.Marker.parse(value)), offset=offset)

    def to_json(self) -> str:
        stored: _Stored = {
            "pipeline": self.pipeline,
            "generation": self.generation,
            "batch": self.batch,
            "inputs": _list_offsets(self.inputs),
            "outputs": _list_offsets(self.outputs),
            "written_at_ms": self.written_at_ms,
            "offset": self.offset,
            "took_ms": self.took_ms,
            "state_bytes": self.state_bytes,
            "records": None if self.records is None else _list_offsets(self.records),
        }
        return json.dumps(stored, separators=(",", ":"))


@lru_cache(maxsize=64)
def parse_marker(text: str) -> Marker:
    """The inverse of `to_json`. Cached: all answers read the same few markers."""
    stored: _Stored = json.loads(text)
    records = stored.get("records")
    return Marker(
        pipeline=stored["pipeline"],
        generation=stored["generation"],
        batch=stored["batch"],
        inputs=_parse_offsets(stored["inputs"]),
        outputs=_parse_offsets(stored["outputs"]),
        written_at_ms=stored["written_at_ms"],
        offset=stored["offset"],
        took_ms=stored.get("took_ms"),
        state_bytes=stored.get("state_bytes"),
        records=None if records is None else _parse_offsets(records),
    )


def group_by_topic(offsets: Offsets) -> dict[str, list[int]]:
    """Offsets as clients see them: per topic, one per partition, in order."""
    topics: dict[str, list[int]] = {}
    for (topic, _), offset in sorted(offsets.items()):
        topics.setdefault(topic, []).append(offset)
    return topics


def _parse_offsets(stored: _OffsetList) -> Offsets:
    return {(topic, partition): offset for topic, partition, offset in stored}


def _list_offsets(offsets: Offsets) -> _OffsetList:
    return [(topic, partition, offset) for (topic, partition), offset in sorted(offsets.items())]
