"""Receipts get an optional field, version 1.1, while tills of both versions sell.

    schema lock      1.0        │ 1.0 and 1.1: told to the readers, before any writer
    readers          old code   │ old code, told ─────────── new code
    old tills        ▪▪▪▪▪▪▪▪▪▪▪│▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪
    new tills                   │           ▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪▪

A live generation of the old code reads on, and so do a consumer in Python, a replay by the new code
and stock clients of the registry. Only a reader whose lock was never told finds records that it
cannot read.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from pyspark.sql import SparkSession

from contracts import RECEIPTS, build_avro_schema
from contracts.documents import to_document
from contracts.evolution.release import release
from contracts.schemas import load_lock
from contracts.validation import UNDECODABLE
from infra.kafka import Record, create_admin, read_end_offsets
from infra.processes import build_environment, start_module
from infra.settings import HOST, Settings, locate_root
from infra.wait import wait_until
from ops.generations.lifecycle import load_generations
from ops.generations.marker import read_marker
from ops.generations.record import Generation
from ops.verify.log import read
from pipelines.common.pipeline import load
from pipelines.common.transform.validate import validate as validate_records
from services.quarantine.follower import create_row
from tests.contracts.evolution.editing import RECEIPT, TODAY, edit
from tests.contracts.reading import read_by_python, read_by_spark, read_log
from tests.ports import free_port_base
from tests.processes import run_supervisor
from tests.replay.answer import Answer, answer
from tests.replay.running import Work
from tests.rooms import INSTALLED

pytestmark = [pytest.mark.thorough, pytest.mark.e2e, pytest.mark.spark, pytest.mark.timeout(600)]

FIELD = """      - name: till_version
        description: The software of the till.
        logicalType: string
        required: false
        examples: [R7.2]
"""
BEFORE = "      - name: lines\n"
OPENED = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
STORES, SKUS, RECEIPTS_PER_FILE = 6, 5, 60
SECONDS_MAX = 240


@dataclass(frozen=True)
class Versions:
    """Two copies of the code, and what their tills have published into one log."""

    settings: Settings
    old: Path
    new: Path
    sold: Mapping[str, Mapping[str, Any]]
    """Every receipt, by its id."""
    generation: Generation
    answer: Answer
    log: str
    """What the generation's process has said."""

    @property
    def units(self) -> Counter[str]:
        """Sold by shelf."""
        found: Counter[str] = Counter()
        for receipt in self.sold.values():
            for line in receipt["lines"]:
                found[f"{receipt['store_id']}/{line['sku']}"] += line["units"]
        return found

    @property
    def tills(self) -> dict[str, str | None]:
        return {name: receipt.get("till_version") for name, receipt in self.sold.items()}

    @property
    def new_id(self) -> int:
        entries = json.loads((self.new / "contracts" / "schemas.lock.json").read_text())
        return int(entries[-1]["id"])


@pytest.fixture(scope="module")
def versions(kafka: Settings, tmp_path_factory: pytest.TempPathFactory) -> Versions:
    folder = tmp_path_factory.mktemp("versions")
    settings = kafka.model_copy(update={"data_dir": folder / "data", "spark_master": "local[2]"})
    settings.data_dir.mkdir()
    old, new = copy_code(folder / "old"), copy_code(folder / "new")
    edit(new / "contracts", {RECEIPT: [(BEFORE, FIELD + BEFORE)]})
    report, released = release(new / "contracts", TODAY)
    assert report.good
    [pending] = released
    assert (pending.contract, pending.version) == (RECEIPTS.name, "1.4.0")
    early, beside, last = (create_receipts(name) for name in ("early", "beside", "last"))
    fresh = create_receipts("fresh", till_version="R7.2")
    output = folder / "generation.log"

    await_end(start_selling(settings, old, early))
    sold = [*early, *beside, *fresh, *last]
    with run_supervisor(settings.model_copy(update={"pipelines": "inventory"}), output, old):
        wait_until(lambda: count_applied(settings) == len(early), "the old code reads", SECONDS_MAX)
        shutil.copy(new / "contracts" / "schemas.lock.json", old / "contracts")  # told, first
        await_end(start_selling(settings, old, beside), start_selling(settings, new, fresh))
        await_end(start_selling(settings, old, last))
        wait_until(
            lambda: count_applied(settings) == len(sold), "the old code reads on", SECONDS_MAX
        )
    [founded] = load_generations(settings, "inventory").members
    return Versions(
        settings=settings,
        old=old,
        new=new,
        sold={receipt["event_id"]: receipt for receipt in sold},
        generation=founded,
        answer=answer(Work(settings, load("inventory"), founded)),
        log=output.read_text(),
    )


def copy_code(folder: Path) -> Path:
    for room in INSTALLED:
        shutil.copytree(
            locate_root() / room, folder / room, ignore=shutil.ignore_patterns("__pycache__", ".*")
        )
    return folder


def create_receipts(name: str, **more: str) -> list[dict[str, Any]]:
    return [
        {
            "event_id": f"{name}-{number}",
            "event_time": OPENED + timedelta(seconds=number),
            "store_id": f"S{number % STORES}",
            "register_id": "R1",
            "cashier_id": "K1",
            "lines": [{"sku": f"SKU-{number % SKUS}", "units": 1 + number % 3}],
            **more,
        }
        for number in range(RECEIPTS_PER_FILE)
    ]


