"""Every fault by name, with its promise; and what is not among them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import psutil

from control.generations import read_generations
from control.world_clock import read_clock
from faults import files, records
from faults.fault import Fault, Ineffective, Promise, Scene
from generators.dirt import Dirt
from infra.settings import Settings
from infra.supervisor.parts import ENGINE, PIPELINES, WORKER, kill, pause, stopped
from infra.wait import until
from services.clock import wall_ms

FLOOD_RECORDS = 5_000
COPIES = 10
BACKLOG_RECORDS = 300
OFFLINE_STORE = "FAULT-OFFLINE"
QUOTA, QUOTA_GIB = "simulator_disk_gib_max", 1e-6
STILL_SECONDS_MAX = 90.0


@dataclass(frozen=True)
class Part:
    """A process that may be killed and paused, and what is promised then."""

    name: str
    is_: str
    stays: str
    answered: bool
    stale_seconds_max: float
    healed_seconds_max: float
    takes: frozenset[str] = frozenset()
    """The parts that end with it."""

    @property
    def promise(self) -> Promise:
        return Promise(self.stays, self.answered, self.stale_seconds_max, self.healed_seconds_max)


SPARK = frozenset({WORKER, ENGINE})

PARTS = (
    Part("broker", "Kafka", "views are served; nothing can be published", True, 120, 120),
    Part("simulator", "the simulator", "views are served; the world stands still", True, 60, 90),
    Part("clock", "the clock of an own world", "all goes on", True, 60, 90),
    Part("quarantine", "the quarantine", "views go on; rejected records wait", True, 60, 90),
    Part(
        PIPELINES,
        "the pipelines' supervisor",
        "views are served as they are",
        True,
        240,
        240,
        SPARK,
    ),
    Part(WORKER, "the pipelines' Python", "views are served as they are", True, 240, 240, SPARK),
    Part(ENGINE, "the pipelines' Spark", "views are served as they are", True, 240, 240),
    Part("ordering", "the ordering gate", "views go on; orders wait", True, 60, 120),
    Part("supplier", "the supplier", "views go on; confirmations wait", True, 60, 120),
    Part("api", "the API", "the log grows and pipelines go on", False, 90, 90),
    Part("lake", "the lake", "views go on; the archive stands still", True, 60, 240),
)

VIEWS_GO_ON = "views go on"


def list_faults() -> Iterator[Fault]:
    for part in PARTS:
        yield Fault(
            name=f"kill-{part.name}",
            does=f"kill -9 of {part.is_}",
            promise=part.promise,
            refusal=require(part.name),
            do=kill_part(part.name),
            ends=part.takes | {part.name},
        )
    for part in PARTS:
        yield Fault(
            name=f"pause-{part.name}",
            does=f"SIGSTOP of {part.is_}, and SIGCONT after --seconds",
            promise=part.promise,
            refusal=require(part.name),
            do=pause_part(part.name),
        )
    yield Fault(
        "restart-broker",
        "a stop of Kafka in good order, and its start",
        Promise("views are served; nothing can be published", True, 120, 120),
        require("broker"),
        restart_broker,
        frozenset({"broker"}),
    )
    yield from list_record_faults()
    yield Fault(
        "full-disk",
        "the simulator started with a quota that the data folder is beyond, then with its own",
        Promise("views are served; the world stands still, and says why", True, 60, 90),
        refuse_quota,
        reach_quota,
        frozenset({"simulator"}),
    )
    yield Fault(
        "torn-checkpoint",
        "a pipeline's newest checkpoint file cut in half, while the pipelines are stopped",
        Promise("views are served as they are, until a replay has caught up", True, 300, 300),
        refuse_tearing,
        tear_checkpoint,
        SPARK | {PIPELINES},
    )
    yield Fault(
        "damaged-database",
        "a database of the API overwritten but for its first page, while the API is stopped",
        Promise("the log grows and pipelines go on", False, 120, 120),
        require("api"),
        damage_database,
        frozenset({"api"}),
    )


def list_record_faults() -> Iterator[Fault]:
    """Faults that are in the log for ever: records that no client should publish."""
    runs = require("broker")
    yield Fault(
        "poison-record",
        "one receipt of damaged bytes",
        Promise(f"{VIEWS_GO_ON}; the record is in the quarantine", True, 60, 60),
        runs,
        publish("damaged receipt", lambda one: spoil(one, Dirt.MALFORMED, 1)),
    )
    yield Fault(
        "poison-flood",
        f"{FLOOD_RECORDS:,} receipts of damaged bytes at once",
        Promise(f"{VIEWS_GO_ON}; each record is in the quarantine", True, 90, 90),
        runs,
        publish("damaged receipts", lambda one: spoil(one, Dirt.MALFORMED, FLOOD_RECORDS)),
    )
    yield Fault(
        "unknown-schema",
        "a receipt written with a schema that nobody knows",
        Promise(f"{VIEWS_GO_ON}; the record is in the quarantine", True, 60, 60),
        runs,
        publish("receipt of an unknown schema", lambda one: spoil(one, Dirt.UNKNOWN_SCHEMA, 1)),
    )
    yield Fault(
        "duplicate-storm",
        f"the newest receipts published again, each {COPIES} times",
        Promise(f"{VIEWS_GO_ON}; each receipt counts once", True, 90, 90),
        runs,
        publish("copies", lambda one: records.publish_copies(one.settings, COPIES)),
    )
    yield Fault(
        "silent-store",
        f"a store that was cut off for {records.OFFLINE_MINUTES} minutes of world time sends "
        f"{BACKLOG_RECORDS:,} receipts at once",
        Promise(f"{VIEWS_GO_ON}; each receipt counts when it happened", True, 60, 60),
        runs,
        publish(
            "receipts of a store that was cut off",
            lambda one: records.publish_backlog(one.settings, OFFLINE_STORE, BACKLOG_RECORDS),
        ),
    )


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
    with stopped(scene.settings, "broker"):
        pass
    return f"stopped and started broker, process {scene.parts['broker']}"


def publish(what: str, send: Callable[[Scene], int]) -> Callable[[Scene], str]:
    return lambda scene: f"published {send(scene):,} {what}"


def spoil(scene: Scene, dirt: Dirt, count: int) -> int:
    return records.publish_spoilt(scene.settings, dirt, count)


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
        with files.remembered(settings.data_dir, **{QUOTA: QUOTA_GIB}):
            with stopped(settings, "simulator"):
                since_ms = wall_ms()
            if not until(lambda: stands_still(settings, since_ms), STILL_SECONDS_MAX):
                raise Ineffective("full-disk", "the world stands still", STILL_SECONDS_MAX)
    finally:
        with stopped(settings, "simulator"):
            pass
    return "the world stood still, and goes on"


def stands_still(settings: Settings, since_ms: int) -> bool:
    """Whether a simulator that was started since this moment has said that it waits."""
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
    with stopped(scene.settings, PIPELINES):
        file = files.find_checkpoint_file(scene.settings, pipeline)
        assert file is not None, "it was there when it was asked whether this can be done"
        before, after = files.tear(file)
    shown = file.relative_to(scene.settings.data_dir)
    return f"cut {shown} of {pipeline} from {before:,} to {after:,} bytes"


def damage_database(scene: Scene) -> str:
    pipeline = scene.chance.choice(scene.settings.pipeline_names)
    file = files.find_database(scene.settings, pipeline)
    assert file is not None, "the API has the views of every pipeline loaded"
    with stopped(scene.settings, "api"):
        written = files.scribble(file)
    return f"overwrote {written:,} bytes of {file.name}"


FAULTS: Mapping[str, Fault] = MappingProxyType({one.name: one for one in list_faults()})

NOT_COVERED: Mapping[str, str] = MappingProxyType(
    {
        "a disk without any room": "filling the disk of a machine that others use is not safe: "
        "`full-disk` reaches a quota instead, which stops the world long before",
        "a clock that jumps": "the wall clock belongs to the machine, and setting it needs root",
        "the log's head deleted": "a record that is deleted does not come back. "
        "`tests/replay/test_archive.py` deletes it in a log of its own, and replays from the lake",
        "a torn file of Spark's state": "not tried yet. Only the newest offsets and the newest "
        "commit of a checkpoint are looked at before a start",
        "one broker of three, a Spark worker of several": "a shop of one machine has one of each. "
        "`tests/e2e/test_cluster.py` kills them",
        "a network cut between broker and pipeline, an unclean leader": "not tried yet",
        "a power cut": "kill -9 leaves what the kernel has not written yet; a power cut does not",
    }
)
"""What cannot be done here, and why, or where it is tried."""
