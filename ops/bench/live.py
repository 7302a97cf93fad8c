"""The cost of live operation: a shop as it runs, and a batch of each of its pipelines."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from infra.processes import find_engines
from infra.settings import DEFAULT_SPEED, Settings
from infra.supervisor import orphans
from ops.bench.batches import BATCH_SECONDS, measure_batches, measure_plain
from ops.bench.figures import Figure, aim_at_most
from ops.bench.freshness import PATHS, compute_percentile_ms, measure_freshness
from ops.bench.shops import (
    GB,
    Shop,
    count_bytes,
    count_receipts,
    find_newest_batches,
    let_time_pass,
    measure_cpu,
    measure_cpu_since,
    run_shop,
)
from ops.generations.lifecycle import load_generations
from ops.generations.marker import read_marker

AGE_SECONDS, BUSY_AGE_SECONDS = 600, 240
"""The ages of the default shop and of the one with more receipts, before they are measured."""
PROBE_SECONDS = 60
"""How long receipts are posted whose way into the views is timed."""
MEMORY_GB_MAX = 3.5
REPLAYED, REPLAY_SECONDS_MAX = "fraud", 60
RATIOS_MAX: Mapping[str, float] = MappingProxyType(
    {"inventory": 1.2, "fraud": 1.5, "analytics": 1.5, "visits": 1.5}
)
"""A batch of each pipeline in the default shop, in those of the yardstick."""

BUSY_RECEIPTS_PER_SECOND = 300.0
MORNING = 1.15
"""The world begins on a Monday at eight. An average hour sells this many times as much."""
MORNING_SPEED = 2.0
"""The speed of the busy world. Its first hour takes half an hour, in which all is measured; the
next hour sells half as many receipts more."""


@dataclass(frozen=True)
class Kind:
    """A shop that is measured, and its aims."""

    name: str
    visible_ms_max: tuple[float, float]
    """p50 and p99 of the time until a receipt is in the stock."""
    cores_max: float | None = None


DEFAULT = Kind("default shop", (400, 1_000), cores_max=0.4)
BUSY = Kind(f"{BUSY_RECEIPTS_PER_SECOND:g}/s", (600, 1_500))


def measure(settings: Settings, share: float) -> Iterator[Figure]:
    default = settings.model_copy(update={"data_dir": settings.data_dir / "live"})
    with run_shop(default) as shop:
        let_time_pass(share * AGE_SECONDS)
        yield from measure_shop(shop, share, DEFAULT)
        yield from measure_batches(default, share, DEFAULT.name, RATIOS_MAX)
        yield measure_replay(shop)
        yield measure_plain(default, share)
    receipts = MORNING * BUSY_RECEIPTS_PER_SECOND * DEFAULT_SPEED / MORNING_SPEED
    busy = settings.model_copy(
        update={
            "data_dir": settings.data_dir / "live-busy",
            "simulator_receipts_per_second": receipts,
            "simulator_speed": MORNING_SPEED,
        }
    )
    with run_shop(busy) as shop:
        let_time_pass(share * BUSY_AGE_SECONDS)
        yield from measure_shop(shop, share, BUSY)
        yield from measure_batches(busy, share, BUSY.name, {})


def measure_shop(shop: Shop, share: float, kind: Kind) -> Iterator[Figure]:
    """The running shop, with all its pipelines in one Java."""
    settings = shop.settings
    [java] = find_engines(shop.find_pid("pipelines"))
    before, made, began = measure_cpu(java), find_newest_batches(settings), time.monotonic()
    let_time_pass(share * BATCH_SECONDS)
    seconds = time.monotonic() - began
    per_minute = {
        name: 60 * (newest - made[name]) / seconds
        for name, newest in find_newest_batches(settings).items()
    }
    cores = measure_cpu_since(before, java) / seconds
    shares = ", ".join(f"{name} {each:.0f}" for name, each in per_minute.items())
    yield Figure(
        f"{kind.name}, Spark",
        cores,
        "cores",
        None if kind.cores_max is None else aim_at_most(kind.cores_max),
        note=f"Java and its Python workers, all pipelines; batches a minute: {shares}. "
        f"{1000 * 60 * cores / sum(per_minute.values()):.0f} ms of CPU a batch.",
    )
    yield from measure_visibility(settings, share, kind)
    yield Figure(
        f"{kind.name}, memory",
        sum(map(count_bytes, orphans.find(settings.data_dir))) / GB,
        "GB",
        aim_at_most(MEMORY_GB_MAX),
    )


def measure_visibility(settings: Settings, share: float, kind: Kind) -> Iterator[Figure]:
    """Milliseconds from a receipt's acknowledgement to an answer of each pipeline that holds it."""
    names = [name for name in settings.pipeline_names if name in PATHS]
    before, began = count_receipts(settings), time.monotonic()
    found = measure_freshness(settings, names, share * PROBE_SECONDS)
    rate = (count_receipts(settings) - before) / (time.monotonic() - began)
    p50_max, p99_max = map(aim_at_most, kind.visible_ms_max)
    for name, samples in found.items():
        bad = sum(not sample.good for sample in samples)
        yield Figure(
            f"{kind.name}, {name} p50",
            compute_percentile_ms(samples, 50),
            "ms",
            p50_max if name == "inventory" else None,
            note=f"{bad:,} of {len(samples)} had no good answer." if bad else "",
        )
        if name == "inventory":
            yield Figure(
                f"{kind.name}, {name} p99",
                compute_percentile_ms(samples, 99),
                "ms",
                p99_max,
                note=f"{len(samples)} receipts posted beside {rate:,.0f} receipts/s.",
            )


def measure_replay(shop: Shop) -> Figure:
    """A replay beside the running shop, until its difference is known."""
    began = time.monotonic()
    shop.run_retail("replay", "start", REPLAYED)
    seconds = time.monotonic() - began
    candidate = load_generations(shop.settings, REPLAYED).candidate
    marker = read_marker(shop.settings, *candidate.name) if candidate else None
    assert marker is not None, "a candidate that has caught up has written"
    shop.run_retail("replay", "prune", REPLAYED)
    return Figure(
        f"retail replay start {REPLAYED}, beside it",
        seconds,
        "s",
        aim_at_most(REPLAY_SECONDS_MAX),
        note=f"{sum(marker.inputs.values()):,} records from offset zero, with its difference. Half "
        "an hour of the shop should take no more.",
    )