def start_selling(
    settings: Settings, code: Path, sold: Sequence[Mapping[str, Any]]
) -> "subprocess.Popen[bytes]":
    file = settings.data_dir / f"{sold[0]['event_id']}.jsonl"
    file.write_text("".join(f"{json.dumps(to_priced_document(receipt))}\n" for receipt in sold))
    return subprocess.Popen(
        [sys.executable, "-m", "tests.contracts.selling", str(file)],
        cwd=code,
        env=build_code_environment(settings, code),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def build_code_environment(settings: Settings, code: Path) -> dict[str, str]:
    variables = build_environment(settings, code)
    return {**variables, "PYTHONPATH": f"{code}:{locate_root()}"}


def to_priced_document(receipt: Mapping[str, Any]) -> dict[str, Any]:
    lines = [{**line, "unit_price_cents": 100} for line in receipt["lines"]]
    more = {name: value for name, value in receipt.items() if name == "till_version"}
    return {**to_document(RECEIPTS, {**receipt, "lines": lines}), **more}


def await_end(*running: "subprocess.Popen[bytes]") -> None:
    for process in running:
        output, _ = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == 0, output.decode()


def count_applied(settings: Settings) -> int:
    """How many receipts the generation has counted, at its marker."""
    generations = load_generations(settings, "inventory").members
    if not generations or read_marker(settings, "inventory", generations[0].number) is None:
        return 0
    found = answer(Work(settings, load("inventory"), generations[0]))
    return sum(book.applied for book in found.books.values())


@pytest.fixture(scope="module")
def receipts_log(versions: Versions) -> list[Record]:
    return list(
        read(versions.settings, read_end_offsets(create_admin(versions.settings), [RECEIPTS.name]))
    )


def test_a_live_generation_of_old_code_reads_on_once_its_lock_is_told(versions: Versions) -> None:
    found = versions.answer
    shelves = found.rows["public.inventory.stock-level.v1"].values()
    sold = {f"{row['store_id']}/{row['sku']}": row["units_sold"] for row in shelves}
    assert sold == versions.units
    assert sum(book.quarantined for book in found.books.values()) == 0
    assert versions.generation.number == 1


def test_it_has_stopped_before_it_could_take_a_good_record_for_a_bad_one(
    versions: Versions,
) -> None:
    message = f"the lock file has {versions.new_id} by now, which it has not loaded"
    assert message in versions.log


@pytest.mark.parametrize("code", ["old", "new"])
def test_whoever_was_told_reads_all_of_it(code: str, versions: Versions) -> None:
    home: Path = getattr(versions, code)
    words = ["spark"] if code == "new" else []
    done = subprocess.run(
        [sys.executable, "-m", "tests.contracts.reading", *words],
        cwd=home,
        env=build_code_environment(versions.settings, home),
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS_MAX,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["code"] == str(home)
    assert found["rejected"] == {}
    assert found["units"] == versions.units
    tills = versions.tills if code == "new" else dict.fromkeys(versions.sold, "not known")
    assert found["accepted"] == tills
    if code == "new":
        assert found["units in spark"] == versions.units


@pytest.mark.parametrize("code", ["old", "new"])
def test_a_stock_client_of_the_registry_decodes_all_of_it(
    code: str, versions: Versions, receipts_log: list[Record]
) -> None:
    with registry(versions.settings, getattr(versions, code)) as address:
        client = SchemaRegistryClient({"url": address})
        context = SerializationContext(RECEIPTS.name, MessageField.VALUE)
        as_written = AvroDeserializer(client)
        as_before = AvroDeserializer(client, json.dumps(build_avro_schema(RECEIPTS)))
        newest = client.get_latest_version(f"{RECEIPTS.name}-value")
        assert newest.schema_id == versions.new_id
        tills: dict[str, str | None] = {}
        for record in receipts_log:
            written, before = as_written(record.value, context), as_before(record.value, context)
            assert isinstance(written, dict)
            assert isinstance(before, dict)
            tills[written["event_id"]] = written.pop("till_version", None)
            assert written == before
        assert tills == versions.tills


@contextmanager
def registry(settings: Settings, code: Path) -> Iterator[str]:
    """The API of that version of the code, on a port of its own."""
    own = {"port_base": free_port_base(), "data_dir": settings.data_dir / code.name}
    of_broker = {"kafka_bootstrap_servers": settings.bootstrap_servers}
    served = settings.model_copy(update=own | of_broker)
    process = start_module(served, settings.data_dir / "api.log", "services.api", code=code)
    address = f"http://{HOST}:{served.api_port}"

    def is_answering() -> bool:
        assert process.poll() is None
        try:
            return httpx.get(f"{address}/subjects", timeout=5).is_success
        except httpx.HTTPError:
            return False

    try:
        wait_until(is_answering, "the registry answers", SECONDS_MAX)
        yield address
    finally:
        process.kill()
        process.wait(SECONDS_MAX)


def test_who_was_never_told_rejects_what_is_new_and_keeps_it_whole(
    versions: Versions, receipts_log: list[Record], spark: SparkSession
) -> None:
    """This process runs the old code and its lock lacks the new schema: why the order matters."""
    assert versions.new_id not in {entry.id for entry in load_lock()}
    frame = b"\0" + versions.new_id.to_bytes(4, "big")
    fresh = [record for record in receipts_log if (record.value or b"").startswith(frame)]
    old = {name for name, till in versions.tills.items() if till is None}
    found = read_by_python(versions.settings)
    assert found["accepted"].keys() == old
    reason = f"no schema of {RECEIPTS.name} has the id {versions.new_id}"
    assert found["rejected"] == {reason: len(fresh)}
    log = read_log(spark, versions.settings)
    validated = validate_records({RECEIPTS: ()}, log).groupBy("_reason").count()
    reasons = {row["_reason"]: row["count"] for row in validated.collect()}
    assert reasons == {None: len(old), UNDECODABLE: len(fresh)}
    assert read_by_spark(spark, versions.settings) == found["units"]
    for record in fresh:
        row = create_row(record)
        assert row is not None
        assert (row["reason"], row["value"]) == (UNDECODABLE, record.value)
