"""The figures, as Prometheus reads them."""

from http import HTTPStatus

import pytest
from prometheus_client.parser import text_string_to_metric_families

from contracts import ADJUSTMENTS, ALERTS, QUARANTINE, RECEIPTS
from tests.services.memory import MemoryLog
from tests.services.serving import SECONDS_MAX, Answers
from tests.services.world import NOON, announce
from tests.services.writing import INPUT_PARTITIONS, Writing, promote

INVENTORY = {"pipeline": "inventory"}
LABELS = {
    *("pipeline", "generation", "state", "topic", "outcome", "reason", "rule"),
    *("operation", "status", "le"),
}
"""None has a value for each shelf, customer, path or event."""


def read_figure(api: Answers, name: str, **labels: str) -> float | None:
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


def test_lag_books_and_age_are_told_each_explained_with_few_labels(shelves: Answers) -> None:
    lag = {**INVENTORY, "topic": RECEIPTS.name}
    shelves.until(lambda: read_figure(shelves, "retail_pipeline_lag_records", **lag) == 1)
    for outcome, records in (("applied", 4), ("quarantined", 1), ("duplicate", 0)):
        books = read_figure(shelves, "retail_pipeline_records_total", **lag, outcome=outcome)
        assert books == records
    assert (read_figure(shelves, "retail_pipeline_marker_age_seconds", **INVENTORY) or 0) > 0
    assert read_figure(shelves, "retail_pipeline_served", **INVENTORY) == 1

    families = list(text_string_to_metric_families(shelves.get("/metrics").text))
    ours = [family for family in families if family.name.startswith("retail_")]
    assert len(ours) > 15
    assert all(family.documentation for family in ours)
    assert {name for family in ours for each in family.samples for name in each.labels} <= LABELS


def test_requests_are_counted_by_operation_and_not_by_path(shelves: Answers) -> None:
    for sku in ("A", "B", "Z"):
        shelves.get(f"/v1/stock/S001/{sku}")
    requests = "retail_http_requests_total"
    for name in (requests, "retail_http_answer_seconds_count"):
        assert read_figure(shelves, name, operation="getShelf", status="200") == 2
        assert read_figure(shelves, name, operation="getShelf", status="404") == 1
    sums = "retail_http_answer_seconds_sum"
    assert (read_figure(shelves, sums, operation="getShelf", status="200") or 0) > 0
    paths = ("/v7/one", "/v7/two", "/v7/three")
    assert {shelves.get(path).status_code for path in paths} == {HTTPStatus.NOT_FOUND}
    assert read_figure(shelves, requests, operation="none", status="404") == 3
    shelves.request("GET", "/v1/stock", content=b"x")  # it is refused before any operation
    assert read_figure(shelves, requests, operation="none", status="413") == 1


