"""What each fault does to a shop, and why it may not be possible there."""

from collections.abc import Callable

import psutil

from generators.event import Dirt
from infra.settings import Settings
from infra.supervisor.parts import PIPELINES, kill, pause, restart_component, stop_component
from infra.wait import wait_for
from ops.control.world_clock import read_clock
from ops.faults import files, records
from ops.faults.fault import Ineffective, Scene
from ops.generations.record import read_generations
from services.clock import get_wall_ms

FLOOD_RECORDS = 5_000
COPIES = 10
BACKLOG_RECORDS = 300
WRONG_CLOCK_RECORDS = 300
STRANGER_RECORDS = 50
OFFLINE_STORE = "FAULT-OFFLINE"
AGAIN_STORE = "FAULT-AGAIN"
AHEAD_STORE, BEHIND_STORE = "FAULT-AHEAD", "FAULT-BEHIND"
QUOTA, QUOTA_GIB = "simulator_disk_gib_max", 1e-6
STILL_SECONDS_MAX = 90.0


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


def publish(what: str, send: Callable[[Scene], int]) -> Callable[[Scene], str]:
    return lambda scene: f"published {send(scene):,} {what}"


def spoil(scene: Scene, dirt: Dirt, count: int) -> int:
    return records.publish_spoilt(scene.settings, dirt, count)


def set_clock_wrong(store_id: str, minutes: int) -> Callable[[Scene], str]:
    return publish(
        f"receipts of {store_id}, half of them by its wrong clock",
        lambda scene: records.publish_by_wrong_clock(
            scene.settings, store_id, WRONG_CLOCK_RECORDS, minutes
        ),
    )


def lock_database(scene: Scene) -> str:
    pipeline = scene.chance.choice(scene.settings.pipeline_names)
    file = files.find_database(scene.settings, pipeline)
    assert file is not None, "the API has the views of every pipeline loaded"
    files.lock(file, scene.pause_seconds)
    return f"held the lock of {file.name} for {scene.pause_seconds:g} s"


def refuse_quota(scene: Scene) -> str | None:
    if (missing := require("simulator")(scene)) is not None:
        return missing
    if QUOTA.upper() in psutil.Process(scene.parts["simulator"]).environ():
        return f"{QUOTA.upper()} stands in the environment that the shop was started with"
    return None


def reach_quota(scene: Scene) -> str:
    """Raises Ineffective."""
    settings = scene.settings
    try:
        with files.remember_settings(settings.data_dir, **{QUOTA: QUOTA_GIB}):
            with stop_component(settings, "simulator"):
                since_ms = get_wall_ms()
            if not wait_for(lambda: stands_still(settings, since_ms), STILL_SECONDS_MAX):
                raise Ineffective("full-disk", "the world stands still", STILL_SECONDS_MAX)
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
    known = read_generations(scene.settings)
    candidates = (known[name].candidate for name in names if name in known)
    for one in candidates:
        if one is not None:
            return (
                f"{one} is a candidate, and a lost generation is replayed where there is none. "
                f"Promote or prune it: retail replay status {one.pipeline}"
            )
    if any(files.find_checkpoint_file(scene.settings, name) is None for name in names):
        return "a pipeline has no checkpoint on this disk"
    return None


def tear_checkpoint(scene: Scene) -> str:
    pipeline = scene.chance.choice(scene.settings.pipeline_names)
    with stop_component(scene.settings, PIPELINES):
        file = files.find_checkpoint_file(scene.settings, pipeline)
        assert file is not None, "it was there when it was asked whether this can be done"
        before, after = files.tear(file)
    name = file.relative_to(scene.settings.data_dir)
    return f"cut {name} of {pipeline} from {before:,} to {after:,} bytes"


def damage_database(scene: Scene) -> str:
    pipeline = scene.chance.choice(scene.settings.pipeline_names)
    file = files.find_database(scene.settings, pipeline)
    assert file is not None, "the API has the views of every pipeline loaded"
    with stop_component(scene.settings, "api"):
        written = files.scribble(file)
    return f"overwrote {written:,} bytes of {file.name}"
