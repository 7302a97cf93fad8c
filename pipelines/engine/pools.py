"""Scheduler pools: the shares of the cores of pipelines in the same Spark."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

from pipelines.common.pipeline import Pipeline

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
