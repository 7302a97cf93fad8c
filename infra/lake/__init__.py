"""The lake's folder: where its tables are, and how far each covers the log."""

from infra.lake.coverage import Coverage, UnknownCoverage, committed_ms, newest, read_coverage
from infra.lake.folders import Folders, folders
from infra.lake.offsets import ByTopic, from_topics, to_topics

__all__ = [
    "ByTopic",
    "Coverage",
    "Folders",
    "UnknownCoverage",
    "committed_ms",
    "folders",
    "from_topics",
    "newest",
    "read_coverage",
    "to_topics",
]
