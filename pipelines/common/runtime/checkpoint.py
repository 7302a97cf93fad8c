"""A generation's checkpoint: how far it has come in the log, as Spark records it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.folder import Folder
from infra.kafka import Partition
from infra.lake import flatten_topics

CHUNKS = Path("archive") / "chunks.json"
"""In a generation's folder: where the chunks of its archive prefix end."""


@dataclass(frozen=True)
class Checkpoint:
    """What Spark keeps of a generation: where its batches end, and its state."""

    folder: Folder
    home: Path
    """The generation's folder."""

    def batch_end(self, batch: int) -> dict[Partition, int]:
        """The next offset to read after the batch, by topic and partition.

        Spark writes the file before it runs the batch: a version, its own metadata, then one line
        of JSON per source.
        """
        _, _, *sources = (self.folder / "offsets").read(str(batch)).splitlines()
        offsets = [json.loads(source) for source in sources if source != "-"]  # no data yet
        ends: dict[Partition, int] = {}
        for source in sorted(
            offsets, key=lambda one: "logOffset" not in one
        ):  # the log goes on after
            ends |= self._source_end(source)
        return ends

    def _source_end(self, source: dict[str, Any]) -> dict[Partition, int]:
        """Where the source has been read to, at this offset: of files, Spark counts the chunks."""
        if "logOffset" in source:
            chunks = json.loads((self.home / CHUNKS).read_text())
            return flatten_topics(chunks["ends"][source["logOffset"]])
        return flatten_topics(source)

    def committed(self) -> dict[Partition, int]:
        """The next offsets to read after the last finished batch; empty before the first."""
        last = self.newest_finished()
        return {} if last < 0 else self.batch_end(last)

    def newest_begun(self) -> int:
        """The number of the last batch that was begun; -1 before the first."""
        return find_newest_batch(self.folder / "offsets")

    def newest_finished(self) -> int:
        """The number of the last batch that was finished; -1 before the first."""
        return find_newest_batch(self.folder / "commits")

    def open_batch(self) -> int:
        """The number of the batch that is begun and not finished; -1 when none is."""
        begun, finished = self.newest_begun(), self.newest_finished()
        return begun if begun > finished else -1


def find_newest_batch(folder: Folder) -> int:
    """The last batch that a folder of the checkpoint knows; -1 when it knows none."""
    return max((int(name) for name in folder.names() if name.isdecimal()), default=-1)
