"""Where a batch ends in the log: what Spark's checkpoint says of it."""

import json
from pathlib import Path

from infra.kafka import Partition


def batch_end(checkpoint: Path, batch: int) -> dict[Partition, int]:
    """The next offset to read after the batch, by topic and partition.

    Spark writes the file before it runs the batch: a version, its own metadata, then one line of
    JSON per source.
    """
    _, _, *sources = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
    return {
        (topic, int(partition)): offset
        for source in sources
        if source != "-"  # a source that has had no data yet
        for topic, partitions in json.loads(source).items()
        for partition, offset in partitions.items()
    }


def committed(checkpoint: Path) -> dict[Partition, int]:
    """The next offsets to read after the last batch that was finished; empty before the first."""
    last = newest(checkpoint / "commits")
    return {} if last < 0 else batch_end(checkpoint, last)


def newest(folder: Path) -> int:
    """The last batch that a folder of the checkpoint knows; -1 when it knows none."""
    known = folder.glob("[0-9]*") if folder.exists() else ()
    return max((int(file.name) for file in known if file.name.isdecimal()), default=-1)
