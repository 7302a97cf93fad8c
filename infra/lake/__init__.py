"""The lake's folder: the places of its tables, and each table's coverage of the log."""

from infra.lake.coverage import (
    Coverage,
    UnknownCoverage,
    find_newest_version,
    read_committed_ms,
    read_coverage,
)
from infra.lake.folders import Folders, locate_folders
from infra.lake.offsets import ByTopic, flatten_topics, group_by_topic

__all__ = [
    "ByTopic",
    "Coverage",
    "Folders",
    "UnknownCoverage",
    "find_newest_version",
    "flatten_topics",
    "group_by_topic",
    "locate_folders",
    "read_committed_ms",
    "read_coverage",
]
