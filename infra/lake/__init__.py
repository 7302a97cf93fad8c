"""The lake's folder, for whoever reads it: where its tables are, and how far each holds the log."""

from infra.lake.folders import Folders, folders
from infra.lake.held import Held, Unsaid, committed_ms, held, newest
from infra.lake.spelling import ByTopic, spelled, understood

__all__ = [
    "ByTopic",
    "Folders",
    "Held",
    "Unsaid",
    "committed_ms",
    "folders",
    "held",
    "newest",
    "spelled",
    "understood",
]
