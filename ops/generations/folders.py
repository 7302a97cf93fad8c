"""Where the generations of a pipeline keep their files, and whether one can go on from them."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from infra.errors import UserError
from infra.folder import Folder
from infra.settings import PIPELINES, Settings
from infra.wait import wait_for
from ops.generations.marker import read_marker
from ops.generations.record import Generation
from pipelines.engine.checkpoint import Checkpoint

REMOVE_SECONDS_MAX = 30.0


def locate_home(settings: Settings, pipeline: str) -> Path:
    """The folder of all generations of the pipeline."""
    return settings.data_dir / PIPELINES / pipeline


def locate_folder(settings: Settings, generation: Generation) -> Path:
    """The folder of the generation's code and lease."""
    return locate_home(settings, generation.pipeline) / f"g{generation.number}"


def locate_code(settings: Settings, generation: Generation) -> Path:
    """The copy of the code that the generation runs."""
    return locate_folder(settings, generation) / "code"


def locate_checkpoints(settings: Settings, pipeline: str) -> Folder:
    """The folder of its generations' checkpoints: in the data folder, unless a URL says where."""
    if settings.store_url:
        return Folder.of(settings.store_url) / "checkpoints" / pipeline
    return Folder.of(locate_home(settings, pipeline).as_uri())


def find_checkpoint(settings: Settings, pipeline: str, number: int) -> Checkpoint:
    """The checkpoint of a generation that the control topic may no longer know."""
    generation = f"g{number}"
    folder = locate_checkpoints(settings, pipeline) / generation / "checkpoint"
    return Checkpoint(folder, locate_home(settings, pipeline) / generation)


def locate_checkpoint(settings: Settings, generation: Generation) -> Checkpoint:
    return find_checkpoint(settings, generation.pipeline, generation.number)


def locate_note(settings: Settings, generation: Generation) -> Path:
    return locate_folder(settings, generation) / "ended"


def end(settings: Settings, generation: Generation, why: str) -> None:
    """Note that the generation cannot take the next batch, for every process on the machine.

    It has forgotten what its next record has to be compared with. What it has written up to its
    last marker is exact, and is read until a replay takes its place.
    """
    locate_note(settings, generation).write_text(f"{why}\n")


def find_end(settings: Settings, generation: Generation) -> str | None:
    """Why the generation has ended; None: it has not."""
    try:
        return locate_note(settings, generation).read_text().strip()
    except FileNotFoundError:
        return None


def is_lost(settings: Settings, generation: Generation) -> bool:
    """Whether it cannot continue: it has ended, its code is missing, or its checkpoint is.

    A checkpoint that cannot be read is lost, too.
    """
    checkpoint = locate_checkpoint(settings, generation)
    if find_end(settings, generation) is not None or is_damaged(checkpoint):
        return True
    begun = checkpoint.read_committed() or not read_marker(
        settings, generation.pipeline, generation.number
    )
    return not (begun and locate_code(settings, generation).exists())


def is_damaged(checkpoint: Checkpoint) -> bool:
    """Whether Spark cannot continue from it, because the newest offsets or commit do not parse.

    A power cut may leave the newest file half written, and Spark refuses such a checkpoint at each
    start. The check ignores the files of its state.
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


def list_numbers_on_disk(settings: Settings, pipeline: str) -> Sequence[int]:
    """The generations that have left a folder."""
    folders = locate_home(settings, pipeline).glob("g[0-9]*")
    return sorted(int(folder.name[1:]) for folder in folders if folder.name[1:].isdecimal())


def remove(settings: Settings, pipeline: str, number: int) -> None:
    """Remove what a generation has on disk; last its folder, by which the rest is found.

    Raises UserError when something goes on writing there.
    """
    kept = find_checkpoint(settings, pipeline, number)
    kept.folder.remove()

    def gone() -> bool:
        shutil.rmtree(kept.home, ignore_errors=True)
        return not kept.home.exists()

    if not wait_for(gone, REMOVE_SECONDS_MAX):
        raise UserError(
            f"{kept.home} should be gone within {REMOVE_SECONDS_MAX:g} s, but is written to, or is "
            "not ours to remove. Once it can be, the next retail replay prune removes it."
        )
