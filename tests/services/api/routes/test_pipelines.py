"""GET /v1/pipelines and /v1/views, over a log in memory."""

import csv
import io
import json
from contextlib import ExitStack
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contracts import ADJUSTMENTS, ALERTS, BEST_SELLERS, RECEIPTS, STOCK_LEVELS, STORE_SALES
from contracts.documents import to_document
from services.api.routes.exports import EXPORTS_MAX
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, check_problem
from tests.services.showing import Shop, write_report
from tests.services.world import announce
from tests.services.writing import MORNING, Writing, promote, prune

DIFFERENCE = "/v1/pipelines/fraud/difference"
ROWS = f"/v1/views/{STOCK_LEVELS.name}/export"
EXPORTED = 30_000  # more than the sockets between client and server hold


@pytest.fixture
def running(log: MemoryLog, inventory: Writing, api: Answers) -> Answers:
    """Inputs of 12 receipts and 3 adjustments, of which 10 and 3 are counted."""
    for topic, records in ((RECEIPTS.name, 12), (ADJUSTMENTS.name, 3)):
        log.make(topic, 4)
        for _ in range(records):
            log.publish((topic, 0), b"", b"")
    promote(log, inventory)
    inventory.row(1, "A", 4)
    inventory.book((RECEIPTS.name, 0), applied=7, quarantined=1)
    inventory.book((ADJUSTMENTS.name, 0), applied=3, quarantined=0)
    inventory.mark(sold=10, adjusted=3)
    return api.ready()


def find_sold(standing: Any) -> Any:
    return next(book for book in standing["books"] if book["topic"] == RECEIPTS.name)


def list_applied(standing: Any) -> list[int]:
    return [book["applied"] for book in standing["books"] if book["applied"]]


def test_a_pipeline_says_where_it_stands_and_its_books_balance(running: Answers) -> None:
    answer = running.eventually(
        "/v1/pipelines",
        lambda listed: listed["pipelines"][0]["generations"][0]["left_records"] is not None,
    )
    standing = answer["pipelines"][0]
    assert (standing["pipeline"], standing["freshness_ms"]) == ("inventory", None)
    assert standing["promoted"] == standing["generation"] == 1
    [generation] = standing["generations"]
    assert generation.pop("state_partitions") == 2
    assert generation == {
        "number": 1,
        "state": "promoted",
        "loaded": True,
        "read_records": 13,
        "left_records": 2,
    }
    assert standing["lag_records"] == 2
    assert standing["lag_records_by_input"] == {ADJUSTMENTS.name: 0, RECEIPTS.name: 2}
    assert len(standing["books"]) == 8
    counts = {"read": 10, "applied": 7, "quarantined": 1, "duplicate": 2}
    assert find_sold(standing) == {"topic": RECEIPTS.name, "partition": 0, **counts}


def test_books_count_records_and_neither_gaps_nor_another_generation(
    log: MemoryLog, inventory: Writing, running: Answers
) -> None:
    Writing(log, generation=2).book((RECEIPTS.name, 0), applied=99, quarantined=0)
    inventory.gaps[RECEIPTS.name, 0] = 4
    running.ready(inventory.mark(sold=4))
    standing = running.json("/v1/pipelines")["pipelines"][0]
    assert list_applied(standing) == [3, 7]
    sold = find_sold(standing)
    assert (sold["read"], sold["duplicate"]) == (10, 2)


def test_with_all_counted_it_is_fresh_and_not_behind(inventory: Writing, running: Answers) -> None:
    running.ready(inventory.mark(sold=2))
    shelf = running.eventually("/v1/stock/S001/A", lambda shelf: shelf["freshness_ms"] is not None)
    assert 0 <= shelf["freshness_ms"] < 5_000
    assert "freshness_unknown" not in shelf
    standing = running.json("/v1/pipelines")["pipelines"][0]
    assert standing["lag_records"] == standing["behind_world_seconds"] == 0
    assert standing["rate_per_second"] >= 0


def test_a_pipeline_says_how_far_behind_the_world_it_is(log: MemoryLog, running: Answers) -> None:
    announce(log, MORNING + timedelta(seconds=90))
    running.eventually(
        "/v1/pipelines", lambda answer: answer["pipelines"][0]["behind_world_seconds"] == 90
    )


def test_a_view_names_its_topic_and_is_exported_whole_at_one_marker(
    inventory: Writing, running: Answers
) -> None:
    inventory.rows(2, "BC", 1)
    running.ready(inventory.mark())
    inventory.row(2, "D", 1)  # no marker behind it
    answer = running.get(ROWS)
    head, *rows = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert (head["generation"], head["marker"]["batch"], head["rows"]) == (1, 1, 3)
    assert head["marker"]["inputs"][RECEIPTS.name] == [10, 0, 0, 0]
    shelves = [(row["store_id"], row["sku"]) for row in rows]
    assert shelves == [("S001", "A"), ("S002", "B"), ("S002", "C")]

    view = running.json(f"/v1/views/{STOCK_LEVELS.name}")
    assert (view["pipeline"], view["generation"], view["served"]) == ("inventory", 1, 1)
    assert view["topic"] == f"{STOCK_LEVELS.name}.g1"


