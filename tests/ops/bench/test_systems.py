import json
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from contracts import RECEIPTS, encode
from infra.environment import FLINK
from infra.jars.sets import get_jar_set
from infra.settings import Settings
from ops.bench import systems
from ops.bench.kafka_streams import run_kafka_streams
from ops.bench.receipts import CHUNK, COPIES, create_receipt, publish
from ops.bench.shops import count_receipts
from ops.bench.systems import ask_oracle, count_wrong, render_job


@pytest.mark.thorough
@pytest.mark.e2e
def test_kafka_streams_counts_what_the_oracle_does(kafka: Settings) -> None:
    publish(kafka, CHUNK)
    oracle = ask_oracle(kafka)
    assert count_receipts(kafka) == CHUNK + COPIES
    assert sum(oracle.values()) == sum(
        line["units"] for number in range(CHUNK) for line in create_receipt(number)["lines"]
    )
    with run_kafka_streams(kafka) as streams:
        seconds, application = streams.replay()
        assert seconds > 0
        assert count_wrong(streams.read_answer(application), oracle) == 0


def test_flink_and_its_connector_are_of_one_version() -> None:
    [version] = re.findall(r"^apache-flink==(\d+\.\d+)", FLINK.lock.read_text(), re.MULTILINE)
    [connector] = get_jar_set("flink").jars
    assert connector.version.endswith(f"-{version}")


def test_the_program_reads_job_and_receipt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("pyflink", "pyflink.common", "pyflink.table", "pyflink.table.udf"):
        monkeypatch.setitem(sys.modules, name, STANDS_FOR_PYFLINK)
    monkeypatch.setattr(systems, "fetch_jars", lambda _: [tmp_path / "a.jar"])
    program = runpy.run_path(str(systems.FLINK_PROGRAM))
    job = json.loads(render_job(Settings(data_dir=tmp_path), "a-job"))
    assert f"'topic' = '{RECEIPTS.name}'" in program["RECEIPTS"].format(**job)
    assert "'topic' = 'a-job'" in program["UNITS_SOLD"].format(**job)
    receipt = create_receipt(7)
    read = program["build_reader"](job["schema"])
    [(event_id, store_id, lines)] = read(encode(RECEIPTS, receipt))
    assert (event_id, store_id) == (receipt["event_id"], receipt["store_id"])
    assert lines == [(line["sku"], line["units"]) for line in receipt["lines"]]


UNUSED = ("DataTypes", "Configuration", "EnvironmentSettings", "TableEnvironment", "udtf")
STANDS_FOR_PYFLINK: Any = SimpleNamespace(Row=lambda *values: values, **dict.fromkeys(UNUSED))
