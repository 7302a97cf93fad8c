"""What was rejected, as the API tells it: the newest first, each record whole."""

import base64
import sqlite3
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from contracts import ADJUSTMENTS, QUARANTINE, RECEIPTS
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, create_sources, serving

LATE = QUARANTINE.examples[0]
PRICES = "public.pricing.price-change.v1"


def put(log: MemoryLog, offset: int, **fields: Any) -> None:
    """A record of the quarantine, published the later the larger its offset."""
    published_at = LATE["published_at"] + timedelta(minutes=offset)
    row = {**LATE, "offset": offset, "published_at": published_at, **fields}
    log.put(QUARANTINE, row, offset % QUARANTINE.settings.partitions)


def await_listed(api: Answers, count: int) -> Any:
    return api.eventually(
        "/v1/quarantine", lambda page: sum(reason["records"] for reason in page["counts"]) == count
    )


def list_offsets(answer: Any) -> list[int]:
    return [item["offset"] for item in answer["items"]]


def test_newest_come_first_filters_choose_counts_tell_of_all(log: MemoryLog, api: Answers) -> None:
    put(log, 0)
    put(log, 0)  # a copy is listed once
    put(log, 1, reason="undecodable")
    put(log, 2, topic=ADJUSTMENTS.name)
    listed = await_listed(api, 3)
    assert api.json("/v1/quarantine")["as_of"] == {QUARANTINE.name: [2, 1, 1, 0]}
    assert list_offsets(listed) == [2, 1, 0]
    assert [tuple(count.values()) for count in listed["counts"]] == [
        (ADJUSTMENTS.name, "late", 1),
        (RECEIPTS.name, "late", 1),
        (RECEIPTS.name, "undecodable", 1),
    ]
    assert list_offsets(api.json("/v1/quarantine", topic=RECEIPTS.name, reason="late")) == [0]
    assert list_offsets(api.json("/v1/quarantine", reason="late")) == [2, 0]


def test_a_record_is_shown_whole_and_read_or_is_unknown(log: MemoryLog, api: Answers) -> None:
    put(log, 7)
    await_listed(api, 1)
    record = api.json(f"/v1/quarantine/{RECEIPTS.name}/2/7")
    assert base64.b64decode(record["value"]) == LATE["value"]
    assert record["headers"] == [{"name": "sequence", "value": "AAAAAAAAKFU="}]
    assert record["fields"]["event_time"] == "2026-03-02T10:41:30.000Z"
    assert record["fault"] is None
    assert "may be released" in record["remedy"]
    for place, status in (("2/1", 404), ("2/x", 422)):
        assert api.get(f"/v1/quarantine/{RECEIPTS.name}/{place}").status_code == status
    assert api.get("/v1/quarantine/no.such.topic/0/0").status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize(
    ("topic", "value", "fault", "remedy"),
    [
        (RECEIPTS.name, LATE["value"][:-8], "the body does not decode", "corrected event"),
        (PRICES, None, "no value", "Announce it anew"),
    ],
)
def test_what_cannot_be_read_says_why_and_what_to_do(
    log: MemoryLog, api: Answers, topic: str, value: bytes | None, fault: str, remedy: str
) -> None:
    put(log, 7, topic=topic, value=value, reason="undecodable")
    await_listed(api, 1)
    record = api.json(f"/v1/quarantine/{topic}/2/7")
    assert record["fields"] == {}
    assert fault in record["fault"]
    assert remedy in record["remedy"]


@pytest.fixture
def restarts(log: MemoryLog, tmp_path: Path) -> Path:
    """A data folder whose API has read one record and stopped."""
    put(log, 0)
    with serving(create_sources(log, tmp_path)) as api:
        await_listed(api, 1)
    return tmp_path / "quarantine.sqlite"


def test_a_restart_goes_on_where_it_stood(log: MemoryLog, restarts: Path) -> None:
    with sqlite3.connect(restarts) as connection:
        connection.execute(f'update "{QUARANTINE.name}" set found = ?', ("as it was left",))
    put(log, 1)
    with serving(create_sources(log, restarts.parent)) as api:
        assert [record["found"] for record in await_listed(api, 2)["items"]][-1] == "as it was left"


@pytest.mark.parametrize("harm", ["gone", "another topic"])
def test_a_file_that_will_not_do_is_made_anew(log: MemoryLog, restarts: Path, harm: str) -> None:
    if harm == "gone":
        restarts.unlink()
    else:
        log.make(QUARANTINE.name, 4)
        put(log, 5)
    with serving(create_sources(log, restarts.parent)) as api:
        assert list_offsets(await_listed(api, 1)) == [5 if harm == "another topic" else 0]


def test_a_topic_that_is_made_anew_is_read_anew(log: MemoryLog, api: Answers) -> None:
    put(log, 0)
    await_listed(api, 1)
    log.make(QUARANTINE.name, 4)
    put(log, 3)
    api.eventually("/v1/quarantine", lambda answer: list_offsets(answer) == [3])