def test_an_export_in_every_form_has_the_same_rows(log: MemoryLog, api: Answers) -> None:
    fraud = Writing(log, pipeline="fraud", views=(ALERTS,))
    for store_id in ("S001", "S002"):
        fraud.put(ALERTS, store_id=store_id, subject=f'said "stop", {store_id}')
    promote(log, fraud)
    fraud.mark()
    route = f"/v1/views/{ALERTS.name}/export"
    api.until(lambda: api.get(route).status_code == HTTPStatus.OK)
    head, *rows = [json.loads(line) for line in api.get(route).text.splitlines()]
    assert rows

    parquet = pq.read_table(io.BytesIO(api.get(route, format="parquet").content))
    arrow = pa.ipc.open_stream(api.get(route, format="arrow").content).read_all()
    for table in (parquet, arrow):
        assert table.schema.metadata is not None
        assert json.loads(table.schema.metadata[b"head"]) == head
        assert [to_document(ALERTS, row) for row in table.to_pylist()] == [
            {name: value for name, value in row.items() if value is not None} for row in rows
        ]

    answer = api.get(route, format="csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    for told, row in zip(csv.DictReader(io.StringIO(answer.text)), rows, strict=True):
        assert told == {
            name: json.dumps(value)
            if isinstance(value, list)
            else str("" if value is None else value)
            for name, value in row.items()
        }


def test_exports_are_limited_and_give_places_back(inventory: Writing, running: Answers) -> None:
    for number in range(EXPORTED):
        inventory.row(2, f"SKU-{number:05}", 1)
    running.ready(inventory.mark())
    with ExitStack() as exports:
        for _ in range(EXPORTS_MAX):
            exports.enter_context(running.stream(ROWS))
        refused, words = running.get(ROWS), "at most 2 exports"
        check_problem(refused, HTTPStatus.TOO_MANY_REQUESTS, "Too many exports", words)
    running.until(lambda: running.get(ROWS).status_code == HTTPStatus.OK)


def test_all_views_of_a_pipeline_are_exported_at_one_marker(log: MemoryLog, api: Answers) -> None:
    analytics = Writing(log, pipeline="analytics", views=(STORE_SALES, BEST_SELLERS))
    for sku in "AB":
        analytics.put(BEST_SELLERS, sku=sku)
    analytics.put(STORE_SALES)
    analytics.mark()
    analytics.put(BEST_SELLERS, sku="C")  # no marker behind it
    promote(log, analytics)
    route = "/v1/pipelines/analytics/export"
    api.until(lambda: api.get(route).status_code == HTTPStatus.OK)
    head, *rows = [json.loads(line) for line in api.get(route).text.splitlines()]
    assert (head["pipeline"], head["marker"]["batch"]) == ("analytics", 0)
    assert [(each["view"], each["rows"]) for each in head["views"]] == [
        (BEST_SELLERS.name, 2),
        (STORE_SALES.name, 1),
    ]
    assert head["views"][0]["oldest_kept"] == "2026-02-28T10:10:00.000Z"
    assert [row.get("sku") for row in rows] == ["A", "B", None]


def test_a_pipeline_that_is_not_there_has_nothing_to_export(
    log: MemoryLog, inventory: Writing, api: Answers
) -> None:
    assert api.get("/v1/pipelines/fraud/export").status_code == HTTPStatus.NOT_FOUND
    promote(log, inventory)
    api.eventually("/v1/pipelines", lambda answer: bool(answer["pipelines"]))
    refused = api.get("/v1/pipelines/inventory/export")
    assert refused.status_code == HTTPStatus.SERVICE_UNAVAILABLE


def test_every_pipeline_has_its_own_lag_books_and_freshness(
    log: MemoryLog, inventory: Writing, running: Answers
) -> None:
    fraud = Writing(log, pipeline="fraud", views=(ALERTS,))
    fraud.book((RECEIPTS.name, 0), applied=12, quarantined=0)
    fraud.mark(sold=12, adjusted=3)
    promote(log, fraud)
    running.ready(0, "fraud")
    running.eventually("/v1/pipelines/fraud", lambda answer: answer["freshness_ms"] is not None)
    answer = {each["pipeline"]: each for each in running.json("/v1/pipelines")["pipelines"]}
    assert answer["fraud"]["views"] == [ALERTS.name]
    counted = {name: (each["lag_records"], list_applied(each)) for name, each in answer.items()}
    assert counted == {"fraud": (0, [12]), "inventory": (2, [3, 7])}
    assert answer["inventory"]["freshness_ms"] is None
    assert running.json("/v1/pipelines/inventory")["lag_records"] == 2
    assert running.get("/v1/pipelines/reorder").status_code == HTTPStatus.NOT_FOUND


def test_a_pipeline_that_is_no_more_is_not_told_of(log: MemoryLog, running: Answers) -> None:
    fraud = Writing(log, pipeline="fraud", views=(ALERTS,))
    fraud.mark()
    promote(log, fraud)
    running.ready(0, "fraud")
    prune(log, "fraud")
    running.until(lambda: running.get("/v1/pipelines/fraud").status_code == HTTPStatus.NOT_FOUND)
    assert running.get("/v1/alerts").status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert running.json("/readyz") == {"status": "ready"}


def test_nobody_has_compared_before_a_report(log: MemoryLog, api: Answers, tmp_path: Path) -> None:
    Shop(log)
    api.ready(pipeline="fraud")
    first = api.json(DIFFERENCE)
    assert (first["before"], first["after"], first["difference"]) == (2, 3, None)
    write_report(tmp_path)
    difference = api.json(DIFFERENCE)
    [view] = difference["difference"]["views"]
    assert (view["added"], view["removed"], view["changed"]) == (2, 0, 0)
    assert difference["computed_at"].endswith("Z")
    api.ready(pipeline="inventory")  # which has one generation: nothing to compare
    only = api.json("/v1/pipelines/inventory/difference")
    assert (only["before"], only["after"], only["difference"]) == (None, 1, None)
    assert api.get("/v1/pipelines/nothing/difference").status_code == HTTPStatus.NOT_FOUND
