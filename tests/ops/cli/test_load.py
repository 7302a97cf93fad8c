"""retail load, on a real broker: what is published, what is rejected, and how it is said."""

import json
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from contracts import GENERATIONS, RECEIPTS, decode
from contracts.documents import to_document
from infra.kafka import Offsets, Partition, Record, create_admin, read_end_offsets
from infra.settings import Settings
from ops.verify.log import read
from tests.command import run_command
from tests.services.broker import KafkaLog
from tests.services.world import NOON, announce

pytestmark = pytest.mark.e2e

RECEIPT = to_document(RECEIPTS, RECEIPTS.examples[0])


@pytest.fixture
def shop(kafka: Settings, tmp_path: Path) -> Settings:
    """The broker, with a data folder of the test's own."""
    return kafka.model_copy(update={"data_dir": tmp_path / "data"})


@pytest.fixture
def noon(shop: Settings) -> Settings:
    """It is noon in the world, and a pipeline follows it."""
    log = KafkaLog(shop)
    announce(log)
    log.publish((GENERATIONS.name, 0), b"inventory", None)
    log.flush()
    return shop


def read_ends(shop: Settings) -> dict[Partition, int]:
    return read_end_offsets(create_admin(shop), [RECEIPTS.name])


def read_records(shop: Settings, before: Offsets) -> list[Record]:
    """What the log holds beyond these offsets."""
    every = read(shop, read_ends(shop))
    return [one for one in every if one.offset >= before[one.topic, one.partition]]


def receipt(number: int, minutes: float, **changes: Any) -> dict[str, Any]:
    """A receipt that many minutes after noon."""
    at = (NOON + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")
    return RECEIPT | {"event_id": f"R{number}", "event_time": at, **changes}


def load(
    shop: Settings, file: Path, topic: str = RECEIPTS.name
) -> "subprocess.CompletedProcess[str]":
    return run_command(shop, "load", "--topic", topic, file)


def write_lines(file: Path, *events: Any) -> Path:
    file.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return file


def read_report(shop: Settings, name: str) -> dict[int, str]:
    """By row, the first thing that is wrong with it."""
    file = shop.data_dir / "reports" / f"load-{name}.jsonl"
    refusals = [json.loads(line) for line in file.read_text().splitlines()]
    return {one["row"]: one["faults"][0]["problem"] for one in refusals}


def test_into_an_empty_log_any_history_goes_in_the_order_in_which_it_happened(
    shop: Settings, tmp_path: Path
) -> None:
    """The first test: nothing is in the log yet, and no clock tells the time."""
    before = read_ends(shop)
    events = [receipt(number, -90 * ((number * 37) % 100)) for number in range(100)]
    done = load(shop, write_lines(tmp_path / "history.jsonl", *events))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100 rows · 100 published" in done.stdout
    records = read_records(shop, before)
    assert len(records) == 100
    times = [one.published_ms for one in records]
    assert times == sorted(times)
    for one in records:
        event = decode(one.value).value
        assert one.published_ms == event["event_time"].timestamp() * 1000
        assert one.key == event["store_id"].encode()
    assert not any((shop.data_dir / "reports").iterdir())
    assert [one.name for one in shop.data_dir.iterdir()] == ["reports"]


def test_what_is_rejected_is_reported_with_its_row_and_all_else_is_published(
    noon: Settings, tmp_path: Path
) -> None:
    file = write_lines(
        tmp_path / "mixed.jsonl",
        receipt(1, -5),
        receipt(2, -4, event_id="", lines=[]),
        receipt(3, 6),
        receipt(4, -121),
        "no event",
        receipt(6, -119),
    )
    before = read_ends(noon)
    done = load(noon, file)
    assert done.returncode == 1
    assert "6 rows · 2 published" in done.stdout
    assert "4 rejected" in done.stdout
    assert "row 2: event_id: event_id has a length of at least 1" in done.stdout
    assert "Wait until" in done.stdout
    assert read_report(noon, "mixed") == {
        2: "event_id has a length of at least 1",
        3: "ahead of the world: at most 5 min from now",
        4: "older than what readers remember: at most 2 h ago",
        5: "Input should be a valid dictionary or instance of Receipt",
    }
    assert [decode(one.value).value["event_id"] for one in read_records(noon, before)] == [
        "R6",
        "R1",
    ]


@pytest.mark.parametrize(
    ("name", "topic", "message"),
    [
        ("a.jsonl", "private.simulation.ledger.v1", "--topic should be one of"),
        ("a.csv", RECEIPTS.name, "should end in .jsonl"),
        ("none.jsonl", RECEIPTS.name, "there is none"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_a_sentence(
    noon: Settings, tmp_path: Path, name: str, topic: str, message: str
) -> None:
    for there in ("a.jsonl", "a.csv"):
        (tmp_path / there).write_text("")
    done = load(noon, tmp_path / name, topic)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
