"""What a pipeline costs for each batch, receipt and line, and for what it remembers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean
from typing import Any, NamedTuple

import psutil
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from contracts import RECEIPTS, Contract
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from infra.wait import repeat_in_thread, wait_until
from ops.bench.batch_cost import (
    find_last_batch,
    let_time_pass,
    measure_cpu,
    measure_cpu_since,
    sum_since,
)
from ops.bench.coefficients import PipelineCosts
from ops.bench.generations import catch_up, create, create_live_pace, load_with_yardstick_pace
from ops.bench.live_events import LIVE_MS, append
from ops.bench.receipts import LINES, Spread, create_receipt, publish
from ops.bench.scale import Scale
from ops.bench.soak import measure_size
from ops.bench.yardstick import SECONDS_PER_BATCH
from pipelines.engine.query import Run, start
from pipelines.engine.session import get_engine
from pipelines.engine.state_size import StateSize

APART_MS = 1
"""World time between two receipts: three million are within the hour before LIVE_MS."""
MANY = Spread(customers=99_991, cards=199_999)
"""Receipts come a millisecond apart: of fewer, everybody would buy a hundred times in minutes."""
WIDE = replace(MANY, stores=1_009, products=20_000)
"""Coprime numbers, so that nearly every line is of another shelf."""
LONG = replace(MANY, lines=3 * LINES)
SETTLE_SECONDS = 2.0
WARM_BATCHES, WARM_SECONDS_MAX = 12, 300.0
MILLION = 1e6
MB = 1e6


@dataclass(frozen=True)
class Moment:
    """How far a live query and the log are."""

    batch: int
    receipts: int
    cpu_seconds: Mapping[int, float]
    """Of Java and of Spark's Python workers, by process id."""
    log_bytes: int
    changelog_bytes: int


@dataclass(frozen=True)
class Window:
    """What a live query and the log took while receipts came at one rate."""

    receipts: float
    batches: int
    cpu_ms: float
    wall_ms: float
    """Mean time of a batch."""
    log_bytes: float
    changelog_bytes: float

    @property
    def batch_receipts(self) -> float:
        return self.receipts / self.batches

    @property
    def batch_cpu_ms(self) -> float:
        return self.cpu_ms / self.batches


class Windows(NamedTuple):
    """One live query under three rates."""

    few: Window
    """Almost all of its CPU is that of the batches themselves."""
    many: Window
    """The usual receipts, so many that they cost more than the batches."""
    long: Window
    """As many, of LONG receipts."""


@dataclass(frozen=True)
class Reading:
    """A generation that has read all there is."""

    work: Run
    cpu_seconds: float
    state_bytes: int
    changelog_bytes: int


@dataclass(frozen=True)
class Readings:
    """Generations of one pipeline, each over a longer log."""

    step: int
    """Receipts by which the log has grown each time: first of few shelves, twice, then of many."""
    shelves: int
    """Shelves that came last."""
    once: Reading
    twice: Reading
    wide: Reading


def measure_costs(
    spark: SparkSession, settings: Settings, scale: Scale
) -> Iterator[tuple[str, PipelineCosts, Windows]]:
    """The costs of each pipeline, on a log that this fills."""
    step, names = scale.sized, settings.pipeline_names
    spreads = (MANY, MANY, WIDE)
    read: dict[str, list[Reading]] = {name: [] for name in names}
    for number, spread in enumerate(spreads):
        publish(settings, number * step, (number + 1) * step, APART_MS, spread)
        for name in names:
            read[name].append(read_all(spark, settings, name))
    shelves = count_shelves(range(2 * step, 3 * step), WIDE)
    for name in names:
        readings = Readings(step, shelves, *read[name])
        windows = measure_windows(readings.wide.work, scale)
        yield name, fit_costs(readings, windows), windows


def count_shelves(numbers: range, spread: Spread) -> int:
    """The shelves that the receipts of these numbers take from."""
    events = (create_receipt(number, spread=spread) for number in numbers)
    return len({(event["store_id"], line["sku"]) for event in events for line in event["lines"]})


def read_all(spark: SparkSession, settings: Settings, name: str) -> Reading:
    """A new generation that has caught up."""
    pipeline = load_with_yardstick_pace(name)
    work = Run(spark.newSession(), settings, pipeline, create(settings, pipeline))
    java = psutil.Process(get_engine(spark).pid)
    before = measure_cpu(java)
    query = catch_up(work)
    seconds = measure_cpu_since(before, java)
    state = StateSize()
    state.measure(query)
    if state.size_bytes is None:
        raise ValueError(f"{name} should have read a batch, but Spark reports none")
    return Reading(work, seconds, state.size_bytes, measure_changelogs(work))


def measure_windows(work: Run, scale: Scale) -> Windows:
    """The live query of a generation that has caught up, under each rate.

    Each rate comes twice, there and back: Java compiles all the while, so what comes later costs
    less, and the two of each rate are equally old together.
    """
    catch_up(work)
    query = start(work, create_live_pace(work.pipeline))
    few, many = scale.batch_receipts
    rates = ((few, MANY), (many, MANY), (many, LONG))
    measured = partial(measure_window, work, query, scale.batch_seconds / 2)
    try:
        warm_up(work, query, many, scale.compile_seconds)
        there = [measured(*rate) for rate in rates]
        back = [measured(*rate) for rate in reversed(rates)]
        return Windows(*map(join_windows, there, reversed(back)))
    finally:
        query.stop()


