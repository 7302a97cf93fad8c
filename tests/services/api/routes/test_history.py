"""Answers from the lake: a shelf at a moment, what moved it, and what an alert rests on."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from contracts import ADJUSTMENTS, ALERTS, RECEIPTS, REFUNDS, RELEASES, SHIPMENTS
from infra.lake import Folders
from services.api.http.paging import Cursor
from services.api.lake import tables as lake
from services.api.problem import Problem
from services.api.store.marker import group_by_topic
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, check_problem, create_sources, serving
from tests.services.silver import MOVES, PARTITION, Silver
from tests.services.world import find_minute
from tests.services.writing import Writing, promote

SHELF = "S003/SKU-00417"
STOCK, MOVEMENTS = f"/v1/history/stock/{SHELF}", f"/v1/history/movements/{SHELF}"


def create_line(units: int, sku: str = "SKU-00417") -> dict[str, Any]:
    return {"sku": sku, "units": units, "unit_price_cents": 249}


def create_goods(dispatched: int, received: int, sku: str = "SKU-00417") -> dict[str, Any]:
    return {"sku": sku, "dispatched_units": dispatched, "received_units": received}


# minute   0          10           20         30            40           50
#          40 come    24 leave     5 sold     22 arrive     2 back       3 sold, released at 60
#          opening    for the      in two     of the 24
#                     store        lines
@pytest.fixture
def filled_silver(silver: Silver) -> Silver:
    """One shelf with a movement of every kind, in any order, beside others that are not its own."""
    silver.put(REFUNDS, event_time=find_minute(40), event_id="back", lines=[create_line(2)])
    sold = [create_line(1), create_line(9, "SKU-00023"), create_line(4)]
    silver.put(RECEIPTS, event_time=find_minute(20), event_id="sold", lines=sold)
    silver.put(RECEIPTS, event_time=find_minute(20), event_id="elsewhere", store_id="S004")
    for minute, status, arrived in ((30, "received", 22), (10, "dispatched", 0)):
        lines = [create_goods(24, arrived), create_goods(6, arrived, "SKU-00023")]
        told = {"event_time": find_minute(minute), "event_id": status, "status": status}
        silver.put(SHIPMENTS, lines=lines, **told)
    silver.put(ADJUSTMENTS, event_time=find_minute(0), event_id="opening", units=40)
    silver.put(ADJUSTMENTS, event_time=find_minute(0), event_id="other", units=7, sku="SKU-00023")
    late: dict[str, Any] = {"event_time": find_minute(50), "lines": [create_line(3)]}
    silver.release(RECEIPTS, released_at=find_minute(60), event_id="late", **late)
    return silver


def test_a_shelf_is_what_had_happened_by_a_moment_or_in_all_and_says_up_to_where(
    filled_silver: Silver, api: Answers
) -> None:
    for minute, *expected in (
        *((0, 40, 0, 1), (9, 40, 0, 1), (10, 40, 24, 2), (20, 35, 24, 3)),
        *((30, 57, 0, 4), (49, 59, 0, 5), (50, 56, 0, 6)),
    ):
        shelf = api.json(STOCK, at=find_minute(minute).isoformat())
        told = [shelf[name] for name in ("units_on_hand", "units_in_transit", "version")]
        assert told == expected, minute
        assert shelf["at"] == find_minute(minute).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    counts = {"on_hand": 56, "sold": 8, "refunded": 2, "received": 22, "adjusted": 40}
    ends = {ADJUSTMENTS: 2, SHIPMENTS: 2, RELEASES: 1, RECEIPTS: 2, REFUNDS: 1}
    assert api.json(STOCK) == {
        "store_id": "S003",
        "sku": "SKU-00417",
        **{f"units_{name}": units for name, units in counts.items()},
        "units_in_transit": 0,
        "first_event_time": "2026-03-02T12:00:00.000Z",
        "last_event_time": "2026-03-02T12:50:00.000Z",
        "version": 6,
        "at": None,
        "as_of": {"inputs": {topic.name: [0, end] for topic, end in ends.items()}},
    }


def test_movements_are_told_as_they_happened_and_a_release_names_its_original(
    filled_silver: Silver, api: Answers
) -> None:
    page = api.json(MOVEMENTS)
    told = ("event_id", "movement", "units_on_hand_change", "units_in_transit_change")
    assert [tuple(row[name] for name in told) for row in page["items"]] == [
        ("opening", "adjusted", 40, 0),
        ("dispatched", "dispatched", 0, 24),
        ("sold", "sold", -5, 0),
        ("received", "received", 22, -24),
        ("back", "refunded", 2, 0),
        ("late", "sold", -3, 0),
    ]
    opening = page["items"][0]
    place = {"topic": ADJUSTMENTS.name, "partition": PARTITION, "offset": 0, "original": None}
    times = dict.fromkeys(("event_time", "published_at"), "2026-03-02T12:00:00.000Z")
    assert opening == {**{name: opening[name] for name in told}, **place, **times}
    assert page["next"] is None
    assert page["as_of"] == api.json(STOCK)["as_of"]

    [movement] = api.json(MOVEMENTS, since=find_minute(40).isoformat())["items"]
    assert (movement["topic"], movement["offset"]) == (RELEASES.name, 0)
    assert movement["original"] == {"topic": RECEIPTS.name, "partition": 2, "offset": 77}
    assert movement["event_time"] == "2026-03-02T12:50:00.000Z"
    assert movement["published_at"] == "2026-03-02T13:00:00.000Z"


def test_of_two_releases_of_an_event_the_first_one_counts(silver: Silver, api: Answers) -> None:
    silver.put(ADJUSTMENTS, units=40)
    for offset in (5, 6):  # the event was rejected twice, and both records were released
        silver.release(RECEIPTS, offset, event_id="late", lines=[create_line(3)])
    silver.release(RECEIPTS, 7, event_id="another", lines=[create_line(1)])
    assert api.json(STOCK)["units_on_hand"] == 36
    originals = [row["original"]["offset"] for row in api.json(MOVEMENTS)["items"][1:]]
    assert originals == [5, 7]


@pytest.mark.parametrize("topic", [REFUNDS, SHIPMENTS, ADJUSTMENTS], ids=lambda topic: topic.entity)
def test_whatever_moves_stock_can_be_released(silver: Silver, api: Answers, topic: Any) -> None:
    silver.release(topic)
    [movement] = api.json(MOVEMENTS)["items"]
    assert movement["original"]["topic"] == topic.name
    assert api.json(STOCK)["units_on_hand"] == movement["units_on_hand_change"] != 0


def test_a_shelf_and_what_moved_it_make_the_shelf(filled_silver: Silver, api: Answers) -> None:
    since, until = find_minute(15).isoformat(), find_minute(30).isoformat()
    before, after = api.json(STOCK, at=since), api.json(STOCK, at=until)
    moved = api.json(MOVEMENTS, since=since, until=until)
    for units in ("units_on_hand", "units_in_transit"):
        assert before[units] + sum(row[f"{units}_change"] for row in moved["items"]) == after[units]
    assert before["version"] + len(moved["items"]) == after["version"]


@pytest.mark.parametrize("at_ms", [-(2**63), 2**63 - 1])
def test_a_cursor_of_any_time_is_answered(filled_silver: Silver, api: Answers, at_ms: int) -> None:
    place = (at_ms, RECEIPTS.name, 0, 0)
    cursor = Cursor(0, f"movements of {SHELF} since None until None", place)
    page = api.json(MOVEMENTS, cursor=str(cursor))
    assert len(page["items"]) == (6 if at_ms < 0 else 0)


@pytest.mark.parametrize("name", [{"sku": "SKU-99999"}, {"store_id": "S999"}, {}])
def test_a_shelf_that_did_not_move_by_then_is_unknown(
    filled_silver: Silver, api: Answers, name: dict[str, str]
) -> None:
    shelf = {"store_id": "S003", "sku": "SKU-00417", **name}
    before = {} if name else {"at": find_minute(-1).isoformat()}
    answer = api.get(f"/v1/history/stock/{shelf['store_id']}/{shelf['sku']}", **before)
    check_problem(answer, HTTPStatus.NOT_FOUND, "Unmoved shelf")
    assert answer.json()["as_of"]["inputs"][RECEIPTS.name] == [0, 2]


@pytest.mark.parametrize("path", [STOCK, MOVEMENTS, f"/v1/history/stock-outs/{SHELF}"])
@pytest.mark.parametrize("kept", [(), MOVES[1:]], ids=["no lake", "one table not there yet"])
def test_where_a_table_is_missing_it_says_how_to_get_the_lake(
    folders: Folders, api: Answers, path: str, kept: Any
) -> None:
    Silver(folders, kept)
    answer, words = api.get(path), (RECEIPTS.name, "make up LAKE=on")
    check_problem(answer, HTTPStatus.SERVICE_UNAVAILABLE, "Lake not there", *words)


def test_tables_that_hold_nothing_yet_know_no_shelf(silver: Silver, api: Answers) -> None:
    answer = api.get(STOCK)
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert answer.json()["as_of"] == {"inputs": {}}


def test_a_table_that_is_broken_or_that_somebody_else_wrote_to_is_not_believed(
    filled_silver: Silver, folders: Folders, api: Answers
) -> None:
    filled_silver.append(RECEIPTS, [], None)
    answer, words = api.get(STOCK), "somebody else has written to it"
    check_problem(answer, HTTPStatus.SERVICE_UNAVAILABLE, "Lake not there", words)
    for commit in Path(str(folders.silver(RECEIPTS)), "_delta_log").glob("*.json"):
        commit.write_text("{}")
    check_problem(api.get(STOCK), HTTPStatus.SERVICE_UNAVAILABLE, "Lake not there")


def test_an_answer_stays_with_its_first_versions(filled_silver: Silver, folders: Folders) -> None:
    with lake.Lake(folders).open(ADJUSTMENTS) as snapshot:
        filled_silver.put(ADJUSTMENTS, event_time=find_minute(70), event_id="meanwhile")
        snapshot.register("adjustments", snapshot.tables[ADJUSTMENTS].read(["event_id"]))
        [counted] = snapshot.query("select count(*) as events from adjustments")
        assert counted == {"events": 2}
        assert group_by_topic(snapshot.list_ends()) == {ADJUSTMENTS.name: [0, 2]}


def test_few_read_the_lake_at_once(filled_silver: Silver, folders: Folders) -> None:
    reader = lake.Lake(folders)
    refused = pytest.raises(Problem)
    with reader.open(RECEIPTS), reader.open(RECEIPTS), refused as refusal, reader.open(RECEIPTS):
        pass
    assert "at once" in refusal.value.detail
    with reader.open(RECEIPTS) as again:
        assert again.tables


def test_what_takes_too_long_is_given_up(
    filled_silver: Silver, folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lake, "SECONDS_MAX", 0.5)  # what has not begun cannot be interrupted
    with lake.Lake(folders).open(RECEIPTS) as snapshot:
        with pytest.raises(Problem) as refusal:
            snapshot.query(
                "select sum(a.i * b.i) as much from range(100000) a(i), range(100000) b(i)"
            )
        assert "shorter time" in refusal.value.detail
        monkeypatch.undo()
        assert snapshot.query("select 1 as one") == [{"one": 1}]


NO_MOMENTS = (
    *("yesterday", "2026-03-02T10:00:00"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"),
)


@pytest.mark.parametrize("text", NO_MOMENTS)
@pytest.mark.parametrize("path", [STOCK, "/v1/prices/A"])
def test_what_has_no_zone_or_calendar_is_no_moment(quiet: Answers, path: str, text: str) -> None:
    answer = quiet.get(path, at=text)
    check_problem(answer, HTTPStatus.UNPROCESSABLE_ENTITY, "Invalid request", "at: ")


@pytest.fixture
def alerting(tmp_path: Path, log: MemoryLog) -> Iterator[Answers]:
    """An API with one alert about a card whose token has a slash, and with two proofs."""
    fraud = Writing(log, pipeline="fraud", views=(ALERTS,))
    promote(log, fraud)
    proofs = [("R1", find_minute(1)), ("R2", find_minute(2))]
    evidence = [
        {"topic": RECEIPTS.name, "event_id": name, "event_time": moment} for name, moment in proofs
    ]
    fraud.put(ALERTS, subject="tok%2F9%25", evidence=evidence)
    fraud.mark()
    with serving(create_sources(log, tmp_path)) as answers:
        yield answers.ready(pipeline="fraud")


ALERT = "/v1/history/alerts/card-velocity/tok%252F9%2525/2026-03-02T10:00:00Z"


def test_events_behind_an_alert_are_told_with_places(alerting: Answers, silver: Silver) -> None:
    silver.put(RECEIPTS, event_time=find_minute(2), event_id="R2", card_token="tok/9%")
    silver.put(RECEIPTS, event_time=find_minute(1), event_id="R1", card_token="tok/9%")
    silver.put(RECEIPTS, event_time=find_minute(1), event_id="R0")
    silver.put(REFUNDS, event_time=find_minute(1), event_id="R1")
    history = alerting.json(ALERT)
    assert (history["alert"]["subject"], history["alert"]["as_of"]["batch"]) == ("tok%2F9%25", 0)
    told = [(event["event_id"], event["partition"], event["offset"]) for event in history["events"]]
    assert told == [("R1", PARTITION, 1), ("R2", PARTITION, 0)]
    example = json.loads(json.dumps(RECEIPTS.examples[0], default=str))
    moment = "2026-03-02T12:01:00.000Z"
    changes = {"event_id": "R1", "event_time": moment, "card_token": "tok/9%"}
    assert history["events"][0]["event"] == {**example, **changes}
    assert history["events"][0]["published_at"] == moment
    assert history["as_of"] == {"inputs": {RECEIPTS.name: [0, 3]}}


def test_an_event_in_two_partitions_is_told_of_both_and_one_that_is_not_there_yet_is_named(
    alerting: Answers, silver: Silver
) -> None:
    for partition in (PARTITION, 0):
        silver.put(RECEIPTS, event_time=find_minute(1), event_id="R1", _partition=partition)
    *copies, missing = alerting.json(ALERT)["events"]
    told = [(copy["event"]["event_id"], copy["partition"]) for copy in copies]
    assert told == [("R1", 0), ("R1", PARTITION)]
    unknown = dict.fromkeys(("partition", "offset", "published_at", "event"))
    assert missing == {"topic": RECEIPTS.name, "event_id": "R2", **unknown}
    answer = alerting.get(ALERT.replace("card-velocity", "bulk-purchase"))
    check_problem(answer, HTTPStatus.NOT_FOUND, "Unknown row")
