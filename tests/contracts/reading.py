"""All receipts of a log, as the code reads them that is run: `-m tests.contracts.reading`.

Prints JSON: what is accepted with its new field, what is rejected and why, and the units sold by
shelf, by Python and, if asked for, by Spark.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from contracts import RECEIPTS
from contracts.validation import Rejection, validate
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings, read_settings
from ops.verify.log import read
from pipelines.common.flow import build_rows
from pipelines.common.pipeline import load
from pipelines.engine.session import start_session
from pipelines.engine.source import build_source_options


def read_by_python(settings: Settings) -> dict[str, Any]:
    accepted: dict[str, Any] = {}
    rejected: Counter[str] = Counter()
    units: Counter[str] = Counter()
    for record in read(settings, read_end_offsets(create_admin(settings), [RECEIPTS.name])):
        event = validate(RECEIPTS, record.key, record.value, record.published_ms)
        if isinstance(event, Rejection):
            rejected[event.found] += 1
            continue
        accepted[event["event_id"]] = event.get("till_version", "not known")
        for line in event["lines"]:
            units[f"{event['store_id']}/{line['sku']}"] += line["units"]
    return {"accepted": accepted, "rejected": rejected, "units": units}


def read_by_spark(spark: SparkSession, settings: Settings) -> dict[str, int]:
    """Units sold by shelf, as the inventory pipeline's own functions have them."""
    shelves = build_rows(load("inventory"), read_log(spark, settings)).collect()
    return {f"{row['store_id']}/{row['sku']}": row["units_sold"] for row in shelves}


def read_log(spark: SparkSession, settings: Settings) -> DataFrame:
    options = {**build_source_options(settings), "subscribe": RECEIPTS.name}
    return spark.read.format("kafka").options(**options).load()


def main() -> None:
    settings = read_settings()
    readings = read_by_python(settings) | {
        "code": str(Path(sys.modules["contracts"].__path__[0]).parent)
    }
    if "spark" in sys.argv:
        readings["units in spark"] = read_by_spark(start_session(settings, "reading"), settings)
    print(json.dumps(readings), flush=True)
    os._exit(0)  # Spark's own end takes seconds


if __name__ == "__main__":
    main()
