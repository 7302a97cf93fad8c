"""The preconditions of a replay: the shop, the contracts, disk and memory."""

import shutil
from collections.abc import Collection
from dataclasses import dataclass

import psutil

from contracts.evolution.check import check
from infra.clock import get_today
from infra.disk import FREE_GIB_MIN, count_bytes
from infra.errors import UserError
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings, locate_root
from infra.wait import wait_for
from ops.generations.folders import locate_checkpoint
from ops.generations.record import Generation
from ops.generations.supervisor import is_supervised
from pipelines.common.pipeline import Pipeline
from pipelines.engine import archive

MIB = 1024**2
UNITS = {"m": MIB, "g": 1024 * MIB}
BESIDE_HEAP_MIB = 700
"""Memory of a Spark driver besides its heap: Java's own, and the Python process."""
SUPERVISOR_SECONDS_MAX = 5.0
"""How long a killed supervisor may take to be restarted."""
DISK_FLOOR_MIB = 64
"""The size of an empty checkpoint and output topics."""


@dataclass(frozen=True)
class Plan:
    records: int
    """Records to read."""
    disk_bytes: int
    """Bytes for its checkpoint and its outputs, estimated by the promoted generation's."""
    memory_bytes: int

    def __str__(self) -> str:
        disk, memory = self.disk_bytes / MIB, self.memory_bytes / MIB
        return f"about {disk:,.0f} MB of disk, {memory:,.0f} MB of memory"


def plan_replay(
    settings: Settings,
    pipeline: Pipeline,
    promoted: Generation | None,
    archived: Collection[str] = (),
) -> Plan:
    """Plan a replay; its `archived` topics begin in the archive.

    Raises UserError if it cannot start.
    """
    if not wait_for(lambda: is_supervised(settings, pipeline.name), SUPERVISOR_SECONDS_MAX):
        raise UserError(f"{pipeline.name} should run, but does not. Start everything: make up")
    report = check(locate_root() / "contracts", get_today())
    if breaks := len(report.faults) + len(report.breaks):
        raise UserError(
            f"The contracts on disk should break nobody, but {breaks} findings are breaks. "
            "A candidate would write what its readers cannot read. See: retail contracts check"
        )
    inputs = [topic.name for topic in pipeline.inputs]
    heap = settings.spark_driver_memory
    plan = Plan(
        records=sum(read_end_offsets(create_admin(settings), inputs).values()),
        # The replay first copies the records of the archive.
        disk_bytes=measure_disk_bytes(settings, promoted)
        + archive.measure_disk_bytes(settings, archived)
        + DISK_FLOOR_MIB * MIB,
        memory_bytes=int(heap[:-1]) * UNITS[heap[-1]] + BESIDE_HEAP_MIB * MIB,
    )
    refuse_without_room(settings, plan)
    return plan


def refuse_without_room(settings: Settings, plan: Plan) -> None:
    """Raise UserError if the machine lacks the disk or the memory for the replay."""
    floor = FREE_GIB_MIN * 1024 * MIB
    disk = shutil.disk_usage(settings.data_dir).free
    if disk - plan.disk_bytes < floor:
        raise UserError(
            f"A replay needs about {plan.disk_bytes / MIB:,.0f} MB of disk where "
            f"{settings.data_dir} is, and {floor / MIB:,.0f} MB have to stay free; found "
            f"{disk / MIB:,.0f} MB. Make room, or forget an older generation: retail replay prune"
        )
    memory = psutil.virtual_memory().available
    if memory < plan.memory_bytes:
        raise UserError(
            f"A second Spark needs about {plan.memory_bytes / MIB:,.0f} MB of memory, found "
            f"{memory / MIB:,.0f} MB available. Give it less: SPARK_DRIVER_MEMORY=512m · or "
            "forget an older generation: retail replay prune"
        )


def measure_disk_bytes(settings: Settings, generation: Generation | None) -> int:
    """The bytes on disk of a generation's checkpoint and of its own output topics."""
    if generation is None:
        return 0
    kept = locate_checkpoint(settings, generation).folder.count_bytes()
    for view, topic in generation.outputs.items():
        if topic != view:
            folders = settings.broker_dir.glob(f"**/{topic}-*")
            kept += sum(count_bytes(folder) for folder in folders if folder.is_dir())
    return kept
