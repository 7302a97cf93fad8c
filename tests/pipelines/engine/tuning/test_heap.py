"""The old part of Java's heap is collected once it has grown, and not before."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipelines.engine.session import YOUNG_MIB
from pipelines.engine.tuning.heap import MIB, OLD_MIB_MIN, Heap

pytestmark = [pytest.mark.thorough, pytest.mark.spark]

GARBAGE_MIB = YOUNG_MIB + OLD_MIB_MIN
"""Larger than the young part, so it is put into the old one at once."""


def get_java(spark: SparkSession) -> Any:
    return spark.sparkContext._jvm


def find_old_pool(spark: SparkSession) -> Any:
    beans = get_java(spark).java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    return next(pool for pool in beans if pool.getName() == "Tenured Gen")


@contextmanager
def allocated(spark: SparkSession) -> Iterator[None]:
    """Much of the heap is used until the block ends, and garbage afterwards."""
    text = get_java(spark).java.lang.StringBuilder(GARBAGE_MIB * MIB)
    yield
    text.trimToSize()


@pytest.fixture
def heap(spark: SparkSession) -> Heap:
    """The heap, just collected."""
    get_java(spark).java.lang.System.gc()
    return Heap(spark)


def test_what_has_grown_is_collected_and_its_memory_returned(
    spark: SparkSession, heap: Heap
) -> None:
    before = find_old_pool(spark).getUsage().getCommitted()
    assert not heap.collect_growth(), "nothing has grown"
    with allocated(spark):
        assert find_old_pool(spark).getUsage().getCommitted() > before
    assert heap.collect_growth()
    left = find_old_pool(spark).getUsage()
    assert left.getUsed() < OLD_MIB_MIN * MIB
    assert left.getCommitted() < GARBAGE_MIB * MIB
    assert not heap.collect_growth(), "once is enough"


def test_what_lives_is_not_collected_again_and_again(spark: SparkSession, heap: Heap) -> None:
    with allocated(spark):
        assert heap.collect_growth()
        assert not heap.collect_growth()


def test_it_looks_at_the_heap_rarely(spark: SparkSession, heap: Heap) -> None:
    with allocated(spark):
        heap.look()
        assert heap.collect_growth(), "it has not looked yet"
