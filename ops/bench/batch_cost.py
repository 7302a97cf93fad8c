"""The cost of a batch of a streaming query: CPU, planning, compilation, garbage collection."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from typing import Any

import psutil
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.wait import wait_until
from ops.bench.scale import Scale
from pipelines.engine.session import get_engine

FIRST_BATCH_SECONDS_MAX = 300

Start = Callable[[SparkSession], StreamingQuery]
"""Starts a query in a session of its own."""

OPTIMIZATION, PLANNING = "optimization", "planning"
"""Phases of a plan, by Spark's names."""


@dataclass(frozen=True)
class Cost:
    """The mean cost of a batch."""

    cpu_seconds: float
    """CPU of Java and of Spark's Python workers."""
    wall_ms: float
    planning_ms: float
    """Wall time in which Spark plans the batch."""
    optimizing_ms: float
    """The optimizer's part of the planning."""
    compiling_ms: float
    """Wall time in which Java compiles generated source."""
    source_chars: int
    """The length of the source that Spark generates for the query's plan."""
    jit_ms: float
    """Wall time of Java's threads that compile its bytecode: they take less CPU than that."""
    collecting: float
    """The share of Java's CPU that garbage collection took."""
    batches: int
    seconds: float
    """The time in which the batches were made."""

    def __str__(self) -> str:
        return (
            f"{1000 * self.cpu_seconds:.0f} ms of CPU, {self.wall_ms:.0f} by the clock, "
            f"{self.planning_ms:.0f} of them planning ({self.optimizing_ms:.0f} the optimizer), "
            f"{self.compiling_ms:.1f} compiling; Java's own compilers took {self.jit_ms:.0f} ms, "
            f"{100 * self.collecting:.0f} % of the CPU collected garbage; "
            f"{60 * self.batches / self.seconds:.0f} batches a minute, "
            f"{self.cpu_seconds * self.batches / self.seconds:.2f} cores; "
            f"{self.source_chars:,} characters of generated source."
        )


def end_session(spark: SparkSession) -> None:
    """End the session and its Java, so that the next session starts a Java of its own."""
    java = get_engine(spark)
    spark.stop()
    java.kill()
    java.wait()
    SparkContext._gateway = SparkContext._jvm = None


def start_warm(spark: SparkSession, started: Start, seconds: float) -> StreamingQuery:
    """Start the query, and have it make batches for so long, while Java compiles its code."""
    query = started(spark.newSession())
    wait_until(lambda: find_last_batch(query) >= 0, "a first batch", FIRST_BATCH_SECONDS_MAX)
    let_time_pass(seconds)
    return query


def measure_cost(spark: SparkSession, started: Start, scale: Scale, warm_seconds: float) -> Cost:
    """The cost of a batch of the query, once it has made batches for `warm_seconds`."""
    query = start_warm(spark, started, warm_seconds)
    java = psutil.Process(get_engine(spark).pid)
    before, first, began = measure_cpu(java), find_last_batch(query), time.monotonic()
    collected, compiled = read_gc_seconds(spark), read_compile_seconds(spark)
    compiled_bytecode = read_jit_seconds(spark)
    let_time_pass(scale.batch_seconds)
    seconds = time.monotonic() - began
    spent, done = measure_cpu_since(before, java), max(find_last_batch(query) - first, 1)
    took = [one.durationMs for one in query.recentProgress if "queryPlanning" in one.durationMs]
    measured = Cost(
        spent / done,
        wall_ms=median(one["triggerExecution"] for one in took),
        planning_ms=median(one["queryPlanning"] for one in took),
        optimizing_ms=read_optimizer_ms(query),
        compiling_ms=1000 * (read_compile_seconds(spark) - compiled) / done,
        source_chars=measure_source_chars(spark, query),
        jit_ms=1000 * (read_jit_seconds(spark) - compiled_bytecode) / done,
        collecting=(read_gc_seconds(spark) - collected) / spent,
        batches=done,
        seconds=seconds,
    )
    query.stop()
    return measured


def read_compile_seconds(spark: SparkSession) -> float:
    """Seconds for which Spark has compiled generated source so far."""
    catalyst = get_java(spark).org.apache.spark.sql.catalyst
    nanoseconds: int = catalyst.expressions.codegen.CodeGenerator.compileTime()
    return nanoseconds / 1e9


def read_optimizer_ms(query: StreamingQuery) -> float:
    """Milliseconds that the optimizer took for a planned batch."""
    phases = await_planned(query).tracker().phases()
    milliseconds: int = phases.apply(OPTIMIZATION).durationMs()
    return float(milliseconds)


def measure_source_chars(spark: SparkSession, query: StreamingQuery) -> int:
    """The length of the source that Spark has generated for the query's plan."""
    debug = get_java(spark).org.apache.spark.sql.execution.debug.package
    source: str = debug.codegenString(await_planned(query).executedPlan())
    return len(source)


def await_planned(query: StreamingQuery) -> Any:
    """Java's object for a batch of the query that has been planned."""
    progress: list[Any] = []

    def is_planned() -> bool:
        last = query._jsq.streamingQuery().lastExecution()
        progress.append(last)
        return bool(last.tracker().phases().contains(PLANNING))

    wait_until(is_planned, "a batch is planned")
    return progress[-1]


def get_java(spark: SparkSession) -> Any:
    """Py4J's view of the session's Java."""
    assert spark.sparkContext._jvm is not None, "a session of this process has a Java"
    return spark.sparkContext._jvm


def read_gc_seconds(spark: SparkSession) -> float:
    """Seconds for which Java has collected garbage so far, on one thread."""
    collectors = get_java(spark).java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
    spent_ms: float = sum(one.getCollectionTime() for one in collectors)
    return spent_ms / 1000


def read_jit_seconds(spark: SparkSession) -> float:
    """Seconds for which Java has compiled bytecode so far, summed over its compiling threads."""
    compilers = get_java(spark).java.lang.management.ManagementFactory.getCompilationMXBean()
    spent_ms: float = compilers.getTotalCompilationTime()
    return spent_ms / 1000


def find_last_batch(query: StreamingQuery) -> int:
    """The number of the last finished batch; -1 before the first."""
    if (failed := query.exception()) is not None:
        raise failed
    last = query.lastProgress
    return -1 if last is None else last.batchId


def measure_cpu(java: psutil.Process) -> dict[int, float]:
    """CPU seconds of the process and its Python workers so far, by process id."""
    seconds: dict[int, float] = {}
    for one in [java, *java.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # a worker that was idle for a minute ends
            times = one.cpu_times()
            seconds[one.pid] = times.user + times.system
    return seconds


def measure_cpu_since(before: Mapping[int, float], java: psutil.Process) -> float:
    """CPU seconds since then, of the processes that are still there."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in measure_cpu(java).items())


def let_time_pass(seconds: float) -> None:
    """Wait while the batches that are measured run."""
    until = time.monotonic() + seconds
    wait_until(lambda: time.monotonic() >= until, "time passes", seconds + 30)
