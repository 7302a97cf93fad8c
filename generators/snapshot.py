"""Snapshots of the world, from which a restart continues."""

import hashlib
import json
import logging
import os
from pathlib import Path
from typing import Any

from generators.numbering import Counts
from generators.ticks import TICKS_PER_HOUR

SNAPSHOT_TICKS = 4 * TICKS_PER_HOUR
KEPT_MAX = 2  # the newest may be ahead of the log; the one before is not

log = logging.getLogger("simulator")


class Snapshots:
    """The last states of one world, one file each.

    They only save time: without them, or with broken ones, the simulator computes the same world
    from its start.
    """

    def __init__(self, folder: Path, world: str) -> None:
        """`world`: the parameters as text; files of another world are never read."""
        self._folder = folder
        self._world = hashlib.sha256(world.encode()).hexdigest()[:12]

    def save(self, state: dict[str, Any]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        target = self._folder / f"{self._world}-{state['next_tick']:010d}.json"
        draft = target.with_suffix(".new")
        with draft.open("w") as file:
            json.dump(state, file, separators=(",", ":"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
        kept = self._list_files()[-KEPT_MAX:]
        for file_old in set(self._folder.glob("*.json")) - set(kept):
            file_old.unlink()

    def find_newest(self, logged: Counts) -> dict[str, Any] | None:
        """The last state that is not ahead of the log; None if there is none."""
        for file in reversed(self._list_files()):
            try:
                state: dict[str, Any] = json.loads(file.read_text())
            except ValueError:
                log.warning("%s does not parse; an earlier state is taken", file)
                continue
            if not _is_ahead(state["counts"], logged):
                return state
        return None

    def _list_files(self) -> list[Path]:
        return sorted(self._folder.glob(f"{self._world}-*.json"))


def _is_ahead(counts: Counts, logged: Counts) -> bool:
    return any(
        count > there
        for topic, partitions in counts.items()
        for count, there in zip(partitions, logged[topic], strict=True)
    )
