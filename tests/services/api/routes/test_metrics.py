"""The figures, as Prometheus reads them."""

from http import HTTPStatus

import pytest
from prometheus_client.parser import text_string_to_metric_families

from contracts import ADJUSTMENTS, ALERTS, RECEIPTS
from tests.services.memory import MemoryLog
from tests.services.serving import Answers
from tests.services.writing import INPUT_PARTITIONS, Writing, promote

INVENTORY = {"pipeline": "inventory"}


def figure(api: Answers, name: str, **labels: str) -> float | None:
    """The sample's value; None where there is no such sample."""
    answer = api.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            if sample.name == name and sample.labels == labels:
                return sample.value
    return None


@pytest.fixture
def shelves(log: MemoryLog, inventory: Writing, api: Answers) -> Answers:
    """Six receipts in the log, five of them read: four applied, one quarantined."""
    for topic in (ADJUSTMENTS.name, RECEIPTS.name):
        log.make(topic, INPUT_PARTITIONS)
    for _ in range(6):
        log.publish((RECEIPTS.name, 0), b"", b"")
    inventory.row(1, "A", 4)
    inventory.row(1, "B", 2)
    inventory.book((RECEIPTS.name, 0), applied=4, quarantined=1)
    inventory.mark(sold=5)
    promote(log, inventory)
    return api.ready()


def test_lag_books_and_age_of_a_pipeline_are_told(shelves: Answers) -> None:
    lag = {**INVENTORY, "topic": RECEIPTS.name}
    shelves.until(lambda: figure(shelves, "retail_pipeline_lag_records", **lag) == 1)
    books = "retail_pipeline_records_total"
    assert figure(shelves, books, **lag, outcome="applied") == 4
    assert figure(shelves, books, **lag, outcome="quarantined") == 1
    assert figure(shelves, books, **lag, outcome="duplicate") == 0
    assert figure(shelves, "retail_pipeline_generation", **INVENTORY) == 1
    age = figure(shelves, "retail_pipeline_marker_age_seconds", **INVENTORY)
    assert age is not None
    assert age > 0


def test_an_answer_that_holds_the_whole_log_is_fresh(
    log: MemoryLog, inventory: Writing, shelves: Answers
) -> None:
    freshness = "retail_pipeline_freshness_seconds"
    assert figure(shelves, freshness, **INVENTORY) is None  # the log is ahead of it
    shelves.ready(inventory.mark(sold=1))
    shelves.until(lambda: figure(shelves, freshness, **INVENTORY) is not None)
    assert figure(shelves, "retail_pipeline_behind_world_seconds", **INVENTORY) == 0


def test_commits_and_rows_of_a_materializer_are_counted(
    inventory: Writing, shelves: Answers
) -> None:
    at = {**INVENTORY, "generation": "1"}
    before = figure(shelves, "retail_materializer_rows_total", **at)
    assert before == 3  # two shelves and a book
    assert figure(shelves, "retail_materializer_commits_total", **at) == 1
    inventory.row(1, "A", 3, version=2)
    shelves.ready(inventory.mark())
    assert figure(shelves, "retail_materializer_rows_total", **at) == 4
    assert figure(shelves, "retail_materializer_commits_total", **at) == 2


def test_requests_are_counted_by_operation_and_not_by_path(shelves: Answers) -> None:
    for sku in ("A", "B", "Z"):
        shelves.get(f"/v1/stock/S001/{sku}")
    requests = "retail_http_requests_total"
    assert figure(shelves, requests, operation="getShelf", status="200") == 2
    assert figure(shelves, requests, operation="getShelf", status="404") == 1
    assert figure(shelves, "retail_http_answer_seconds_count", operation="getShelf") == 3
    paths = ("/v7/one", "/v7/two", "/v7/three")
    assert {shelves.get(path).status_code for path in paths} == {HTTPStatus.NOT_FOUND}
    assert figure(shelves, requests, operation="none", status="404") == 3


def test_a_mistake_of_ours_is_counted(api: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.api.routes.health._classify", None)
    api.request("GET", "/readyz", headers={"Connection": "close"})  # the server closes it
    assert figure(api, "retail_http_requests_total", operation="getReadiness", status="500") == 1


def test_a_refused_request_is_counted_without_an_operation(api: Answers) -> None:
    api.request("GET", "/v1/stock", content=b"x")
    assert figure(api, "retail_http_requests_total", operation="none", status="413") == 1


def test_without_a_pipeline_there_are_figures_of_the_process_alone(api: Answers) -> None:
    assert figure(api, "process_resident_memory_bytes") is not None
    assert "retail_pipeline_lag_records{" not in api.get("/metrics").text


def test_alerts_with_more_clues_than_the_rule_looks_at_are_counted(
    log: MemoryLog, api: Answers
) -> None:
    fraud = Writing(log, pipeline="fraud", views=(ALERTS,))
    for subject, left_out in (("A", None), ("B", 0), ("C", 1), ("D", 1_359)):
        fraud.put(ALERTS, rule="refund-rate", subject=subject, signals_left_out=left_out)
    fraud.mark()
    promote(log, fraud)
    api.until(lambda: figure(api, "retail_alerts_beyond_bound", rule="refund-rate") == 2)
    assert figure(api, "retail_alerts_beyond_bound", rule="bulk-purchase") is None
