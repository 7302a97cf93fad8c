"""Where the first batch of a candidate ends: at a marker of the promoted generation.

Whoever creates a candidate may ask for it, with what readers were served at that marker in hand.
What the candidate has then written after its first batch is its answer to the same part of the log,
and the difference needs no batch of its own.
"""

import json
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from pyspark.sql import SparkSession

from contracts.times import to_epoch_ms
from infra.folder import Folder
from infra.kafka import Offsets
from infra.lake import flatten_topics, group_by_topic
from ops.generations.record import get_wall_now
from pipelines.engine.archive import ZERO

ENDS = "first-batch.json"
"""A file in a generation's folder: the end offsets that were asked for, by topic and partition."""

STATE_PARTITIONS = "spark.sql.streaming.internal.stateStore.partitions"


def ask(folder: Path, ends: Offsets) -> None:
    """Ask the generation in this folder, which has not begun, for a first batch that ends here."""
    (folder / ENDS).write_text(json.dumps(group_by_topic(ends)))


def read_ends(folder: Path) -> Offsets:
    """The asked end of the first batch; empty: it may end anywhere."""
    file = folder / ENDS
    return flatten_topics(json.loads(file.read_text())) if file.exists() else ZERO


def begin(spark: SparkSession, checkpoint: Folder, ends: Offsets) -> None:
    """Begin batch 0 of the query that is about to start with this checkpoint and session.

    It reads every partition of the query's only source up to these offsets. Spark notes the end of
    a batch before it runs it, and a query begins with the batch that is noted and not finished.
    """
    java = spark._jvm
    assert java is not None, "a session that is in use has its Java"
    # A copy, as a query has one, in which the number of state partitions is an option of its own.
    session = spark._jsparkSession.cloneSession()
    session.conf().set(STATE_PARTITIONS, session.conf().get("spark.sql.shuffle.partitions"))
    streaming = java.org.apache.spark.sql.execution.streaming
    query, notes = streaming.runtime, streaming.checkpointing
    identity = java.org.apache.hadoop.fs.Path(str(checkpoint / "metadata"))
    hadoop = session.sessionState().newHadoopConf()
    if query.StreamMetadata.read(identity, hadoop).isEmpty():
        named = query.StreamMetadata(str(uuid5(NAMESPACE_URL, str(checkpoint))))
        query.StreamMetadata.write(named, identity, hadoop)
    sources = java.java.util.ArrayList()
    sources.add(query.SerializedOffset(json.dumps(group_by_topic(ends))))
    options = notes.OffsetSeqMetadata.apply(0, to_epoch_ms(get_wall_now()), session.conf())
    batch = notes.OffsetSeq.fill(
        java.scala.Option.apply(options.json()),
        java.org.apache.spark.api.python.PythonUtils.toSeq(sources),
    )
    notes.OffsetSeqLog(session, str(checkpoint / "offsets"), False).add(0, batch)
