"""A pipeline's marker, as the API stores it beside the rows."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import control.marker
from contracts import Row
from infra.kafka import Offsets


@dataclass(frozen=True)
class Marker(control.marker.Marker):
    """A marker, and where it stands."""

    offset: int  # of the marker itself, in the marker topic

    @classmethod
    def read(cls, value: Row, offset: int) -> "Marker":
        """The marker in a decoded record of the marker topic."""
        return cls(**vars(control.marker.Marker.parse(value)), offset=offset)

    def to_json(self) -> str:
        rest = {name: getattr(self, name) for name in _PLAIN}
        flat = {side: _flat(getattr(self, side)) for side in ("inputs", "outputs")}
        return json.dumps({**rest, **flat}, separators=(",", ":"))


_PLAIN = (
    *("pipeline", "generation", "batch", "written_at_ms", "offset"),
    *("took_ms", "state_bytes"),
)


@lru_cache(maxsize=64)
def parse_marker(text: str) -> Marker:
    """The inverse of `to_json`. Cached: all answers read the same few markers."""
    parts: dict[str, Any] = json.loads(text)
    for side in ("inputs", "outputs"):
        parts[side] = {(topic, partition): offset for topic, partition, offset in parts[side]}
    return Marker(**parts)


def group_by_topic(offsets: Offsets) -> dict[str, list[int]]:
    """Offsets as clients see them: per topic, one per partition, in order."""
    topics: dict[str, list[int]] = {}
    for (topic, _), offset in sorted(offsets.items()):
        topics.setdefault(topic, []).append(offset)
    return topics


def _flat(offsets: Offsets) -> list[tuple[str, int, int]]:
    return [(topic, partition, offset) for (topic, partition), offset in sorted(offsets.items())]
