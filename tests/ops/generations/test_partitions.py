"""A generation begins with as many state partitions as suit its log and the cores."""

import os

import pytest

from infra.settings import Settings
from ops.generations.partitions import (
    RATE_PER_PARTITION,
    RECORDS_PER_PARTITION,
    choose_state_partitions,
    count_cores,
)
from pipelines.engine.session import SLOTS_MAX

CORES = 16


@pytest.mark.parametrize(
    ("records", "per_second", "cores", "partitions"),
    [
        (0, 0.0, CORES, 1),
        (RECORDS_PER_PARTITION, RATE_PER_PARTITION, CORES, 1),
        (RECORDS_PER_PARTITION + 1, 0.0, CORES, 2),
        (0, RATE_PER_PARTITION + 1, CORES, 2),
        (3 * RECORDS_PER_PARTITION, 5 * RATE_PER_PARTITION, CORES, 5),
        (99 * RECORDS_PER_PARTITION, 0.0, CORES, CORES),
        (99 * RECORDS_PER_PARTITION, 99 * RATE_PER_PARTITION, 1, 1),
    ],
)
def test_there_are_as_many_as_the_log_wants_and_no_more_than_cores(
    records: int, per_second: float, cores: int, partitions: int
) -> None:
    assert choose_state_partitions(records, per_second, cores) == partitions


@pytest.mark.parametrize(
    ("master", "cores"),
    [
        ("local", 1),
        ("local[1]", 1),
        ("local[4]", 4),
        ("local[64]", CORES),
        ("local[*]", CORES),
        ("local[3,2]", 3),
        ("spark://spark-master:7077", SLOTS_MAX),
    ],
)
def test_cores_are_those_of_this_machine_or_a_share_of_the_cluster(
    master: str, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(CORES)))
    assert count_cores(Settings(spark_master=master)) == cores
