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
    commits = checkpoint / "commits"
    finished = [int(file.name) for file in commits.glob("[0-9]*")] if commits.exists() else []
    return batch_end(checkpoint, max(finished)) if finished else {}
