"""What is over in a changelog is deleted from it, and nothing else."""

from datetime import datetime

import pytest
from confluent_kafka import Consumer, TopicPartition

from contracts import BOOKS, MARKDOWN_PROPOSALS, STORE_SALES, encode_key
from contracts.times import MILLISECOND
from infra.kafka import create_admin, read_end_offsets
from infra.settings import Settings
from ops.generations.record import Generation, State
from pipelines.engine import sweeping
from pipelines.engine.sweeping import Sweep, parse_began
from tests.pipelines.generations import AT
from tests.services.broker import KafkaLog
from tests.services.writing import Writing

assert STORE_SALES.retention is not None
RETENTION = STORE_SALES.retention
ROW = STORE_SALES.examples[0]
NEWEST: datetime = ROW["window_start"]
TOPIC = f"{STORE_SALES.name}.g1"


@pytest.fixture
def writing(kafka: Settings) -> Writing:
    """Sales of a newest minute, of one at the end of the retention, and of two beyond it."""
    made = Writing(KafkaLog(kafka), pipeline="analytics", views=(STORE_SALES,))
    for began in (NEWEST, NEWEST - RETENTION, *find_over()):
        made.put(STORE_SALES, window_start=began)
    return made


@pytest.fixture
def sweep(kafka: Settings) -> Sweep:
    outputs = {BOOKS.name: BOOKS.name, STORE_SALES.name: TOPIC}
    return Sweep(kafka, Generation("analytics", 1, State.PROMOTED, "0" * 64, AT, outputs))


def find_over() -> tuple[datetime, datetime]:
    return NEWEST - RETENTION - MILLISECOND, NEWEST - 2 * RETENTION


def get_key(began: datetime) -> bytes:
    return encode_key(STORE_SALES, {**ROW, "window_start": began})


def read_raw(kafka: Settings) -> list[tuple[bytes | None, bool]]:
    """Every record of the changelog, by a client with its own defaults: key, and if it deletes."""
    ends = read_end_offsets(create_admin(kafka), [TOPIC])
    client = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "of-others"})
    client.assign([TopicPartition(*partition, 0) for partition in ends])
    found: list[tuple[bytes | None, bool]] = []
    while len(found) < sum(ends.values()):
        found += [(message.key(), message.value() is None) for message in client.consume(100, 1.0)]
    client.close()
    return found


@pytest.mark.e2e
def test_what_is_over_at_the_marker_is_deleted_once(
    kafka: Settings, writing: Writing, sweep: Sweep
) -> None:
    assert sweep.look() == 0, "there is no marker"
    writing.mark()
    assert sweep.look() == 2
    deleted = {key for key, deletes in read_raw(kafka) if deletes}
    assert deleted == {get_key(began) for began in find_over()}
    writing.mark()
    assert sweep.look() == 0
    assert Sweep(kafka, sweep.generation).look() == 0, "after a restart, too"


@pytest.mark.e2e
def test_a_row_beyond_the_marker_makes_nothing_over(
    kafka: Settings, writing: Writing, sweep: Sweep
) -> None:
    writing.mark()
    sweep.look()
    before = read_raw(kafka)
    writing.put(STORE_SALES, window_start=NEWEST + RETENTION)
    KafkaLog(kafka).flush()
    assert sweep.look() == 0
    assert len(read_raw(kafka)) == len(before) + 1
    writing.mark()
    assert sweep.look() == 1, "the one at the end of the retention"


@pytest.mark.e2e
@pytest.mark.parametrize(("most", "looks"), [(1, [1, 1, 0]), (2, [2, 0]), (3, [2, 0])])
def test_what_is_too_much_for_one_look_is_deleted_by_the_next(
    kafka: Settings,
    writing: Writing,
    sweep: Sweep,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    looks: list[int],
) -> None:
    monkeypatch.setattr(sweeping, "DELETIONS_MAX", most)
    for expected in looks:
        writing.mark()
        assert sweep.look() == expected


@pytest.mark.parametrize("key", [None, b"", b"S001", b"S001/x", b"S001/1/2"])
def test_a_key_of_another_form_began_at_no_time(key: bytes | None) -> None:
    assert parse_began(STORE_SALES, key) is None
    assert parse_began(STORE_SALES, b"S001/-7") == -7


@pytest.mark.e2e
def test_what_somebody_adds_up_stays(kafka: Settings) -> None:
    made = Writing(KafkaLog(kafka), pipeline="pricing", views=(MARKDOWN_PROPOSALS,))
    assert MARKDOWN_PROPOSALS.retention is not None
    newest: datetime = MARKDOWN_PROPOSALS.examples[0]["ends_at"]
    for ends_at in (newest, newest - 2 * MARKDOWN_PROPOSALS.retention):
        for period in ("half-hour", "day"):
            made.put(MARKDOWN_PROPOSALS, ends_at=ends_at, period=period)
    made.mark()
    topic = f"{MARKDOWN_PROPOSALS.name}.g1"
    outputs = {BOOKS.name: BOOKS.name, MARKDOWN_PROPOSALS.name: topic}
    sweep = Sweep(kafka, Generation("pricing", 1, State.PROMOTED, "0" * 64, AT, outputs))
    assert sweep.look() == 1, "the older half-hour"
