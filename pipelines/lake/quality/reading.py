"""Reads the lake's tables by delta-rs, at pinned versions, and the rows that a check needs."""

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import pyarrow.compute as pc
from deltalake import DeltaTable

from contracts import Contract
from infra.folder import Folder
from infra.kafka import Offsets
from infra.lake import Folders, find_newest_version, read_coverage
from pipelines.lake.tables import is_between
from pipelines.lake.transform import MOVES


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


def open_silver(folders: Folders, ends: Offsets, during: pc.Expression) -> dict[Contract, Any]:
    """Per topic that moves stock, the datasets of the events below these offsets and of a time."""
    return {
        topic: pin(folders.silver(topic)).open(is_between({}, select(ends, topic)) & during)
        for topic in MOVES
    }
