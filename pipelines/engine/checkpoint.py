"""A generation's checkpoint: Spark's record of its position in the log."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.folder import Folder
from infra.kafka import Partition
from infra.lake import flatten_topics

CHUNKS = Path("archive") / "chunks.json"
"""A file in a generation's folder: the end offsets of the chunks of its archive prefix."""

ReadEnd = Callable[[int], Mapping[Partition, int]]
"""As Checkpoint.read_batch_end."""


@dataclass(frozen=True)
class Checkpoint:
    """Spark's files of a generation: the offsets at which its batches end, and its state."""

    folder: Folder
    home: Path
    """The generation's folder."""

    def read_batch_end(self, batch: int) -> dict[Partition, int]:
        """The next offset to read after the batch, by topic and partition.

        Spark writes the file before it runs the batch: a version, its own metadata, then one line
        of JSON per source.
        """
        _, _, *sources = (self.folder / "offsets").read(str(batch)).splitlines()
        offsets = [json.loads(source) for source in sources if source != "-"]  # no data yet
        ends: dict[Partition, int] = {}
        # Of files Spark counts chunks; the log goes on after them.
        for offset in sorted(offsets, key=lambda offset: "logOffset" not in offset):
            if "logOffset" in offset:
                chunks = json.loads((self.home / CHUNKS).read_text())
                ends |= flatten_topics(chunks["ends"][offset["logOffset"]])
            else:
                ends |= flatten_topics(offset)
        return ends

    def read_committed(self) -> dict[Partition, int]:
        """The next offsets to read after the last finished batch; empty before the first."""
        last = self.find_newest_finished()
        return {} if last < 0 else self.read_batch_end(last)

    def find_newest_begun(self) -> int:
        """The number of the last begun batch; -1 before the first."""
        return find_newest_batch(self.folder / "offsets")

    def find_newest_finished(self) -> int:
        """The number of the last finished batch; -1 before the first."""
        return find_newest_batch(self.folder / "commits")

    def find_open_batch(self) -> int:
        """The number of the begun but unfinished batch; -1 without one."""
        begun, finished = self.find_newest_begun(), self.find_newest_finished()
        return begun if begun > finished else -1


def find_newest_batch(folder: Folder) -> int:
    """The last batch in a folder of the checkpoint; -1 in an empty one."""
    return max((int(name) for name in folder.list_names() if name.isdecimal()), default=-1)


def count_records(read_end: ReadEnd, batch: int) -> int:
    """The number of offsets that the batch reads: as many records, or a few less."""
    begin = read_end(batch - 1) if batch else {}
    return sum(end - begin.get(partition, 0) for partition, end in read_end(batch).items())
