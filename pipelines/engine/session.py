"""Spark, set up for many small exact batches on one machine or on a cluster."""

import os
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from contracts.schemas import NEWER_LOCK
from infra import java
from infra.jars import fetch_jars
from infra.settings import OTHERS, Settings
from pipelines.common.pipeline import Pipeline
from pipelines.engine import sink
from pipelines.engine.compiled import FUNCTIONS, ensure_class_jar
from pipelines.engine.process import share_cores
from pipelines.engine.tuning import options as tuning
from pipelines.engine.tuning.options import KNOWS_KEYS, choose_pieces

PARTITIONS = 2
"""Partitions of a shuffle, by default."""

KNOWN_PARTITIONS_MAX = 8
"""State partitions that keep filters of their ids: those of more would take too much heap."""

SLOTS_MAX = 4
"""Cores of a cluster for each driver: as many as in `local[4]`, so that other drivers get some too.
A generation with more state partitions gets as many."""
CORES_MAX = "spark.cores.max"
"""The option with the cores of a cluster."""

METHOD_BYTES_MAX = 8_000
"""Bytes of bytecode: the HugeMethodLimit of OpenJDK's HotSpot."""

INTERPRETED: Mapping[str, str] = MappingProxyType(
    {
        sink.WHOLE_STAGES: "false",
        sink.EXPRESSIONS: sink.INTERPRETED,
        "spark.sql.constraintPropagation.enabled": "false",
        KNOWS_KEYS: "false",
    }
)

GENERATED: Mapping[str, str] = MappingProxyType(
    {
        sink.WHOLE_STAGES: "true",
        sink.EXPRESSIONS: sink.GENERATED,
        "spark.sql.constraintPropagation.enabled": "true",
        KNOWS_KEYS: "true",
    }
)


HASHED_GROUPS = "spark.sql.objectHashAggregate.sortBased.fallbackThreshold"
"""The option with the groups up to which Spark hashes; of more it sorts the rows."""
GROUPS_MAX = 10_000
"""Groups of a batch whose lists and slots, a kilobyte each, are kept in a hash table. More are
sorted."""

YOUNG_MIB = 384
"""The young part of the heap, for the garbage of batches. Java fills it before it collects any."""
INITIAL_SHARE = 4 / 3
"""The heap at the start, in young parts. By default it is a 64th of the machine's memory."""

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

LAST_JARS = "SPARK_DIST_CLASSPATH"
"""The variable with jars that Spark's launcher puts behind all others."""

NONE: Mapping[str, str] = MappingProxyType({})

SECURED: Mapping[str, str] = MappingProxyType(
    {
        # Whoever connects to the driver proves that it knows a secret, which Spark draws at each
        # start and keeps in memory, as one process needs it alone.
        "spark.authenticate": "true",
        "spark.network.crypto.enabled": "true",
        # Hadoop sets modes itself, whatever the process's are.
        "spark.hadoop.fs.permissions.umask-mode": f"{OTHERS:03o}",
    }
)
"""The options of a secure shop, whose Spark is on one machine."""


def start_session(
    settings: Settings,
    name: str,
    jars: Sequence[Path] = (),
    more: Mapping[str, str] = NONE,
    young_mib: int = YOUNG_MIB,
) -> SparkSession:
    """The Spark session of this process, started at the first call.

    It has `jars` and `more` options in addition to those of every session. Java is in a session of
    processes of its own, which has the niceness of this process, and a heap with this young part.
    """
    if settings.spark_master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        # Spark's default is the first python3 of the PATH, which lacks our packages.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    java.use()
    shutil.rmtree(locate_scratch(settings, name), ignore_errors=True)  # of a killed process
    conf = SparkConf().setMaster(settings.spark_master).setAppName(name)
    conf.setAll([*{**build_options(settings, name, jars, young_mib), **more}.items()])
    if SparkContext._gateway is None:
        # At the end of the class path, and so with the cache of a Java that has no such jars.
        os.environ[LAST_JARS] = os.pathsep.join(map(str, jars))
        gateway = launch_gateway(conf, {"start_new_session": True})  # type: ignore[no-untyped-call]
        share_cores(gateway.proc.pid)
        tuning.create_context(choose_pieces(settings), conf, gateway)
    spark = SparkSession.builder.config(conf=conf).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    tuning.forget_defaults(spark, settings, choose_pieces(settings))
    return spark