def test_a_mistake_of_ours_is_counted(api: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.api.routes.health._classify", None)
    api.request("GET", "/readyz", headers={"Connection": "close"})  # the server closes it
    mistake = {"operation": "getReadiness", "status": "500"}
    assert read_figure(api, "retail_http_requests_total", **mistake) == 1


def test_every_generation_says_its_state_and_what_it_has_not_read(
    log: MemoryLog, inventory: Writing, shelves: Answers
) -> None:
    candidate = Writing(log, generation=2)
    candidate.mark(sold=2)
    promote(log, inventory, candidate)
    second = {**INVENTORY, "generation": "2"}
    state, unread = "retail_pipeline_generation_state", "retail_pipeline_generation_unread_records"
    shelves.until(lambda: read_figure(shelves, unread, **second) == 4)
    assert read_figure(shelves, unread, **INVENTORY, generation="1") == 1
    assert read_figure(shelves, state, **second, state="ready") == 1
    assert read_figure(shelves, state, **second, state="promoted") == 0
    assert read_figure(shelves, state, **INVENTORY, generation="1", state="promoted") == 1


def test_a_pipeline_without_views_is_not_served(log: MemoryLog, shelves: Answers) -> None:
    promote(log, Writing(log, pipeline="fraud", views=(ALERTS,)))
    served = "retail_pipeline_served"
    shelves.until(lambda: read_figure(shelves, served, pipeline="fraud") == 0)
    assert read_figure(shelves, served, **INVENTORY) == 1


def test_batches_say_what_they_took(inventory: Writing, shelves: Answers) -> None:
    labels = {**INVENTORY, "generation": "1"}
    batches, state = "retail_pipeline_batch_seconds", "retail_pipeline_state_bytes"
    # The first marker does not say it.
    assert read_figure(shelves, f"{batches}_count", **labels) == 0
    assert read_figure(shelves, state, **labels) is None
    inventory.mark_again(1, took_ms=400, state_bytes=70_000)
    shelves.ready(1)
    inventory.mark_again(2, took_ms=3_100, state_bytes=80_000)
    shelves.ready(2)
    assert read_figure(shelves, f"{batches}_count", **labels) == 2
    assert read_figure(shelves, f"{batches}_sum", **labels) == 3.5
    for le, count in (("0.25", 0), ("0.5", 1), ("5.0", 2)):
        assert read_figure(shelves, f"{batches}_bucket", **labels, le=le) == count
    assert read_figure(shelves, state, **labels) == 80_000


def test_a_batch_says_how_long_its_oldest_record_waited(
    log: MemoryLog, inventory: Writing, shelves: Answers
) -> None:
    labels = {**INVENTORY, "generation": "1"}
    waits = "retail_pipeline_publish_to_visible_seconds"
    shelves.ready(inventory.mark(sold=1))  # nobody has watched the log when this was published
    assert read_figure(shelves, f"{waits}_count", **labels) == 0
    freshness = "retail_pipeline_freshness_seconds"
    shelves.until(lambda: read_figure(shelves, freshness, **INVENTORY) is not None)
    log.publish((RECEIPTS.name, 0), b"", b"")
    shelves.ready(inventory.mark(sold=1))
    shelves.ready(inventory.mark())  # a batch without a record has none that waited
    assert read_figure(shelves, f"{waits}_count", **labels) == 1
    assert 0 < (read_figure(shelves, f"{waits}_sum", **labels) or 0) < SECONDS_MAX


def test_the_quarantine_is_counted_by_topic_and_reason(log: MemoryLog, api: Answers) -> None:
    for offset, reason in enumerate(("late", "late", "undecodable")):
        log.put(QUARANTINE, {**QUARANTINE.examples[0], "offset": offset, "reason": reason})
    rejected, topic = "retail_quarantine_records_total", QUARANTINE.examples[0]["topic"]
    api.until(lambda: read_figure(api, rejected, topic=topic, reason="undecodable") == 1)
    assert read_figure(api, rejected, topic=topic, reason="late") == 2


def test_the_world_tells_its_time_and_how_fast_it_goes(log: MemoryLog, api: Answers) -> None:
    assert read_figure(api, "retail_world_timestamp_seconds") is None
    announce(log)
    api.until(lambda: read_figure(api, "retail_world_timestamp_seconds") == NOON.timestamp())
    assert read_figure(api, "retail_world_speed_ratio") == 0
    announce(log, state="running")
    api.until(lambda: read_figure(api, "retail_world_speed_ratio") == 10)


def test_alerts_with_more_signals_than_are_read_are_counted(log: MemoryLog, api: Answers) -> None:
    fraud = Writing(log, pipeline="fraud", views=(ALERTS,))
    for subject, left_out in (("A", None), ("B", 0), ("C", 1), ("D", 1_359)):
        fraud.put(ALERTS, rule="refund-rate", subject=subject, signals_left_out=left_out)
    fraud.mark()
    promote(log, fraud)
    api.until(lambda: read_figure(api, "retail_alerts_beyond_bound", rule="refund-rate") == 2)
    assert read_figure(api, "retail_alerts_beyond_bound", rule="bulk-purchase") is None