def join_windows(one: Window, other: Window) -> Window:
    """Both as one window."""
    batches = one.batches + other.batches
    return Window(
        one.receipts + other.receipts,
        batches,
        one.cpu_ms + other.cpu_ms,
        (one.wall_ms * one.batches + other.wall_ms * other.batches) / batches,
        one.log_bytes + other.log_bytes,
        one.changelog_bytes + other.changelog_bytes,
    )


def warm_up(work: Run, query: StreamingQuery, receipts: int, seconds: float) -> None:
    """Let the query make batches for a while, some at least: Java compiles meanwhile."""
    with publish_beside(work.settings, receipts, LONG):
        wait_until(
            lambda: sum(one.numInputRows > 0 for one in query.recentProgress) >= WARM_BATCHES,
            f"{WARM_BATCHES} batches",
            WARM_SECONDS_MAX,
        )
        let_time_pass(seconds)


def measure_window(
    work: Run, query: StreamingQuery, seconds: float, receipts: int, spread: Spread
) -> Window:
    """So many seconds of the query, with so many receipts for each batch."""
    with publish_beside(work.settings, receipts, spread):
        let_time_pass(SETTLE_SECONDS)
        before = look(work, query)
        let_time_pass(seconds)
        after = look(work, query)
    walls = [
        one.durationMs["triggerExecution"]
        for one in query.recentProgress
        if before.batch < one.batchId <= after.batch
    ]
    return Window(
        after.receipts - before.receipts,
        len(walls),
        1000 * sum_since(before.cpu_seconds, after.cpu_seconds),
        mean(walls),
        after.log_bytes - before.log_bytes,
        after.changelog_bytes - before.changelog_bytes,
    )


def publish_beside(
    settings: Settings, receipts: int, spread: Spread
) -> AbstractContextManager[None]:
    """So many receipts for each batch, until the block ends."""
    make = partial(make_receipt, spread=spread)
    return repeat_in_thread(partial(append, settings, receipts, make), SECONDS_PER_BATCH)


def look(work: Run, query: StreamingQuery) -> Moment:
    return Moment(
        find_last_batch(query),
        count_receipts(work.settings),
        measure_cpu(psutil.Process(get_engine(work.spark).pid)),
        measure_topics(work.settings, RECEIPTS.name),
        measure_changelogs(work),
    )


def make_receipt(number: int, spread: Spread) -> tuple[Contract, dict[str, Any]]:
    event = create_receipt(number, spread=spread)
    return RECEIPTS, {**event, "event_id": f"live-{number}", "event_time": LIVE_MS}


def count_receipts(settings: Settings) -> int:
    return sum(read_end_offsets(create_admin(settings), [RECEIPTS.name]).values())


def measure_changelogs(work: Run) -> int:
    """Bytes of what the generation has written."""
    return sum(measure_topics(work.settings, topic) for topic in work.generation.outputs.values())


def measure_topics(settings: Settings, topic: str) -> int:
    """Bytes of the topic's records, in all partitions."""
    segments = settings.data_dir.glob(f"broker/**/{topic}-*/*.log")
    return sum(map(measure_size, segments))


def fit_costs(read: Readings, live: Windows) -> PipelineCosts:
    """The costs that explain what was measured; none of them below zero."""
    batch_ms, usual_ms = fit_line(
        [(each.batch_receipts, each.batch_cpu_ms) for each in (live.few, live.many)]
    )
    wall_ms, receipt_wall_ms = fit_line(
        [(each.batch_receipts, each.wall_ms) for each in (live.few, live.many)]
    )
    long_ms = (live.long.batch_cpu_ms - batch_ms) / live.long.batch_receipts
    line_ms = min(max(long_ms - usual_ms, 0) / (LONG.lines - LINES), usual_ms / LINES)
    ids_bytes = max(read.twice.state_bytes - read.once.state_bytes, 0) / read.step
    shelves_bytes = read.wide.state_bytes - read.twice.state_bytes - read.step * ids_bytes
    rows_bytes = read.wide.changelog_bytes - read.twice.changelog_bytes
    return PipelineCosts(
        caught_up_per_core=2 * read.step / read.twice.cpu_seconds,
        batch_ms=batch_ms,
        receipt_ms=usual_ms - LINES * line_ms,
        line_ms=line_ms,
        batch_wall_ms=wall_ms,
        receipt_wall_ms=receipt_wall_ms,
        ids_mb=ids_bytes * MILLION / MB,
        shelves_mb=max(shelves_bytes, 0) / read.shelves * MILLION / MB,
        changelog_mb=live.many.changelog_bytes / (LINES * live.many.receipts) * MILLION / MB,
        rows_mb=max(rows_bytes, 0) / read.shelves * MILLION / MB,
    )


def fit_line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Height at zero, not below it, and slope of the line through two points.

    Raises ValueError where it does not rise: more receipts cost more, so the points are noise.
    """
    (x, y), (further, higher) = points
    slope = (higher - y) / (further - x)
    if slope <= 0:
        raise ValueError(
            f"{further:.0f} receipts a batch should cost more than {x:.0f}, but cost "
            f"{higher:.1f} ms after {y:.1f}: too much else ran on the machine"
        )
    return max(y - slope * x, 0.0), slope


def fit_log_lines(live: Sequence[Windows]) -> float:
    """MB of a million lines in the log."""
    usual, long = (
        sum(one.log_bytes for one in windows) / sum(one.receipts for one in windows)
        for windows in ([each.many for each in live], [each.long for each in live])
    )
    return min(max(long - usual, 0) / (LONG.lines - LINES), usual / LINES) * MILLION / MB
