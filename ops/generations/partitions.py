"""How many partitions the state of a generation has: so many tasks are a batch, on as many cores.

Spark fixes the number with a checkpoint's first batch. So a generation has it for good, in its
record, and one with another number is a replay.
"""

import math
import os
import re
import time
from threading import Event

from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from pipelines.common.pipeline import Pipeline
from pipelines.engine.session import SLOTS_MAX

RECORDS_PER_PARTITION = 500_000
"""Records of the log for a task: the costliest pipeline reads them in two minutes."""

RATE_PER_PARTITION = 500
"""Records a second for a task: with some more the costliest pipeline fills a core, live."""

RATE_SECONDS = 1.0
"""How long it looks how fast the log grows."""


def find_state_partitions(settings: Settings, pipeline: Pipeline, is_growing: bool) -> int:
    """The number for a generation that begins now, by the log and, if it is growing, its rate."""
    client, topics = create_admin(settings), [topic.name for topic in pipeline.inputs]
    began, before = time.monotonic(), sum(read_end_offsets(client, topics).values())
    if not is_growing:
        return choose_state_partitions(before, 0.0, count_cores(settings))
    Event().wait(RATE_SECONDS)
    records = sum(read_end_offsets(client, topics).values())
    rate = (records - before) / (time.monotonic() - began)
    return choose_state_partitions(records, rate, count_cores(settings))


def choose_state_partitions(records: int, per_second: float, cores: int) -> int:
    """The number for a log of so many records, which grows by so many a second.

    A partition more costs each live batch two tasks more, so there is one until it is worth that.
    """
    wanted = max(records / RECORDS_PER_PARTITION, per_second / RATE_PER_PARTITION)
    return max(1, min(math.ceil(wanted), cores))


def count_cores(settings: Settings) -> int:
    """The cores that a Spark of the pipelines can have: on this machine, or of a cluster."""
    slots = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", settings.spark_master)
    if slots is None:
        return SLOTS_MAX
    here = len(os.sched_getaffinity(0))
    return here if slots[1] == "*" else min(int(slots[1] or 1), here)
