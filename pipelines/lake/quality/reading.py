"""Reads the lake's tables by delta-rs, at pinned versions, and the rows that a check needs."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from contracts import Contract
from infra.folder import Folder
from infra.kafka import Offsets
from infra.lake import Folders, find_newest_version, read_coverage
from pipelines.lake.transform import MOVES

MOMENT, MOMENT_MAX = pa.timestamp("us", "UTC"), 2**63 - 1
DAY = timedelta(days=1) // timedelta(microseconds=1)


@dataclass(frozen=True)
class Pinned:
    """A table at one version, with its coverage of the log there."""

    folder: Folder
    version: int
    ends: Offsets

    def open(self, where: pc.Expression | None = None) -> Any:
        """The dataset of its rows that meet the condition, of which a query reads what it needs."""
        dataset = DeltaTable(str(self.folder), version=self.version).to_pyarrow_dataset()
        return dataset if where is None else dataset.filter(where)


def pin(folder: Folder) -> Pinned:
    version = find_newest_version(folder)
    return Pinned(folder, version, read_coverage(folder, version).ends)


def select(offsets: Offsets, topic: Contract) -> Offsets:
    """Those of the topic."""
    return {partition: end for partition, end in offsets.items() if partition[0] == topic.name}


def is_between(starts: Offsets, ends: Offsets) -> pc.Expression:
    """Whether a row of silver lies in this part of its topic."""
    parts = (
        (pc.field("_partition") == partition[1])
        & (pc.field("_offset") >= starts.get(partition, 0))
        & (pc.field("_offset") < end)
        for partition, end in ends.items()
    )
    return reduce(or_, parts, pc.scalar(False))


def is_beyond(starts: Offsets) -> pc.Expression | None:
    """Whether a record of bronze lies from these offsets on; None: each does."""
    if not starts:
        return None
    topics, names = pc.field("topic"), sorted({topic for topic, _ in starts})
    parts = (
        (topics == topic) & (pc.field("partition") == partition) & (pc.field("offset") >= start)
        for (topic, partition), start in starts.items()
    )
    return reduce(or_, parts, ~topics.isin(names))


def list_days(silver: Pinned, starts: Offsets, ends: Offsets) -> set[int]:
    """The days of UTC on which these events happened, as numbers from 1970."""
    times = silver.open(is_between(starts, ends)).to_table(columns=["event_time"])["event_time"]
    return set(pc.unique(number_days(times)).to_pylist())


def number_days(times: Any) -> Any:
    """The days of UTC, as numbers from 1970: a calendar may not have them."""
    return times.cast(pa.timestamp("us")).cast(pa.date32()).cast(pa.int32())


def is_on(days: Iterable[int]) -> pc.Expression:
    """Whether an event happened on one of these days of UTC."""
    time = pc.field("event_time")
    each = ((time >= begin_of(day)) & (time < begin_of(day + 1)) for day in days)
    return reduce(or_, each, pc.scalar(False))


def begin_of(day: int) -> "pa.Scalar[Any]":
    """The first moment of the day, as silver has its times; out of range, the nearest one."""
    return pa.scalar(max(-MOMENT_MAX, min(day * DAY, MOMENT_MAX)), pa.int64()).cast(MOMENT)


def open_silver(folders: Folders, ends: Offsets, during: pc.Expression) -> dict[Contract, Any]:
    """Per topic that moves stock, the datasets of the events below these offsets and of a time."""
    return {
        topic: pin(folders.silver(topic)).open(is_between({}, select(ends, topic)) & during)
        for topic in MOVES
    }
