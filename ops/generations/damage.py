"""Damaged checkpoints: a power cut may leave the newest file half written."""

import json

from pipelines.engine.checkpoint import Checkpoint


def is_damaged(checkpoint: Checkpoint) -> bool:
    """Whether Spark cannot continue from it, because the newest offsets or commit do not parse.

    Spark refuses such a checkpoint at each start. The check ignores the files of its state.
    """
    # In this order: in a whole checkpoint a batch may begin and finish between the two reads.
    finished = checkpoint.find_newest_finished()
    begun = checkpoint.find_newest_begun()
    if finished > begun:
        return True
    try:
        if begun >= 0 and not checkpoint.read_batch_end(begun):
            return True
        if finished >= 0:
            _, *document = (checkpoint.folder / "commits").read(str(finished)).splitlines()
            json.loads("".join(document))
    except (ValueError, KeyError, FileNotFoundError):
        return True
    return False
