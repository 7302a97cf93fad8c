"""Where a batch ends in the log, as Spark's checkpoint says it."""

import json
from pathlib import Path
from typing import Any

from infra.kafka import Partition
from infra.lake import understood

ROUNDS = Path("archive") / "rounds.json"
"""In a generation's folder: what a part of the log that is read as files consists of."""


def batch_end(checkpoint: Path, batch: int) -> dict[Partition, int]:
    """The next offset to read after the batch, by topic and partition.

    Spark writes the file before it runs the batch: a version, its own metadata, then one line of
    JSON per source.
    """
    _, _, *sources = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
    told = [json.loads(source) for source in sources if source != "-"]  # no data yet
    ends: dict[Partition, int] = {}
    for source in sorted(told, key=lambda one: "logOffset" not in one):  # the log goes on after
        ends |= source_end(checkpoint, source)
    return ends


def source_end(checkpoint: Path, source: dict[str, Any]) -> dict[Partition, int]:
    """What the source has given when it stands there: of files, Spark counts the rounds."""
    if "logOffset" in source:
        rounds = json.loads((checkpoint.parent / ROUNDS).read_text())
        return understood(rounds["ends"][source["logOffset"]])
    return understood(source)


def committed(checkpoint: Path) -> dict[Partition, int]:
    """The next offsets to read after the last batch that was finished; empty before the first."""
    last = newest(checkpoint / "commits")
    return {} if last < 0 else batch_end(checkpoint, last)


def newest(folder: Path) -> int:
    """The last batch that a folder of the checkpoint knows; -1 when it knows none."""
    known = folder.glob("[0-9]*") if folder.exists() else ()
    return max((int(file.name) for file in known if file.name.isdecimal()), default=-1)
