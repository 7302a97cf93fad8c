"""Alive at once; ready when every promoted view is loaded."""

import sqlite3
from contextlib import closing
from functools import partial
from http import HTTPStatus
from pathlib import Path

import pytest

from contracts import BEST_SELLERS, PURCHASE_ORDERS, STORE_SALES
from tests.services.memory import MemoryLog
from tests.services.serving import Answers, check_problem
from tests.services.writing import Writing, invalidate, promote


def test_without_a_promoted_generation_it_is_healthy_and_not_ready(api: Answers) -> None:
    assert api.json("/healthz") == {"status": "ok"}
    check_problem(api.get("/readyz"), HTTPStatus.SERVICE_UNAVAILABLE, "Not ready")
    shelf = api.get("/v1/stock/S001/A")
    assert shelf.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert shelf.headers["retry-after"] == "1"


def test_while_a_view_is_loaded_readiness_says_how_far_it_is(
    log: MemoryLog, inventory: Writing, api: Answers
) -> None:
    promote(log, inventory)
    inventory.rows(1, "ABC", 4)
    outputs = log.ends([inventory.topic]) | {(inventory.topic, 1): 9}
    inventory.mark_again(0, outputs)  # nine rows are promised, three are there

    progress = "inventory g1: 3 of 9 records read"
    api.until(lambda: progress in api.get("/readyz").json()["detail"])
    assert api.get("/readyz").status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert "3 of 9 records read" in api.get("/v1/stock").json()["detail"]


def create_analytics(log: MemoryLog) -> Writing:
    return Writing(log, pipeline="analytics", views=(STORE_SALES, BEST_SELLERS))


def test_a_pipeline_without_a_marker_takes_no_other_down(
    log: MemoryLog, empty: Writing, api: Answers
) -> None:
    promote(log, create_analytics(log))
    ready = api.eventually("/readyz", lambda answer: "missing" in answer)
    assert ready == {"status": "ready", "missing": ["analytics g1: no marker read yet"]}
    refused = api.get(f"/v1/views/{STORE_SALES.name}/rows")
    assert refused.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert api.json("/v1/stock")["items"] == []


def test_a_pipeline_whose_topics_are_not_there_takes_no_other_down(
    log: MemoryLog, empty: Writing, api: Answers
) -> None:
    lost = create_analytics(log)
    promote(log, lost)
    del log.ids[lost.topic]
    ready = api.eventually("/readyz", lambda answer: "missing" in answer)
    assert lost.topic in ready["missing"][0]


def test_an_invalid_generation_takes_its_own_views_away_with_the_reason(
    log: MemoryLog, empty: Writing, api: Answers
) -> None:
    sales = create_analytics(log)
    promote(log, sales)
    sales.put(STORE_SALES)
    sales.mark()
    rows = f"/v1/views/{STORE_SALES.name}/rows"
    api.eventually(rows, lambda answer: len(answer["items"]) == 1)
    invalidate(log, sales, "3 rows were dropped by the watermark")
    api.until(lambda: api.get(rows).status_code == HTTPStatus.SERVICE_UNAVAILABLE)
    refused = api.get(rows).json()
    assert refused["title"] == "View withdrawn"
    assert "analytics g1 invalid (3 rows were dropped by the watermark)" in refused["detail"]
    assert api.ready().json("/readyz")["missing"] == [
        "analytics: no promoted generation that may be trusted"
    ]
    assert api.json("/v1/stock")["items"] == []


def test_a_part_that_fails_is_named_with_its_error_and_answers_from_what_it_has(
    log: MemoryLog, shelves: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0.05))
    shelves.until(lambda: shelves.get("/v1/orders").status_code == HTTPStatus.OK)
    order = PURCHASE_ORDERS.examples[0]
    with closing(sqlite3.connect(tmp_path / "orders.sqlite", isolation_level=None)) as other:
        other.execute("begin immediate")
        log.put(PURCHASE_ORDERS, order)
        failing = [f"{PURCHASE_ORDERS.name}: database is locked"]
        shelves.until(lambda: shelves.json("/readyz").get("failing") == failing)
        assert shelves.json("/v1/orders")["items"] == []
    shelves.until(lambda: len(shelves.json("/v1/orders")["items"]) == 1)
    shelves.until(lambda: shelves.json("/readyz") == {"status": "ready"})


def test_a_copy_that_cannot_be_opened_now_is_asked_for_again(
    shelves: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> sqlite3.Connection:
        raise sqlite3.OperationalError("unable to open database file")

    shelves.until(lambda: shelves.get("/v1/orders").status_code == HTTPStatus.OK)
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", refuse)
        answer = shelves.get("/v1/orders")
    check_problem(answer, HTTPStatus.SERVICE_UNAVAILABLE, "Copy not readable now")
    assert shelves.json("/v1/orders")["items"] == []
