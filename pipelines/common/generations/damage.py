"""Whether a checkpoint can be read: a power cut may leave the newest of its files half written."""

import json

from pipelines.common.runtime.checkpoint import Checkpoint


def is_damaged(checkpoint: Checkpoint) -> bool:
    """Whether Spark could not go on from it, since the newest offsets or commit do not parse.

    Spark refuses such a checkpoint at each start. The files of its state are not looked at.
    """
    # In this order: a batch may begin and be finished in between, in a checkpoint that is whole.
    finished = checkpoint.newest_finished()
    begun = checkpoint.newest_begun()
    if finished > begun:
        return True
    try:
        if begun >= 0 and not checkpoint.batch_end(begun):
            return True
        if finished >= 0:
            _, *document = (checkpoint.folder / "commits").read(str(finished)).splitlines()
            json.loads("".join(document))
    except (ValueError, KeyError, FileNotFoundError):
        return True
    return False
