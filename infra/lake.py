"""The lake's folder: the places of its tables, and each table's coverage of the log.

Each commit of a table records its coverage, atomically with its rows. So there is no checkpoint
that could contradict the table or be lost.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from infra.errors import UserError
from infra.folder import Folder
from infra.kafka import Offsets, Partition
from infra.settings import LAKE, Settings

LOG = "_delta_log"
WRITES = frozenset({"WRITE", "MERGE", "UPDATE", "DELETE"})
"""The operations that change rows."""

RETENTION = timedelta(hours=6)
"""How long a file is kept that no newer version needs: a reader of a pinned version does."""

PROPERTIES = {
    "delta.deletedFileRetentionDuration": f"interval {RETENTION // timedelta(hours=1)} hours",
    "delta.logRetentionDuration": "interval 2 days",
    "delta.checkpointInterval": "50",
}
"""Of every table."""

ByTopic = Mapping[str, Mapping[str, int]]
"""Offset by topic and partition."""


class Named(Protocol):
    """The part of a contract that names a folder."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Folders:
    """The folders of the lake, below one root."""

    root: Folder

    @property
    def layers(self) -> tuple[Folder, ...]:
        """The folders of the three layers."""
        return self.bronze, self.root / "silver", self.root / "gold"

    @property
    def bronze(self) -> Folder:
        return self.root / "bronze"

    def silver(self, topic: Named) -> Folder:
        return self.root / "silver" / topic.name.partition(".")[2]

    def gold(self, table: str) -> Folder:
        return self.root / "gold" / table

    @property
    def daily_facts(self) -> Folder:
        return self.gold("daily-facts")


def locate_folders(settings: Settings) -> Folders:
    """The lake's folders: below STORE_URL or DATA_DIR."""
    return Folders(Folder.of(settings.store_url or settings.data_dir.as_uri()) / LAKE)


class UnknownCoverage(UserError):
    """The last commit of a table does not record its coverage."""

    def __init__(self, folder: Folder) -> None:
        super().__init__(
            f"The last commit of {folder} should say up to which offsets the table holds the log, "
            "but does not: somebody else has written to it. Remove the folder; the lake makes it "
            "anew."
        )


@dataclass(frozen=True)
class Coverage:
    """The log below these offsets, and the number of batches so far."""

    batch: int = 0
    ends: Offsets = field(default_factory=dict)

    def of(self, topic: str) -> dict[Partition, int]:
        """The offsets of one topic."""
        return {partition: end for partition, end in self.ends.items() if partition[0] == topic}

    def then(self, ends: Offsets) -> "Coverage":
        """The coverage after one more batch, up to these offsets."""
        return Coverage(self.batch + 1, {**self.ends, **ends})

    def to_json(self) -> str:
        return json.dumps({"batch": self.batch, "ends": group_by_topic(self.ends)})


def read_coverage(folder: Folder, version: int | None = None) -> Coverage:
    """The coverage of the table, now or at a version; empty if there is no table. Raises
    UnknownCoverage.
    """
    note = read_note(folder, version)
    return Coverage(note["batch"], flatten_topics(note["ends"])) if note else Coverage()


def read_note(folder: Folder, version: int | None = None) -> dict[str, Any]:
    """What the last commit says of the table's rows; empty if there is no table. Raises
    UnknownCoverage.
    """
    for commit in read_commits(folder, version):
        if metadata := commit.get("userMetadata"):
            note: dict[str, Any] = json.loads(metadata)
            return note
        if commit["operation"] in WRITES:  # compactions by others do no harm
            raise UnknownCoverage(folder)
    return {}


def find_newest_version(folder: Folder) -> int:
    """The table's version; -1 if there is no table."""
    commits = (name.removesuffix(".json") for name in (folder / LOG).list_names())
    return max((int(name) for name in commits if name.isdecimal()), default=-1)


def read_committed_ms(folder: Folder, version: int | None = None) -> int:
    """Wall time of the table's last commit, or of a version's, in milliseconds since 1970.

    0: there is none, or it is not kept any longer.
    """
    return next((int(commit["timestamp"]) for commit in read_commits(folder, version)), 0)


def read_commits(folder: Folder, version: int | None = None) -> Iterator[dict[str, Any]]:
    """The metadata of the kept commits, from the version backwards."""
    number = find_newest_version(folder) if version is None else version
    while number >= 0:
        try:
            actions = (folder / LOG).read(f"{number:020}.json").splitlines()
        except FileNotFoundError:
            return
        entries = map(json.loads, actions)
        yield next(action["commitInfo"] for action in entries if "commitInfo" in action)
        number -= 1


def group_by_topic(offsets: Offsets) -> dict[str, dict[str, int]]:
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in offsets.items():
        by_topic.setdefault(topic, {})[str(partition)] = offset
    return by_topic


def flatten_topics(by_topic: ByTopic) -> dict[Partition, int]:
    return {
        (topic, int(partition)): offset
        for topic, partitions in by_topic.items()
        for partition, offset in partitions.items()
    }
