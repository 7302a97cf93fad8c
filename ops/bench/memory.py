"""The memory of a shop that has read a long history and is live."""

import contextlib
import time
from collections.abc import Iterator

import psutil

from infra.settings import Settings
from infra.supervisor import orphans
from infra.wait import wait_for
from ops.bench import history
from ops.bench.broker import run_broker
from ops.bench.figures import Figure, aim_at_most
from ops.bench.scale import Scale
from ops.bench.shops import list_pipeline_settings, read_lags, run_shop

LOOK_SECONDS = 2.0
GB, MB = 1e9, 1e6

AIMS_GB = {"alone": 4, "with all": 6}


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    past = history.select_history_folder(settings)
    with run_broker(past):
        history.fill(past, scale.history_days)
    for word, own in list_pipeline_settings(past):
        yield measure_memory(word, own, scale)


def measure_memory(word: str, settings: Settings, scale: Scale) -> Figure:
    with run_shop(settings) as shop:
        samples = sample_memory(settings, scale.live_seconds)
        behind = max(read_lags(shop))
    processes = len(samples[-1])
    return Figure(
        f"memory, pipeline {word}",
        sum(samples[-1]) / GB,
        "GB",
        aim_at_most(AIMS_GB[word]),
        note=f"{processes} processes, shared pages counted once, {scale.live_seconds:g} s after "
        f"catching up with {24 * scale.history_days} hours; {behind:g} records "
        f"behind. Highest meanwhile: {max(map(sum, samples)) / GB:.2f} GB.",
    )


def sample_memory(settings: Settings, seconds: float) -> list[list[int]]:
    """The bytes of every process of the shop, sampled repeatedly."""
    samples: list[list[int]] = []
    deadline = time.monotonic() + seconds

    def look() -> bool:
        samples.append([count_bytes(process) for process in orphans.find(settings.data_dir)])
        return time.monotonic() >= deadline

    wait_for(look, 2 * seconds, LOOK_SECONDS)
    return samples


def count_bytes(process: psutil.Process) -> int:
    """Resident bytes; shared pages count by their share, where the system reports it."""
    with contextlib.suppress(psutil.NoSuchProcess):
        full = process.memory_full_info()
        return int(getattr(full, "pss", full.rss))
    return 0
