"""What each fault does to a shop's processes and files, and why it may not be possible there."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import psutil

from infra.clock import get_wall_ms
from infra.errors import UserError
from infra.settings import REMEMBERED_FILE, Settings, load_remembered
from infra.supervisor.parts import PIPELINES, kill, pause, restart_component, stop_component
from infra.wait import wait_for
from ops.control.world_clock import read_clock
from ops.faults.fault import Scene
from ops.generations.folders import locate_checkpoint
from ops.generations.lifecycle import load_generations
from ops.generations.record import read_generations
from services.api.store.database import locate_database, locate_folder

QUOTA, QUOTA_GIB = "simulator_disk_gib_max", 1e-6
STILL_SECONDS_MAX = 90.0
PAGE_BYTES = 4096
"""The size of a SQLite page. The first page stays, so that the file still looks like a database."""
NOISE = b"\xff"
LOCK_SECONDS_MAX = 30.0


def require(part: str) -> Callable[[Scene], str | None]:
    return lambda scene: None if part in scene.parts else f"{part} does not run in this shop"


def kill_part(part: str) -> Callable[[Scene], str]:
    def do(scene: Scene) -> str:
        kill(scene.parts[part])
        return f"killed {part}, process {scene.parts[part]}"

    return do


def pause_part(part: str) -> Callable[[Scene], str]:
    def do(scene: Scene) -> str:
        pause(scene.parts[part], scene.pause_seconds)
        return f"paused {part}, process {scene.parts[part]}, for {scene.pause_seconds:g} s"

    return do


def restart_broker(scene: Scene) -> str:
    restart_component(scene.settings, "broker")
    return f"stopped and started broker, process {scene.parts['broker']}"


def lock_database(scene: Scene) -> str:
    pipeline = scene.chance.choice(scene.settings.pipeline_names)
    file = find_database(scene.settings, pipeline)
    assert file is not None, "the API has the views of every pipeline loaded"
    with closing(sqlite3.connect(file, isolation_level=None, timeout=LOCK_SECONDS_MAX)) as other:
        other.execute("begin immediate")
        Event().wait(scene.pause_seconds)
        other.execute("rollback")
    return f"held the lock of {file.name} for {scene.pause_seconds:g} s"


def refuse_quota(scene: Scene) -> str | None:
    if (missing := require("simulator")(scene)) is not None:
        return missing
    if QUOTA.upper() in psutil.Process(scene.parts["simulator"]).environ():
        return f"{QUOTA.upper()} stands in the environment that the shop was started with"
    return None


def reach_quota(scene: Scene) -> str:
    """Raises UserError where the world goes on."""
    settings = scene.settings
    try:
        with remember_settings(settings.data_dir, **{QUOTA: QUOTA_GIB}):
            with stop_component(settings, "simulator"):
                since_ms = get_wall_ms()
            if not wait_for(lambda: stands_still(settings, since_ms), STILL_SECONDS_MAX):
                raise UserError(
                    f"full-disk: the world should stand still within {STILL_SECONDS_MAX:g} s, but "
                    "goes on. See: make logs COMPONENT=simulator"
                )
    finally:
        restart_component(settings, "simulator")
    return "the world stood still, and goes on"


def stands_still(settings: Settings, since_ms: int) -> bool:
    """Whether a simulator started since this moment has announced that it is paused."""
    announced = read_clock(settings)
    if announced is None or announced.clock.wall_ms < since_ms:
        return False
    return not announced.is_running


def refuse_tearing(scene: Scene) -> str | None:
    if (missing := require(PIPELINES)(scene)) is not None:
        return missing
    names = scene.settings.pipeline_names
    by_pipeline = read_generations(scene.settings)
    candidates = (by_pipeline[name].candidate for name in names if name in by_pipeline)
    for candidate in candidates:
        if candidate is not None:
            return (
                f"{candidate} is a candidate, and a lost generation is replayed where there is "
                f"none. Promote or prune it: retail replay status {candidate.pipeline}"
            )
    if any(find_checkpoint_file(scene.settings, name) is None for name in names):
        return "a pipeline has no checkpoint on this disk"
    return None


def tear_checkpoint(scene: Scene) -> str:
    pipeline = scene.chance.choice(scene.settings.pipeline_names)
    with stop_component(scene.settings, PIPELINES):
        file = find_checkpoint_file(scene.settings, pipeline)
        assert file is not None, "it was there when it was asked whether this can be done"
        before, after = tear(file)
    name = file.relative_to(scene.settings.data_dir)
    return f"cut {name} of {pipeline} from {before:,} to {after:,} bytes"


def damage_database(scene: Scene) -> str:
    pipeline = scene.chance.choice(scene.settings.pipeline_names)
    file = find_database(scene.settings, pipeline)
    assert file is not None, "the API has the views of every pipeline loaded"
    with stop_component(scene.settings, "api"):
        written = scribble(file)
    return f"overwrote {written:,} bytes of {file.name}"


def find_checkpoint_file(settings: Settings, pipeline: str) -> Path | None:
    """The offsets of the newest batch of the promoted generation; None where there are none."""
    promoted = load_generations(settings, pipeline).promoted
    if promoted is None:
        return None
    checkpoint = locate_checkpoint(settings, promoted)
    newest = checkpoint.find_newest_begun()
    if newest < 0 or not checkpoint.folder.on_disk:
        return None
    return Path(checkpoint.folder.address) / "offsets" / str(newest)


def tear(file: Path) -> tuple[int, int]:
    """Keep the first half of the file; returns its size before and after, in bytes."""
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    return len(whole), len(whole) // 2


def find_database(settings: Settings, pipeline: str) -> Path | None:
    """The API's database of the promoted generation; None where there is none."""
    promoted = load_generations(settings, pipeline).promoted
    if promoted is None:
        return None
    file = locate_database(locate_folder(settings), pipeline, promoted.number)
    return file if file.exists() else None


def scribble(file: Path) -> int:
    """Overwrite all of a database but its first page; returns how many bytes."""
    with file.open("r+b") as content:
        size = content.seek(0, 2)
        content.seek(PAGE_BYTES)
        return content.write(NOISE * max(0, size - PAGE_BYTES))


@contextmanager
def remember_settings(folder: Path, **others: Any) -> Iterator[None]:
    """Processes started within the block read these settings from the data folder, unless their
    environment sets others.

    The file has its old content when the block ends.
    """
    file = folder / REMEMBERED_FILE
    before = file.read_bytes()
    _replace(file, json.dumps({**load_remembered(folder), **others}).encode())
    try:
        yield
    finally:
        _replace(file, before)


def _replace(file: Path, content: bytes) -> None:
    draft = file.with_suffix(".fault")
    draft.write_bytes(content)
    os.replace(draft, file)
