"""What a transform sees: a frame per topic, each row with what the shell knows of it."""

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame

from contracts import Contract

META = (
    "_topic",
    "_partition",
    "_published",  # the record's timestamp, world time
    "_reason",  # why the record is rejected; null: it is accepted
    "_identity",  # an accepted record's event id; a rejected one's own offset
    "_clock",  # what the watermark may trust: a rejected record's event time is no evidence
    "event_time",
)
"""Columns that the shell needs back from `Pipeline.posts`, as they were."""


class Events:
    """Frames by topic. Each has the fields of its contract and the columns of META."""

    def __init__(self, frames: Mapping[str, DataFrame]) -> None:
        self._frames = dict(frames)

    def __getitem__(self, contract: Contract) -> DataFrame:
        return self._frames[contract.name]


def union(*frames: DataFrame) -> DataFrame:
    """All rows of frames that have the same columns."""
    return reduce(DataFrame.unionByName, frames)
