"""The systems of docs/systems.md: their answers are held against the oracle's."""

import json
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from contracts import RECEIPTS, encode
from infra.environment import FLINK
from infra.jars.sets import get_jar_set
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from ops.bench.program import run_program
from ops.bench.receipts import create_receipt
from ops.bench.systems import flink, log, message_queue, plain_loop
from ops.bench.systems.answers import Run, Units, ask_oracle, compare
from ops.bench.systems.flink import Flink, Job, find_checkpoint, render_job
from ops.bench.systems.measure import EXACT, SYSTEMS, describe
from ops.bench.systems.message_queue import MESSAGES_MAX, MessageQueue, QueueFull

pytestmark = pytest.mark.thorough

SOLD: Units = {("S1", "A"): 3, ("S1", "B"): 1}


@pytest.fixture(scope="module")
def records(kafka: Settings) -> int:
    """How many receipts there are in the log, with copies."""
    log.publish(kafka, log.CHUNK)
    return sum(read_end_offsets(create_admin(kafka), [RECEIPTS.name]).values())


@pytest.mark.e2e
@pytest.mark.parametrize("system", [plain_loop, message_queue], ids=lambda one: one.__name__)
def test_a_loop_counts_what_the_oracle_does_until_it_crashes(
    kafka: Settings, records: int, system: Any
) -> None:
    oracle = ask_oracle(kafka)
    assert records == log.CHUNK + log.COPIES
    assert sum(oracle.values()) == sum(
        line["units"] for number in range(log.CHUNK) for line in create_receipt(number)["lines"]
    )
    run = system.run(kafka, records)
    assert compare(run.answer, oracle).agrees
    crashed = compare(run.answer_after_kill, oracle)
    assert not crashed.agrees
    assert crashed.units > 0, "what was counted and not noted counts again"


def test_a_message_is_gone_once_it_is_acknowledged() -> None:
    queue = create_queue(b"a", b"b", b"c")
    assert queue.take(2) == [b"a", b"b"]
    queue.acknowledge()
    queue.deliver_again()
    assert queue.take(9) == [b"c"]


def test_a_message_of_a_taker_that_is_gone_comes_again_behind_later_ones() -> None:
    queue = create_queue(b"a", b"b", b"c")
    queue.take(2)
    queue.deliver_again()
    assert queue.take(9) == [b"c", b"a", b"b"]


def test_a_full_queue_takes_no_message_before_one_is_acknowledged() -> None:
    queue = create_queue(*[b"a"] * MESSAGES_MAX)
    queue.take(1)
    with pytest.raises(QueueFull):
        queue.put(b"b")
    queue.acknowledge()
    queue.put(b"b")
    assert len(queue) == MESSAGES_MAX


def create_queue(*messages: bytes) -> MessageQueue:
    queue = MessageQueue()
    for message in messages:
        queue.put(message)
    return queue


def test_answers_agree_by_digest_whatever_their_order() -> None:
    assert compare(dict(reversed(SOLD.items())), SOLD).agrees


@pytest.mark.parametrize(
    ("answer", "shelves", "units"),
    [
        ({**SOLD, ("S1", "A"): 5}, 1, 2),
        ({("S1", "A"): 3}, 1, -1),
        ({**SOLD, ("S2", "A"): 1}, 1, 1),
        ({("S1", "A"): 1, ("S1", "B"): 3}, 2, 0),
    ],
)
def test_a_shelf_that_differs_is_counted(answer: Units, shelves: int, units: int) -> None:
    compared = compare(answer, SOLD)
    assert not compared.agrees
    assert (compared.shelves, compared.units) == (shelves, units)
    assert f"{units:+} units" in str(compared)


@pytest.mark.parametrize("system", SYSTEMS)
def test_who_promises_exact_answers_has_missed_its_aim_with_one_wrong_shelf(system: str) -> None:
    run = Run(2.0, SOLD, {**SOLD, ("S1", "A"): 4}, "How.", "The kill.")
    rate, undisturbed, killed = describe(system, run, 100, SOLD)
    assert (rate.measured, rate.unit) == (50, "records/s")
    assert (undisturbed.measured, killed.measured) == (0, 1)
    assert killed.note.startswith("The kill. SHA-256 ")
    verdicts = [
        figure.aim and figure.aim.is_met(figure.measured) for figure in (undisturbed, killed)
    ]
    assert verdicts == ([True, False] if system in EXACT else [None, None])


