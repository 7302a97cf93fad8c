"""Readiness of a component by its own report; a running process is not enough.

`python -m ops.cli.ready COMPONENT` asks the one that runs in this container. Components that answer
requests have `ops/cli/health.py`, which imports less.
"""

from collections.abc import Mapping
from functools import partial

from confluent_kafka import KafkaException

from contracts.times import to_instant
from infra.disk import find_shortage
from infra.kafka import Offsets, UnknownTopic, create_admin, read_end_offsets
from infra.settings import Settings
from ops.cli import health
from ops.cli.health import PAUSED, Probe
from ops.control.world_clock import read_clock
from ops.generations.marker import MARKERS_READ_MAX, Marker, read_markers
from ops.generations.record import read_generations
from ops.replay.readers import READER
from services import liveness
from services.quarantine.follower import read_progress


def find_readiness(settings: Settings, component: str, started_at: int) -> str | None:
    """The readiness report of a component that started at this second since 1970; None: not yet."""
    try:
        return PROBES[component](settings, started_at)
    except (KafkaException, UnknownTopic, TimeoutError):
        return None


def check_simulator(settings: Settings, started_at: int) -> str | None:
    """Ready once it has announced its world since this start; it may also be short of disk."""
    announced = read_clock(settings, READER)
    if announced is None or announced.clock.wall_ms < started_at * 1000:
        return None
    if not announced.is_running:
        lacking = find_shortage(settings)
        return f"{PAUSED}{lacking}" if lacking else None
    return (
        f"{settings.simulator_stores} stores, {settings.simulator_products} products, "
        f"seed {announced.seed}, {announced.clock.speed_milli / 1000:g} × real time"
    )


def check_clock(settings: Settings, started_at: int) -> str | None:
    """Ready once it has announced the time of an own world since this start."""
    announced = read_clock(settings, READER)
    if announced is None or announced.clock.wall_ms < started_at * 1000:
        return None
    if announced.is_running:
        return "an own world on the wall clock"
    return f"an own world at {to_instant(announced.clock.world_ms):%Y-%m-%d %H:%M}"


def quarantine(settings: Settings, started_at: int) -> str | None:
    """Ready once it has reported a start since this one."""
    if liveness.read_start_ms(settings, "quarantine") < started_at * 1000:
        return None
    return f"{count_behind(settings, read_progress(settings))} records behind"


def check_pipelines(settings: Settings, started_at: int) -> str | None:
    """Ready once each promoted generation has written a marker since this start, or has read all.

    A pipeline whose generation is invalid has none to wait for.
    """
    markers = read_fresh_markers(settings, started_at)
    fresh = [marker for marker in markers.values() if marker]
    if not fresh or len(fresh) < len(markers):
        return None
    lag = sum(count_behind(settings, marker.inputs) for marker in fresh)
    named = " · ".join(f"{marker.pipeline} g{marker.generation}" for marker in fresh)
    return f"{named}, {lag} records behind"


def read_fresh_markers(settings: Settings, started_at: int) -> Mapping[str, Marker | None]:
    """By pipeline: the newest marker of its promoted generation; None: not yet one since this
    start, and more to read. One whose generation is invalid has none to wait for, and is left out.
    """
    by_pipeline = read_generations(settings, READER)
    markers = read_markers(settings, READER, MARKERS_READ_MAX)
    found: dict[str, Marker | None] = {}
    for name in settings.pipeline_names:
        generations = by_pipeline.get(name)
        if generations is None:
            found[name] = None
        elif promoted := generations.promoted:
            marker = markers.get((name, promoted.number))
            is_fresh = marker is not None and (
                marker.written_at_ms >= started_at * 1000
                or count_behind(settings, marker.inputs) == 0
            )
            found[name] = marker if is_fresh else None
    return found


def count_behind(settings: Settings, read: Offsets) -> int:
    """How many records the partitions' topics have beyond these offsets."""
    ends = read_end_offsets(create_admin(settings), {topic for topic, _ in read})
    return sum(max(0, end - read.get(partition, 0)) for partition, end in ends.items())


def probe_service(service: str, text: str, settings: Settings, started_at: int) -> str | None:
    """Ready, with the given text, once the service has reported a start since this one."""
    return text if liveness.read_start_ms(settings, service) >= started_at * 1000 else None


def check_lake(settings: Settings, started_at: int) -> str | None:
    """Ready once it has committed since this start, even if there was nothing to read."""
    from pipelines.lake import tables  # imported here: not every image has it

    bronze = tables.locate_lake(settings).bronze
    if bronze.committed_ms() < started_at * 1000:
        return None
    return f"{count_behind(settings, bronze.read_coverage().ends)} records behind"


PROBES: Mapping[str, Probe] = {
    **health.PROBES,
    "simulator": check_simulator,
    "clock": check_clock,
    "quarantine": quarantine,
    "pipelines": check_pipelines,
    "ordering": partial(probe_service, "ordering", "watches positions"),
    "markdowns": partial(probe_service, "markdowns", "watches what sells slowly"),
    "supplier": partial(probe_service, "supplier", "waits for orders"),
    "lake": check_lake,
}
"""By component: its report of readiness, given the second of its start; None: not yet."""


if __name__ == "__main__":
    health.tell(find_readiness)
