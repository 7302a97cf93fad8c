"""Which pieces of tuning are on, and the options and the context with which a session has them."""

from collections.abc import Set
from enum import StrEnum

from py4j.java_gateway import JavaGateway, JavaObject  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from infra.errors import UserError
from infra.folder import Folder
from infra.settings import Settings
from pipelines.engine.tuning import heap
from pipelines.engine.tuning.python_workers import DAEMON

STATE_STORE = "retail.state.AmortizedEviction"
"""The state store of every query."""
LEAN_PLAN = "retail.plan.LeanPlan"
"""The rules that Spark applies to every batch's plan."""
BATCHES_PER_WALK = "spark.sql.streaming.stateStore.batchesPerWalk"
"""The option with the number of batches from one search for expired state to the next."""
KNOWS_KEYS = "spark.sql.streaming.stateStore.knowsKeys"
"""The option whether a state keeps a filter of its ids in memory, of 16 MiB each."""

HADOOP = "spark.hadoop."
"""The prefix of the options that Spark passes on to Hadoop's file systems."""


class Piece(StrEnum):
    """A piece by its name in SPARK_TUNING. README.md says what each one replaces."""

    CONTEXT = "context"
    DAEMON = "daemon"
    FILES = "files"
    HEAP = "heap"
    OPTIMIZER = "optimizer"
    PLAN = "plan"
    STATE = "state"


def choose_pieces(settings: Settings) -> frozenset[Piece]:
    """The pieces that are on. Raises UserError for a name that is none."""
    if settings.spark_tuning in ("on", "off"):
        return frozenset(Piece if settings.spark_tuning == "on" else ())
    named = settings.spark_tuning.split(",")
    if unknown := [name for name in named if name not in set(Piece)]:
        raise UserError(
            f"SPARK_TUNING should be on, off, or some of {', '.join(Piece)}, but names "
            f"{', '.join(unknown)}. The pieces are told in pipelines/engine/tuning/README.md"
        )
    return frozenset(map(Piece, named))


class LeanContext(SparkContext):
    """Spark's context, in Java of the project's class of that name."""

    def _initialize_context(self, jconf: JavaObject) -> JavaObject:
        jvm = self._jvm
        assert jvm is not None
        return jvm.JavaSparkContext(jvm.retail.context.LeanContext(jconf))


def build_options(settings: Settings, pieces: Set[Piece]) -> dict[str, str]:
    """Spark's options for these pieces."""
    options = {}
    if Piece.FILES in pieces:
        # Spark's own local writes fork a shell command per file: 308 processes a second.
        options["spark.hadoop.fs.file.impl"] = (
            "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem"
        )
        if Folder.of(settings.store_url or "").on_disk:
            options["spark.sql.streaming.checkpointFileManagerClass"] = (
                "org.apache.spark.sql.execution.streaming.checkpointing"
                ".FileSystemBasedCheckpointFileManager"
            )
    if Piece.DAEMON in pieces:
        options["spark.python.daemon.module"] = DAEMON
    if Piece.STATE in pieces:
        options |= {
            "spark.sql.streaming.stateStore.providerClass": STATE_STORE,
            BATCHES_PER_WALK: "64",
            KNOWS_KEYS: "false",
        }
    return options


def list_extensions(pieces: Set[Piece]) -> list[str]:
    """The classes that extend a session."""
    return [LEAN_PLAN] if Piece.PLAN in pieces else []


def build_java_options(pieces: Set[Piece]) -> list[str]:
    """Java's options for these pieces."""
    return [*heap.OPTIONS] if Piece.HEAP in pieces else []


def create_heap(
    spark: SparkSession, settings: Settings, old_mib_min: int = heap.OLD_MIB_MIN
) -> heap.Heap | None:
    """What keeps the session's heap small, from this many MiB on; None where the piece is off."""
    return heap.Heap(spark, old_mib_min) if Piece.HEAP in choose_pieces(settings) else None


def create_context(pieces: Set[Piece], conf: SparkConf, gateway: JavaGateway) -> None:
    """Create the process's context in the Java of this gateway."""
    (LeanContext if Piece.CONTEXT in pieces else SparkContext)(conf=conf, gateway=gateway)


def forget_defaults(spark: SparkSession, settings: Settings, pieces: Set[Piece]) -> None:
    """Drop Hadoop's eleven hundred defaults, except the options that are set here.

    Each stateful operator sends them to its tasks with each batch, which is a tenth of the batch's
    cost. Nothing needs them for files on a disk.
    """
    if Piece.CONTEXT not in pieces or not Folder.of(settings.store_url or "").on_disk:
        return
    context = spark.sparkContext
    asked = [name for name, _ in context.getConf().getAll() if name.startswith(HADOOP)]
    hadoop = context._jsc.hadoopConfiguration()
    kept = {name: hadoop.get(name) for name in (option.removeprefix(HADOOP) for option in asked)}
    hadoop.clear()
    for name, value in kept.items():
        hadoop.set(name, value)
