"""A pipeline's marker, as the API stores it beside the rows."""

import json
from dataclasses import dataclass, fields
from functools import lru_cache

import ops.generations.marker
from contracts import Row
from infra.kafka import Offsets

BY_PARTITION = ("inputs", "outputs", "records")
"""The fields that map partitions to numbers. JSON has no keys of two parts: there they are lists
of topic, partition and number."""


@dataclass(frozen=True)
class Marker(ops.generations.marker.Marker):
    """A marker and its offset."""

    offset: int  # of the marker itself, in the marker topic

    @classmethod
    def read(cls, value: Row, offset: int) -> "Marker":
        """The marker in a decoded record of the marker topic."""
        return cls(**vars(ops.generations.marker.Marker.parse(value)), offset=offset)

    def to_json(self) -> str:
        stored = dict(vars(self))
        for name in BY_PARTITION:
            if stored[name] is not None:
                stored[name] = [
                    (*partition, number) for partition, number in sorted(stored[name].items())
                ]
        return json.dumps(stored, separators=(",", ":"))


@lru_cache(maxsize=64)
def parse_marker(text: str) -> Marker:
    """The inverse of `to_json`. Cached: all answers read the same few markers."""
    stored = json.loads(text)
    for name in BY_PARTITION:
        if stored.get(name) is not None:
            stored[name] = {(topic, partition): number for topic, partition, number in stored[name]}
    names = {field.name for field in fields(Marker)}  # newer code may have stored more
    return Marker(**{name: value for name, value in stored.items() if name in names})


def group_by_topic(offsets: Offsets) -> dict[str, list[int]]:
    """Offsets as clients see them: per topic, one per partition, in order."""
    topics: dict[str, list[int]] = {}
    for (topic, _), offset in sorted(offsets.items()):
        topics.setdefault(topic, []).append(offset)
    return topics