def get_engine(spark: SparkSession) -> "subprocess.Popen[bytes]":
    """The Java process in which Spark's driver runs."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None, "a session that this process has started has a gateway"
    process: subprocess.Popen[bytes] = gateway.proc
    return process


def prepare_session(spark: SparkSession, live: bool, partitions: int = PARTITIONS) -> None:
    """Prepare the session for a query with small batches, or with large ones.

    `partitions`: of its state, unless its checkpoint has another number.

    A small batch ends before generated code pays off, or all that the optimizer looks for, so Spark
    interprets its expressions (`suit_plan` decides batch by batch). For a large one Spark generates
    code in parts: Java compiles no method of more than METHOD_BYTES_MAX, and one method that reads
    and validates all topics is longer.
    """
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    for option, value in (INTERPRETED if live else GENERATED).items():
        spark.conf.set(option, value)
    if partitions > KNOWN_PARTITIONS_MAX:
        spark.conf.set(KNOWS_KEYS, "false")


def locate_scratch(settings: Settings, name: str) -> Path:
    """The folder of files that Spark needs only while it runs."""
    return settings.data_dir / "spark" / name


def build_options(
    settings: Settings, name: str, jars: Sequence[Path] = (), young_mib: int = YOUNG_MIB
) -> dict[str, str]:
    ours, pieces = [*fetch_jars("spark"), ensure_class_jar(settings)], choose_pieces(settings)
    return {
        **(
            {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
            if settings.spark_master.startswith("local")
            else build_remote_options([*ours, *jars], tuning.build_java_options(pieces))
        ),
        "spark.driver.extraClassPath": os.pathsep.join(map(str, ours)),
        "spark.driver.memory": settings.spark_driver_memory,
        "spark.driver.extraJavaOptions": shlex.join(
            [
                f"-Xms{limit_initial_mib(settings.spark_driver_memory, young_mib)}m",
                *build_java_options(young_mib),
                *tuning.build_java_options(pieces),
            ]
        ),
        "spark.local.dir": str(locate_scratch(settings, name) / "local"),
        "spark.sql.warehouse.dir": str(locate_scratch(settings, name) / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **(SECURED if settings.secure else NONE),
        "spark.sql.extensions": ",".join([*tuning.list_extensions(pieces), FUNCTIONS]),
        # Spark's history for its web page, which is off: by default a thousand batches.
        "spark.sql.ui.retainedExecutions": "10",
        "spark.ui.retainedJobs": "100",
        "spark.ui.retainedStages": "100",
        "spark.ui.retainedTasks": "1000",
        "spark.sql.ui.explainMode": "simple",
        # Each sum and each side of a batch takes a page, by default of 8 MiB, for twenty rows.
        "spark.buffer.pageSize": "256k",
        # Each broadcast takes a block, by default of 4 MiB, for a task or a few options.
        "spark.broadcast.blockSize": "256k",
        # Lists of signals and sums of slots are sorted from 128 groups on by default.
        HASHED_GROUPS: str(GROUPS_MAX),
        # A shuffle stays within the machine, and has a few rows.
        "spark.shuffle.compress": "false",
        "spark.shuffle.checksum.enabled": "false",
        "spark.broadcast.compress": "false",
        "spark.broadcast.checksum": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.ansi.enabled": "true",
        # To record the line of code of each column takes longer than to make the column.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.sql.dataFrameQueryContext.enabled": "false",
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        # Batches are small: adaptive planning costs more than it saves.
        "spark.sql.adaptive.enabled": "false",
        # The next batch uses the compiled code of this one. Several pipelines need more than
        # Spark's 100 entries; with fewer they would compile everything again and again.
        "spark.sql.codegen.cache.maxEntries": "2000",
        "spark.sql.codegen.hugeMethodLimit": str(METHOD_BYTES_MAX),
        "spark.scheduler.mode": "FAIR",  # a large batch of one pipeline does not block a small one
        "spark.speculation": "false",  # a second copy of a task would be a second writer
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
        # A consumer for each partition of every pipeline stays open between batches. Those of an
        # ended query are closed soon, with the records that they hold.
        "spark.kafka.consumer.cache.capacity": "512",
        "spark.kafka.consumer.cache.timeout": "60s",
        "spark.kafka.consumer.cache.evictorThreadRunInterval": "10s",
        "spark.kafka.consumer.fetchedData.cache.timeout": "60s",
        "spark.kafka.consumer.fetchedData.cache.evictorThreadRunInterval": "10s",
        # Ids expire with the next batch that has data; an extra batch would delay that one.
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.streaming.minBatchesToRetain": "20",
        **tuning.build_options(settings, pieces),
    }


def build_remote_options(jars: Sequence[Path], java_options: Sequence[str]) -> dict[str, str]:
    """The options of executors on other machines, with the same jars, Python and data folder."""
    passed_on = {name: os.environ.get(name, "") for name in ("PYTHONPATH", NEWER_LOCK)}
    return {
        "spark.executor.extraClassPath": os.pathsep.join(map(str, jars)),
        "spark.executor.extraJavaOptions": shlex.join([*build_java_options(), *java_options]),
        CORES_MAX: str(SLOTS_MAX),
        # One process: two would both have to start, and exchange the shuffles of small batches.
        "spark.executor.cores": str(SLOTS_MAX),
        # A batch waits for a lost executor until this time is over.
        "spark.network.timeout": "60s",
        **{f"spark.executorEnv.{name}": value for name, value in passed_on.items()},
    }


def limit_initial_mib(memory: str, young_mib: int) -> int:
    """The heap at the start, in MiB, where the largest heap is `memory`, such as 2g or 700m."""
    return min(
        round(young_mib * INITIAL_SHARE), int(memory[:-1]) * (1024 if memory[-1] == "g" else 1)
    )


def build_java_options(young_mib: int = YOUNG_MIB) -> list[str]:
    log4j = Path(__file__).with_name("log4j2.properties").as_uri()
    return [
        "-XX:+UseSerialGC",
        f"-Xmn{young_mib}m",
        "-Duser.timezone=UTC",
        f"-Dlog4j2.configurationFile={log4j}",
    ]


POOL = "spark.scheduler.pool"
"""The thread property that names the pool of the thread's jobs."""
POOLS_FILE = "spark.scheduler.allocation.file"
"""The option that names the file with the pools."""


def write_pools(file: Path, pipelines: Iterable[Pipeline]) -> dict[str, str]:
    """Write a pool for each pipeline, with its weight; returns the option that Spark needs."""
    root = ET.Element("allocations")
    for pipeline in pipelines:
        pool = ET.SubElement(root, "pool", name=pipeline.name)
        ET.SubElement(pool, "schedulingMode").text = "FIFO"
        ET.SubElement(pool, "weight").text = str(pipeline.weight)
    file.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(root).write(file)
    return {POOLS_FILE: str(file)}
