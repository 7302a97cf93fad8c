"""The cost of live operation: a shop as it runs, and a batch of each of its pipelines."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import replace

from bench.arrivals import describe_failures, milliseconds
from bench.batch_cost import cpu_by_process, spent_since, time_passes
from bench.figures import Figure, at_most
from bench.freshness import RECEIPTS_PER_SECOND, VIEWS, send_probes
from bench.live_batches import BUSY, DEFAULT, Kind, batches, by_defaults
from bench.memory import GB, count_bytes
from bench.reads import measure_reads
from bench.scale import Scale
from bench.shops import Shop, derive_settings, running
from infra.processes import find_engines
from infra.settings import Settings
from infra.supervisor import orphans
from pipelines.common.generations.folders import find_checkpoint

SLOW_PROBES_PER_SECOND = 2.0
"""Each waits for every pipeline, some for five seconds. The API limits how many wait at once."""
REPLAYED, REPLAY_SECONDS_MAX = "fraud", 60


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    default = settings.model_copy(update={"data_dir": settings.data_dir / "live"})
    with running(default) as shop:
        time_passes(scale.age_seconds)
        yield from measure_shop(shop, scale, DEFAULT)
        yield from batches(default, scale, DEFAULT)
        yield measure_replay(shop)
        yield from by_defaults(default, scale)
    busy = derive_settings(settings, "live-busy", RECEIPTS_PER_SECOND)
    with running(busy) as shop:
        time_passes(scale.warm_seconds)
        yield from measure_shop(shop, scale, BUSY)
        yield from batches(busy, scale, BUSY)


def measure_shop(shop: Shop, scale: Scale, kind: Kind) -> Iterator[Figure]:
    """The running shop, with all its pipelines in one Java."""
    settings = shop.settings
    [java] = find_engines(shop.pid("pipelines"))
    before, made, began = cpu_by_process(java), newest_batches(settings), time.monotonic()
    time_passes(scale.batch_seconds)
    seconds = time.monotonic() - began
    per_minute = {
        name: 60 * (newest - made[name]) / seconds
        for name, newest in newest_batches(settings).items()
    }
    cores = spent_since(before, java) / seconds
    aim = None if kind.cores_max is None else at_most(kind.cores_max)
    shares = ", ".join(f"{name} {each:.0f}" for name, each in per_minute.items())
    note = (
        f"Java and its Python workers, all pipelines; batches a minute: {shares}. "
        f"{1000 * 60 * cores / sum(per_minute.values()):.0f} ms of CPU a batch."
    )
    yield Figure(f"{kind.name}, Spark", cores, "cores", aim, note=note)
    yield from visible(settings, scale, kind)
    short = replace(scale, warm_seconds=1)
    yield from measure_reads(f"{kind.name}, one shelf read", settings, short)
    yield Figure(
        f"{kind.name}, memory",
        sum(map(count_bytes, orphans.find(settings.data_dir))) / GB,
        "GB",
        at_most(3),
    )


def measure_replay(shop: Shop) -> Figure:
    """A replay beside the running shop, until its difference is known."""
    began = time.monotonic()
    shop.retail("replay", "start", REPLAYED)
    seconds = time.monotonic() - began
    status = json.loads(shop.retail("replay", "status", REPLAYED, "--json"))
    read = max(generation["read"] for generation in status["generations"])
    shop.retail("replay", "prune", REPLAYED)
    return Figure(
        f"retail replay start {REPLAYED}, beside it",
        seconds,
        "s",
        at_most(REPLAY_SECONDS_MAX),
        note=f"{read:,} records from offset zero, with its difference. Half an hour of the shop "
        "should take no more.",
    )


def visible(settings: Settings, scale: Scale, kind: Kind) -> Iterator[Figure]:
    """Seconds from a receipt's acknowledgement to an answer of each pipeline that holds it."""
    names = [name for name in settings.pipeline_names if name in VIEWS]
    short = replace(scale, warm_seconds=1)
    views = [VIEWS[name] for name in names]
    probes, rate = asyncio.run(send_probes(settings, short, views, SLOW_PROBES_PER_SECOND))
    for name, seen in zip(names, zip(*(probe.seen for probe in probes), strict=True), strict=True):
        p50, p99 = kind.visible_ms_max if name == "inventory" else (None, None)
        note = (
            f"{len(probes)} receipts posted beside {rate:,.0f} receipts/s.{describe_failures(seen)}"
        )
        for percent, aim in ((50, p50), (99, p99)):
            yield Figure(
                f"{kind.name}, {name} p{percent}",
                milliseconds(seen, percent),
                "ms",
                None if aim is None else at_most(aim),
                note=note if percent == 99 else "",
            )


def newest_batches(settings: Settings) -> dict[str, int]:
    """The number of the newest batch of each pipeline's first generation."""
    return {
        name: find_checkpoint(settings, name, 1).newest_begun() for name in settings.pipeline_names
    }
