"""How far a table covers the log.

Each commit says so, atomically with its rows. So no checkpoint is needed that could contradict the
table or be lost.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from infra.errors import UserError
from infra.folder import Folder
from infra.kafka import Offsets, Partition
from infra.lake.offsets import flatten_topics, group_by_topic

LOG = "_delta_log"
WRITES = frozenset({"WRITE", "MERGE", "UPDATE", "DELETE"})
"""Operations that change which rows there are."""


class UnknownCoverage(UserError):
    """A table whose last commit does not say up to where it holds the log."""

    def __init__(self, folder: Folder) -> None:
        super().__init__(
            f"The last commit of {folder} should say up to which offsets the table holds the log, "
            "but does not: somebody else has written to it. Remove the folder; the lake makes it "
            "anew."
        )


@dataclass(frozen=True)
class Coverage:
    """The log below these offsets, and the number of batches that it came in."""

    batch: int = 0
    ends: Offsets = field(default_factory=dict)

    def of(self, topic: str) -> dict[Partition, int]:
        """The offsets of one topic."""
        return {at: end for at, end in self.ends.items() if at[0] == topic}

    def then(self, ends: Offsets) -> "Coverage":
        """The coverage after one more batch, up to these offsets."""
        return Coverage(self.batch + 1, {**self.ends, **ends})

    def to_json(self) -> str:
        return json.dumps({"batch": self.batch, "ends": group_by_topic(self.ends)})


def read_coverage(folder: Folder, version: int | None = None) -> Coverage:
    """The coverage of the table, now or at a version of it; empty where there is no table. Raises
    UnknownCoverage.
    """
    for commit in read_commits(folder, version):
        if metadata := commit.get("userMetadata"):
            coverage = json.loads(metadata)
            return Coverage(coverage["batch"], flatten_topics(coverage["ends"]))
        if commit["operation"] in WRITES:  # others may have joined files since, which is no harm
            raise UnknownCoverage(folder)
    return Coverage()


def find_newest_version(folder: Folder) -> int:
    """The table's version; -1 where there is none."""
    commits = (name.removesuffix(".json") for name in (folder / LOG).list_names())
    return max((int(name) for name in commits if name.isdecimal()), default=-1)


def read_committed_ms(folder: Folder) -> int:
    """When the table's last commit was, by the wall clock, in milliseconds of 1970; 0: never."""
    return next((int(commit["timestamp"]) for commit in read_commits(folder)), 0)


def read_commits(folder: Folder, version: int | None = None) -> Iterator[dict[str, Any]]:
    """The metadata of the commits, from the version backwards, as far as they are kept."""
    at = find_newest_version(folder) if version is None else version
    while at >= 0:
        try:
            actions = (folder / LOG).read(f"{at:020}.json").splitlines()
        except FileNotFoundError:
            return
        entries = map(json.loads, actions)
        yield next(action["commitInfo"] for action in entries if "commitInfo" in action)
        at -= 1
