"""Whether a component is really ready: asked of the thing itself, not of its process.

`python -m cli.ready COMPONENT` asks for the one that runs in this container. Those that
answer for themselves have a door of their own, which opens sooner (`cli/answering.py`).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from confluent_kafka import KafkaException

from cli import answering
from cli.answering import PAUSED, Probe
from contracts import CLOCKS, GENERATIONS, MARKERS, Contract
from contracts.consumer import reader
from infra.disk import shortage
from infra.kafka import Partition, UnknownTopic, admin, end_offsets, read_to_end
from infra.settings import Settings
from services import liveness
from services.quarantine.progress import read_progress

MARKERS_READ_MAX = 2_000  # the newest; pipelines that write rarely are still among them

decode = reader("command-line")


def readiness(settings: Settings, component: str, started_at: int) -> str | None:
    """What a component that started at this second (since 1970) is ready with; None: not yet."""
    try:
        return PROBES[component](settings, started_at)
    except (KafkaException, UnknownTopic, TimeoutError):
        return None


def simulator(settings: Settings, started_at: int) -> str | None:
    """Ready once it has said which world runs since this start; or it may be short of disk."""
    for clock in latest(settings, CLOCKS):
        if not since(clock["wall_at"], started_at):
            continue
        if clock["state"] != "running":
            lacking = shortage(settings)
            return f"{PAUSED}{lacking}" if lacking else None
        return (
            f"{settings.simulator_stores} stores, {settings.simulator_products} products, "
            f"seed {clock['seed']}, {clock['speed_milli'] / 1000:g} × real time"
        )
    return None


def quarantine(settings: Settings, started_at: int) -> str | None:
    """Ready once it has committed since this start, be it that there was nothing to read."""
    reached = read_progress(settings)
    if reached.committed_ms < started_at * 1000:
        return None
    return f"{behind(settings, reached.offsets)} records behind"


def pipelines(settings: Settings, started_at: int) -> str | None:
    """Ready once each has written a marker since this start, or cannot: then its view says why."""
    promoted = {one["pipeline"]: one["promoted"] for one in latest(settings, GENERATIONS)}
    named = {name: promoted[name] for name in settings.pipeline_names if name in promoted}
    awaited = {name: number for name, number in named.items() if number is not None}
    if not awaited or len(named) < len(settings.pipeline_names):
        return None
    markers = {(one["pipeline"], one["generation"]): one for one in latest(settings, MARKERS)}
    written = [markers[at] for at in awaited.items() if at in markers]
    if len(written) < len(awaited):
        return None
    if not all(since(marker["written_at"], started_at) for marker in written):
        return None
    shown = [f"{one['pipeline']} g{one['generation']}" for one in written]
    lag = sum(records_behind(settings, marker) for marker in written)
    return f"{' · '.join(shown)}, {lag} records behind"


def records_behind(settings: Settings, marker: Mapping[str, Any]) -> int:
    """How many records its inputs have beyond what the marker says was read."""
    return behind(
        settings, {(at["topic"], at["partition"]): at["offset"] for at in marker["inputs"]}
    )


def behind(settings: Settings, read: Mapping[Partition, int]) -> int:
    """How many records the partitions' topics have beyond these offsets."""
    ends = end_offsets(admin(settings), {topic for topic, _ in read})
    return sum(max(0, end - read.get(partition, 0)) for partition, end in ends.items())


def signed(service: str, told: str, settings: Settings, started_at: int) -> str | None:
    """Ready, with what is told of it, once the service has reported a start since this one."""
    return told if liveness.read_start_ms(settings, service) >= started_at * 1000 else None


def lake(settings: Settings, started_at: int) -> str | None:
    """Ready once it has committed since this start, be it that there was nothing to read."""
    from pipelines.lake import tables  # which not every image has

    bronze = tables.lake(settings).bronze
    if bronze.committed_ms() < started_at * 1000:
        return None
    return f"{behind(settings, bronze.read_held().ends)} records behind"


def latest(settings: Settings, contract: Contract) -> list[Mapping[str, Any]]:
    """The newest record per key of a control topic."""
    records = read_to_end(settings, contract.name, records_max=MARKERS_READ_MAX)
    return [decode(value).value for value in records.values()]


def since(moment: datetime, started_at: int) -> bool:
    return moment >= datetime.fromtimestamp(started_at, UTC)


PROBES: Mapping[str, Probe] = {
    **answering.PROBES,
    "simulator": simulator,
    "quarantine": quarantine,
    "pipelines": pipelines,
    "ordering": partial(signed, "ordering", "waits for reviews"),
    "supplier": partial(signed, "supplier", "waits for orders"),
    "lake": lake,
}
"""By component: what it is ready with, given the second of its start; None: not yet."""


if __name__ == "__main__":
    answering.tell(readiness)
