"""The cost of live operation: a shop as it runs, and a batch of each of its pipelines."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import replace

from infra.processes import find_engines
from infra.settings import Settings
from infra.supervisor import orphans
from ops.bench.arrivals import compute_percentile_ms, describe_failures
from ops.bench.batch_cost import let_time_pass, measure_cpu, measure_cpu_since
from ops.bench.figures import Figure, aim_at_most
from ops.bench.freshness import RECEIPTS_PER_SECOND, VIEWS, send_probes
from ops.bench.live_batches import BUSY, DEFAULT, Kind, measure_batches, measure_defaults
from ops.bench.memory import GB, count_bytes
from ops.bench.reads import measure_reads
from ops.bench.scale import Scale
from ops.bench.shops import Shop, derive_settings, run_shop
from ops.generations.folders import find_checkpoint

SLOW_PROBES_PER_SECOND = 2.0
"""Each waits for every pipeline, some for five seconds. The API limits how many wait at once."""
REPLAYED, REPLAY_SECONDS_MAX = "fraud", 60


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    default = settings.model_copy(update={"data_dir": settings.data_dir / "live"})
    with run_shop(default) as shop:
        let_time_pass(scale.age_seconds)
        yield from measure_shop(shop, scale, DEFAULT)
        yield from measure_batches(default, scale, DEFAULT)
        yield measure_replay(shop)
        yield from measure_defaults(default, scale)
    busy = derive_settings(settings, "live-busy", RECEIPTS_PER_SECOND)
    with run_shop(busy) as shop:
        let_time_pass(scale.warm_seconds)
        yield from measure_shop(shop, scale, BUSY)
        yield from measure_batches(busy, scale, BUSY)


def measure_shop(shop: Shop, scale: Scale, kind: Kind) -> Iterator[Figure]:
    """The running shop, with all its pipelines in one Java."""
    settings = shop.settings
    [java] = find_engines(shop.find_pid("pipelines"))
    before, made, began = measure_cpu(java), find_newest_batches(settings), time.monotonic()
    let_time_pass(scale.batch_seconds)
    seconds = time.monotonic() - began
    per_minute = {
        name: 60 * (newest - made[name]) / seconds
        for name, newest in find_newest_batches(settings).items()
    }
    cores = measure_cpu_since(before, java) / seconds
    aim = None if kind.cores_max is None else aim_at_most(kind.cores_max)
    shares = ", ".join(f"{name} {each:.0f}" for name, each in per_minute.items())
    note = (
        f"Java and its Python workers, all pipelines; batches a minute: {shares}. "
        f"{1000 * 60 * cores / sum(per_minute.values()):.0f} ms of CPU a batch."
    )
    yield Figure(f"{kind.name}, Spark", cores, "cores", aim, note=note)
    yield from measure_visibility(settings, scale, kind)
    short = replace(scale, warm_seconds=1)
    yield from measure_reads(f"{kind.name}, one shelf read", settings, short)
    yield Figure(
        f"{kind.name}, memory",
        sum(map(count_bytes, orphans.find(settings.data_dir))) / GB,
        "GB",
        aim_at_most(3),
    )


def measure_replay(shop: Shop) -> Figure:
    """A replay beside the running shop, until its difference is known."""
    began = time.monotonic()
    shop.run_retail("replay", "start", REPLAYED)
    seconds = time.monotonic() - began
    status = json.loads(shop.run_retail("replay", "status", REPLAYED, "--json"))
    read = max(generation["read"] for generation in status["generations"])
    shop.run_retail("replay", "prune", REPLAYED)
    return Figure(
        f"retail replay start {REPLAYED}, beside it",
        seconds,
        "s",
        aim_at_most(REPLAY_SECONDS_MAX),
        note=f"{read:,} records from offset zero, with its difference. Half an hour of the shop "
        "should take no more.",
    )


def measure_visibility(settings: Settings, scale: Scale, kind: Kind) -> Iterator[Figure]:
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
                compute_percentile_ms(seen, percent),
                "ms",
                None if aim is None else aim_at_most(aim),
                note=note if percent == 99 else "",
            )


def find_newest_batches(settings: Settings) -> dict[str, int]:
    """The number of the newest batch of each pipeline's first generation."""
    return {
        name: find_checkpoint(settings, name, 1).find_newest_begun()
        for name in settings.pipeline_names
    }
