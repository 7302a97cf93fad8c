"""The cost of open pages: reads and CPU of the default shop, without browsers and with three."""

import asyncio
import re
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import psutil

from infra.processes import find_engines
from infra.settings import Settings
from ops.bench.arrivals import Sample, compute_percentile_ms, describe_failures
from ops.bench.batch_cost import let_time_pass, measure_cpu, measure_cpu_since
from ops.bench.browsers import open_browsers
from ops.bench.figures import Figure, Yardstick, aim_at_most
from ops.bench.reads import read
from ops.bench.scale import Scale
from ops.bench.shops import Shop, run_shop

PAGES = ("/", "/stock", "/alerts")
READ_MS_MAX = 25
READS_PERCENT_MAX = 125
"""Aim for reads, in percent of those without browsers."""
CORES_MAX = 0.1
"""Aim for the CPU of all open pages together."""
ANSWERED = re.compile(r"^retail_http_requests_total\{.*\} (\S+)$", re.MULTILINE)
ANSWER_SECONDS_MAX = 10.0
REQUESTS_PER_SECOND_MIN = 1.0
"""The least rate of open pages: each asks for several things every few seconds."""


@dataclass(frozen=True)
class Load:
    """The figures of the shop: first with requests of the browsers alone, then with timed reads."""

    api_cores: float
    spark_cores: float
    browsers_cores: float
    requests_per_second: float
    """Requests that the API answers while no read is timed."""
    reads: Sequence[Sample]

    @property
    def shop_cores(self) -> float:
        return self.api_cores + self.spark_cores


def measure(settings: Settings, scale: Scale) -> Iterator[Figure]:
    own = settings.model_copy(update={"data_dir": settings.data_dir / "pages"})
    with run_shop(own) as shop:
        let_time_pass(scale.age_seconds)
        before = observe(shop, scale)
        with open_browsers(f"{own.api_url}{page}" for page in PAGES) as browsers:
            let_time_pass(scale.batch_seconds)  # they start, and load their pages
            beside = observe(shop, scale, browsers)
        after = observe(shop, scale)
    refuse_silence(beside)
    yield from compare(before, beside, after)


def observe(shop: Shop, scale: Scale, browsers: Sequence[psutil.Process] = ()) -> Load:
    """The CPU of the shop without other clients, then the time of reads."""
    [java] = find_engines(shop.find_pid("pipelines"))
    groups = [[psutil.Process(shop.find_pid("api"))], [java], browsers]
    before = [[measure_cpu(process) for process in group] for group in groups]
    answered, began = count_answers(shop.settings), time.monotonic()
    let_time_pass(scale.batch_seconds)
    seconds = time.monotonic() - began
    requests = count_answers(shop.settings) - answered
    api, spark, of_browsers = (
        sum(measure_cpu_since(*each) for each in zip(spent, group, strict=True)) / seconds
        for spent, group in zip(before, groups, strict=True)
    )
    reads, _, _ = asyncio.run(read(shop.settings, replace(scale, warm_seconds=1)))
    return Load(api, spark, of_browsers, requests / seconds, reads)


def count_answers(settings: Settings) -> float:
    """Requests that the API has answered so far."""
    address = f"{settings.api_url}/metrics"
    with urllib.request.urlopen(address, timeout=ANSWER_SECONDS_MAX) as answer:
        return sum(map(float, ANSWERED.findall(answer.read().decode())))


def refuse_silence(beside: Load) -> None:
    """Raise AssertionError where the browsers have asked for nothing."""
    if beside.requests_per_second < REQUESTS_PER_SECOND_MIN:
        raise AssertionError(
            f"{len(PAGES)} open pages should ask at least {REQUESTS_PER_SECOND_MIN:g} times a "
            f"second, but the API answered {beside.requests_per_second:.2f} requests a second."
        )


def compare(before: Load, beside: Load, after: Load) -> Iterator[Figure]:
    """The shop with browsers, beside the mean of the same shop before and after them."""
    for percent, aim in ((50, None), (99, aim_at_most(READ_MS_MAX))):
        one, other = (compute_percentile_ms(load.reads, percent) for load in (before, after))
        yield Figure(
            f"with three browsers, one shelf read, p{percent}",
            compute_percentile_ms(beside.reads, percent),
            "ms",
            aim,
            Yardstick("without browsers", (one + other) / 2, aim_at_most(READS_PERCENT_MAX)),
            f"{len(beside.reads):,} reads; without browsers {one:.1f} ms before and {other:.1f} "
            f"after.{describe_failures(beside.reads)}",
        )
    pages = f"Shop, Stock and Alerts, {beside.requests_per_second:.1f} requests/s"
    yield compare_cores("API", pages, [load.api_cores for load in (before, beside, after)])
    yield compare_cores("Spark", pages, [load.spark_cores for load in (before, beside, after)])
    yield Figure(
        "API and Spark, for three browsers",
        beside.shop_cores - (before.shop_cores + after.shop_cores) / 2,
        "cores",
        aim_at_most(CORES_MAX),
        note="What they spend more than without browsers.",
    )
    yield Figure(
        "three browsers themselves",
        beside.browsers_cores,
        "cores",
        note="Headless Chromium, which draws without a graphics card.",
    )


def compare_cores(what: str, pages: str, cores: Sequence[float]) -> Figure:
    before, beside, after = cores
    return Figure(
        f"with three browsers, {what}",
        beside,
        "cores",
        yardstick=Yardstick("without browsers", (before + after) / 2),
        note=f"{pages}, and nobody else asks; without browsers {before:.3f} cores before and "
        f"{after:.3f} after.",
    )
