"""A pipeline's marker: the offsets up to which a batch has read inputs and written changelogs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from contracts import Row
from infra.kafka import Partition
from services.times import epoch_ms

Offsets = Mapping[Partition, int]


@dataclass(frozen=True)
class Marker:
    """The end of a batch. Offsets name the next record to read; times are epoch ms."""

    pipeline: str
    generation: int
    batch: int
    inputs: Offsets
    outputs: Offsets
    written_at_ms: int  # wall clock
    offset: int  # of the marker itself, in the marker topic

    @classmethod
    def parse(cls, value: Row, offset: int) -> "Marker":
        """The marker in a decoded record of the marker topic."""
        return cls(
            pipeline=value["pipeline"],
            generation=value["generation"],
            batch=value["batch"],
            inputs=_offsets(value["inputs"]),
            outputs=_offsets(value["outputs"]),
            written_at_ms=epoch_ms(value["written_at"]),
            offset=offset,
        )

    def to_json(self) -> str:
        rest = {name: getattr(self, name) for name in _PLAIN}
        flat = {side: _flat(getattr(self, side)) for side in ("inputs", "outputs")}
        return json.dumps({**rest, **flat}, separators=(",", ":"))


_PLAIN = ("pipeline", "generation", "batch", "written_at_ms", "offset")


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


def _offsets(entries: list[Row]) -> Offsets:
    return {(each["topic"], each["partition"]): each["offset"] for each in entries}


def _flat(offsets: Offsets) -> list[tuple[str, int, int]]:
    return [(topic, partition, offset) for (topic, partition), offset in sorted(offsets.items())]
