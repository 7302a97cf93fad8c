"""Other systems at one job on one log: units sold by shelf, each receipt once.

Each answer is compared with the oracle's. The inventory pipeline does more than the job: four
topics, checks, accounting.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from contracts import RECEIPTS, STOCK_LEVELS, Row, build_avro_schema, decode
from infra.environment import FLINK
from infra.jars import fetch_jars
from infra.kafka import apply_topics, create_admin, read_end_offsets, read_to_end
from infra.processes import capture
from infra.settings import Settings
from infra.supervisor.orphans import HOME_VARIABLE
from ops.bench.figures import Figure, aim_at_most
from ops.bench.kafka_streams import THREADS, run_kafka_streams
from ops.bench.receipts import publish
from ops.bench.replay import open_replays
from ops.bench.shops import count_receipts, run_broker
from ops.verify.inventory import Oracle
from ops.verify.log import read

COUNTED = 1_000_000
"""Receipts in the log that each system counts, copies apart: whole chunks of ten thousand."""

FLINK_SECONDS_MAX = 1_800.0
"""Of both jobs: a million records took 42 seconds."""
FLINK_PROGRAM = Path(__file__).parent / "flink" / "units_sold.py"
FLINK_OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "parallelism.default": str(THREADS),
        "state.backend.type": "rocksdb",
        "execution.checkpointing.interval": "1 s",
        "execution.checkpointing.incremental": "true",
        "restart-strategy.type": "disable",
        # Without these it would send every sum for every line.
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "500 ms",
        "table.exec.mini-batch.size": "20000",
    }
)
"""The options that differ from Flink's defaults; what it promises is exactly once by default."""

Units = dict[tuple[str, str], int]
"""Units sold by shelf: store_id and sku."""


def measure(settings: Settings, share: float) -> Iterator[Figure]:
    own = settings.model_copy(update={"data_dir": settings.data_dir / "systems"})
    with run_broker(own):
        publish(own, round(share * COUNTED))
        records, oracle = count_receipts(own), ask_oracle(own)
        for system, (run, how) in SYSTEMS.items():
            seconds, answer = run(own)
            yield Figure(system, records / seconds, "records/s", note=how)
            wrong = count_wrong(answer, oracle)
            yield Figure(f"{system}: wrong", wrong, "shelves", aim_at_most(0))


def ask_oracle(settings: Settings) -> Units:
    """The units sold by all receipts in the log."""
    ends = read_end_offsets(create_admin(settings), [RECEIPTS.name])
    return dict(map(parse_row, Oracle(read(settings, ends), ends).compute_view()))


def parse_row(row: Row) -> tuple[tuple[str, str], int]:
    """The shelf and the units that it sold, from a row of the stock view."""
    return (row["store_id"], row["sku"]), row["units_sold"]


def count_wrong(answer: Units, oracle: Units) -> int:
    """The shelves on which the answer differs from the oracle's."""
    return sum(answer.get(shelf) != oracle.get(shelf) for shelf in answer.keys() | oracle.keys())


def run_inventory(settings: Settings) -> tuple[float, Units]:
    with open_replays(settings) as again:
        again.replay()  # discarded: Java has compiled nothing yet
        seconds, generation = again.replay()
        rows = read_to_end(settings, generation.outputs[STOCK_LEVELS.name]).values()
    return seconds, dict(parse_row(decode(row).value) for row in rows)


def run_streams(settings: Settings) -> tuple[float, Units]:
    with run_kafka_streams(settings) as streams:
        streams.replay()  # discarded
        seconds, application = streams.replay()
        return seconds, streams.read_answer(application)


def run_flink(settings: Settings) -> tuple[float, Units]:
    """A process in Flink's own environment, with the heap of the pipelines' Java, does two jobs:
    the second finds it warm.
    """
    others = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {
        **others,
        HOME_VARIABLE: str(settings.data_dir),
        "FLINK_LOG_DIR": str(settings.data_dir),
        "JVM_ARGS": f"-Xmx{settings.spark_driver_memory}",
    }
    names = "bench-flink-warm", "bench-flink"
    apply_topics(settings, dict.fromkeys(names, STOCK_LEVELS))
    jobs = [render_job(settings, name) for name in names]
    command = [str(FLINK.ensure_python()), str(FLINK_PROGRAM), *jobs]
    done = capture(command, FLINK_SECONDS_MAX, settings.data_dir, environment)
    if done.returncode != 0:
        raise RuntimeError(f"Flink should have done its jobs, but failed:\n{done.stderr}")
    seconds = float(done.stdout.split()[-1]) / 1_000
    rows = map(json.loads, read_to_end(settings, "bench-flink").values())
    return seconds, {(row["store_id"], row["sku"]): row["units"] for row in rows}


def render_job(settings: Settings, name: str) -> str:
    """A job as JSON, as the program is given it. It answers in the topic of its name."""
    checkpoints = settings.data_dir / "flink" / name
    return json.dumps(
        {
            "name": name,
            "servers": settings.bootstrap_servers,
            "topic": RECEIPTS.name,
            "schema": build_avro_schema(RECEIPTS),
            "jars": ";".join(jar.as_uri() for jar in fetch_jars("flink")),
            "options": {**FLINK_OPTIONS, "execution.checkpointing.dir": checkpoints.as_uri()},
        }
    )


SYSTEMS: Mapping[str, tuple[Callable[[Settings], tuple[float, Units]], str]] = MappingProxyType(
    {
        "Spark": (
            run_inventory,
            "A replay by the inventory pipeline, warm. Beside the sums by shelf it validates, "
            "accounts for each record, and keeps stock, not only units sold.",
        ),
        "Kafka Streams": (
            run_streams,
            f"A Java program, exactly_once_v2, {THREADS} threads, warm; sums and ids in RocksDB "
            "and its changelogs. It reads receipts alone, and checks none.",
        ),
        "Flink": (
            run_flink,
            f"SQL in PyFlink, {THREADS} slots, warm; a Python function reads a receipt, all else "
            "is Java's. Ids and sums in RocksDB, a checkpoint each second. From the job's start "
            "to its end. It reads receipts alone, and checks none.",
        ),
    }
)
"""How each system does the job, in seconds and with its answer; and what was measured."""