def test_flink_and_its_connector_are_of_one_version() -> None:
    [version] = re.findall(r"^apache-flink==(\d+\.\d+)", FLINK.lock.read_text(), re.MULTILINE)
    [connector] = get_jar_set("flink").jars
    assert connector.version.endswith(f"-{version}")


def test_the_program_reads_a_receipt_as_the_project_writes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build_reader = load_program(monkeypatch)["build_reader"]
    schema = json.loads(render_job(create_settings(tmp_path), Job("a-job"), []))["schema"]
    receipt = create_receipt(7)
    [(event_id, store_id, lines)] = build_reader(schema)(encode(RECEIPTS, receipt))
    assert (event_id, store_id) == (receipt["event_id"], receipt["store_id"])
    assert lines == [(line["sku"], line["units"]) for line in receipt["lines"]]


def load_program(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the program defines, without Flink."""
    for name in ("pyflink", "pyflink.common", "pyflink.table", "pyflink.table.udf"):
        monkeypatch.setitem(sys.modules, name, STANDS_FOR_PYFLINK)
    return runpy.run_path(str(flink.PROGRAM))


STANDS_FOR_PYFLINK: Any = SimpleNamespace(
    Row=lambda *values: values,
    DataTypes=None,
    Configuration=None,
    EnvironmentSettings=None,
    TableEnvironment=None,
    udtf=None,
)


def test_a_job_that_continues_names_its_checkpoint(tmp_path: Path) -> None:
    settings = create_settings(tmp_path)
    fresh, continued = (
        json.loads(render_job(settings, Job("a-job", continues=continues), []))["options"]
        for continues in (None, tmp_path / "chk-3")
    )
    assert continued == {**fresh, "execution.state-recovery.path": (tmp_path / "chk-3").as_uri()}
    assert fresh["execution.checkpointing.dir"].startswith(tmp_path.as_uri())


@pytest.mark.parametrize(("ends", "until"), [(True, "latest-offset"), (False, "unbounded")])
def test_a_job_says_until_where_it_reads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ends: bool, until: str
) -> None:
    job = json.loads(render_job(create_settings(tmp_path), Job("a-job", ends=ends), []))
    assert job["until"] == until
    statement = load_program(monkeypatch)["RECEIPTS"].format(**job)
    assert f"'scan.bounded.mode' = '{until}'" in statement


def test_a_killed_job_continues_from_the_newest_complete_checkpoint(tmp_path: Path) -> None:
    settings, job = create_settings(tmp_path), Job("a-job")
    with pytest.raises(ValueError, match="empty"):
        find_checkpoint(settings, job)
    for name in ("chk-9", "chk-10", "chk-11"):
        (flink.locate_checkpoints(settings, job) / "id" / name).mkdir(parents=True)
    for name in ("chk-9", "chk-10"):
        (flink.locate_checkpoints(settings, job) / "id" / name / "_metadata").touch()
    assert find_checkpoint(settings, job).name == "chk-10"


def test_a_job_is_answered_with_its_milliseconds(tmp_path: Path) -> None:
    with run_program([sys.executable, "-c", "print(1500)"], tmp_path / "flink.log") as program:
        assert Flink(create_settings(tmp_path), program).finish() == 1.5


def test_a_program_answers_what_it_is_asked_and_is_gone_with_its_block(tmp_path: Path) -> None:
    answering = "import os, sys\nfor line in sys.stdin: print(os.getpid(), line, flush=True)"
    with run_program([sys.executable, "-c", answering], tmp_path / "a.log") as program:
        program.order("units")
        pid, asked = program.read_answer().split()
        assert asked == "units"
        assert psutil.pid_exists(int(pid))
    assert not psutil.pid_exists(int(pid))


def test_a_program_that_ends_is_explained_by_its_log(tmp_path: Path) -> None:
    ending = "import sys; sys.exit('no such topic')"
    with (
        run_program([sys.executable, "-c", ending], tmp_path / "a.log") as program,
        pytest.raises(RuntimeError, match=r"a\.log ends with:\nno such topic"),
    ):
        program.read_answer()


def test_a_program_that_does_not_answer_is_killed_and_explained_by_its_log(tmp_path: Path) -> None:
    waiting = "import sys; print('waits', file=sys.stderr, flush=True); sys.stdin.read()"
    with (
        run_program([sys.executable, "-c", waiting], tmp_path / "a.log") as program,
        pytest.raises(TimeoutError, match=r"within 2 s, but ran on\. a\.log ends with:\nwaits"),
    ):
        program.read_answer(2.0)


def create_settings(folder: Path) -> Settings:
    return Settings(data_dir=folder)
